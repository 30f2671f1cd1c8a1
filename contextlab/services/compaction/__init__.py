"""Compaction as durable work: looked at before, asked for once, done in a run, gone back on.

    request = read_request({"policy": "rule-based", "before_step": 12, "pins": ["u-7"]})   raises BadRequest
    preview(session, request)                 -> Preview: the cut and its figures; asks no model, writes nothing
    request_compaction(session, request, key) -> (Run, new): pressing twice gives one run; raises BadRequest
    perform(work)                             the run; ends done, noop, conflict, failed or cancelled
    restore(branch, version)                  -> MemoryVersion: an earlier memory again, as a new version
    promote(branch)                           its memory is the session's one to go on with
    memory_of(session, branch)                -> HeldMemory: items, summary, where it is from
    export_memory(held, format)               -> Exported(text or document, repairs)
    model_status()                            -> ModelStatus: what is set, never its value
    try_model()                               asks for one word; raises ModelError

A compaction of the log makes a branch: a view that shares all before its step with the view that it left, and ends in
one memory. Compacting a branch again adds a version to its memory. `queries.compaction` reads what pages show.
"""

from contextlab.services.compaction.requests import BadRequest, CompactRequest, read_request
from contextlab.services.compaction.values import Preview, PreviewItem

__all__ = ["BadRequest", "CompactRequest", "Preview", "PreviewItem", "read_request"]
