"""Compaction as durable work: looked at before, asked for once, done in a run, gone back on.

    request = read_request({"policy": "rule-based", "before_step": 12, "pins": ["u-7"]})   raises BadRequest
    preview(session, request)                 -> Preview: the cut and its figures; asks no model, writes nothing
    request_compaction(session, request, key) -> (Run, new): pressing twice gives one run; raises BadRequest
    perform(work)                             the run; ends done, noop, conflict, failed or cancelled
    restore(branch, version)                  -> (MemoryVersion, new): an earlier memory again; not new: it is in force
    promote(branch)                           its memory is the session's one to go on with
    beside(job, request)                      -> (Run, new): the same memory again in another way, as a second branch
    memory_found(session, number)             -> Held: what a compaction of the log found; memory_left: what it left
    restore_found(session, number)            -> View: a branch with what a compaction of the log found
    memory_of(session, name, version)         -> Held: items, summary, where it is from
    size_of(held)                             -> its tokens, and their source
    export_memory(held, format)               -> Exported: document, text, repairs
    model_status()                            -> ModelStatus: what is set, never its value
    try_model()                               asks for one word; raises ModelError

A compaction of the log makes a branch: a view that shares all before its step with the view that it left, and ends in
one memory. Compacting a branch again adds a version to its memory. `queries.compaction` reads what pages show.
"""

from contextlab.services.compaction.asking import KeyTaken, beside, request_compaction, running
from contextlab.services.compaction.found import memory_found, memory_left, restore_found
from contextlab.services.compaction.given import size_of
from contextlab.services.compaction.held import Held
from contextlab.services.compaction.models import ModelStatus, model_status, try_model
from contextlab.services.compaction.originals import OriginalsOf
from contextlab.services.compaction.performing import perform
from contextlab.services.compaction.planning import preview
from contextlab.services.compaction.requests import BadRequest, CompactRequest, read_request
from contextlab.services.compaction.values import Estimate, Preview, PreviewItem
from contextlab.services.compaction.versions import (
    FORMATS,
    Exported,
    compact_line,
    export_memory,
    memory_of,
    offloads_in,
    promote,
    refuse_unknown_pins,
    restore,
    resume_line,
    wishes_of,
)

__all__ = [
    "FORMATS",
    "BadRequest",
    "CompactRequest",
    "Estimate",
    "Exported",
    "Held",
    "KeyTaken",
    "ModelStatus",
    "OriginalsOf",
    "Preview",
    "PreviewItem",
    "beside",
    "compact_line",
    "export_memory",
    "memory_found",
    "memory_left",
    "memory_of",
    "model_status",
    "offloads_in",
    "perform",
    "preview",
    "promote",
    "read_request",
    "refuse_unknown_pins",
    "request_compaction",
    "restore",
    "restore_found",
    "resume_line",
    "running",
    "size_of",
    "try_model",
    "wishes_of",
]
