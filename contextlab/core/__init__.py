"""The engine: items, memory, projection, replay. Pure Python: no clock, no ids, no files, no framework.

from contextlab.core import Budget, Item, Kind, project
seen = project([Item("1", Kind.USER, "hello")], Budget(max_items=10))

A live agent holds an AgentSession: it keeps memory, compacts it when due and gives the messages of each step.
"""

from contextlab.core.agent.live import Compaction, Context
from contextlab.core.agent.rag import Chunk, RagContext, assemble_chunks, remaining_tokens
from contextlab.core.agent.session_events import EventKind, SessionEvent
from contextlab.core.budget import Budget
from contextlab.core.codec import dump_snapshot, load_snapshot
from contextlab.core.compaction import CompactResult, Decision, Deps, Line, Outcome, Sections, Snapshot
from contextlab.core.errors import (
    CompactError,
    ConcurrentCompression,
    ContextLabError,
    EmptySummary,
    InvalidProjection,
    PolicyError,
    RegistryError,
    SessionBusy,
    StaleHistory,
    UnknownNameError,
)
from contextlab.core.items import KINDS, Injected, Item, Kind, LiveItem, Media, Reason, Verdict
from contextlab.core.language_model import LanguageModel, ModelError, ModelMessage, ModelReply, ModelUsage
from contextlab.core.measuring.window import Limit, limit_of, steps_left
from contextlab.core.memory import AgentMemory, PolicyMemoryCompressor, WindowedMemoryCompressor
from contextlab.core.offload import InMemoryOffloadStore, Offload, OffloadStore
from contextlab.core.policy import BUILTINS, Policy, builtin, parse_policy, policy_hash
from contextlab.core.projection import Fate, Placeholder, Projection, Projector, Source, project
from contextlab.core.protocol import FORMATS, Export, ExportItem, export, faults_of
from contextlab.core.recorded import RecordedReplayer, replay_recorded
from contextlab.core.replay import Replay, Replayer, StepResult, replay
from contextlab.core.report import Report
from contextlab.core.session import AgentSession
from contextlab.core.spans import Span, SpanWriter, verdicts_at
from contextlab.core.timeline import Assembler, Timeline

__all__ = [
    "BUILTINS",
    "FORMATS",
    "KINDS",
    "AgentMemory",
    "AgentSession",
    "Assembler",
    "Budget",
    "Chunk",
    "CompactError",
    "CompactResult",
    "Compaction",
    "ConcurrentCompression",
    "Context",
    "ContextLabError",
    "Decision",
    "Deps",
    "EmptySummary",
    "EventKind",
    "Export",
    "ExportItem",
    "Fate",
    "InMemoryOffloadStore",
    "Injected",
    "InvalidProjection",
    "Item",
    "Kind",
    "LanguageModel",
    "Limit",
    "Line",
    "LiveItem",
    "Media",
    "ModelError",
    "ModelMessage",
    "ModelReply",
    "ModelUsage",
    "Offload",
    "OffloadStore",
    "Outcome",
    "Placeholder",
    "Policy",
    "PolicyError",
    "PolicyMemoryCompressor",
    "Projection",
    "Projector",
    "RagContext",
    "Reason",
    "RecordedReplayer",
    "RegistryError",
    "Replay",
    "Replayer",
    "Report",
    "Sections",
    "SessionBusy",
    "SessionEvent",
    "Snapshot",
    "Source",
    "Span",
    "SpanWriter",
    "StaleHistory",
    "StepResult",
    "Timeline",
    "UnknownNameError",
    "Verdict",
    "WindowedMemoryCompressor",
    "assemble_chunks",
    "builtin",
    "dump_snapshot",
    "export",
    "faults_of",
    "limit_of",
    "load_snapshot",
    "parse_policy",
    "policy_hash",
    "project",
    "remaining_tokens",
    "replay",
    "replay_recorded",
    "steps_left",
    "verdicts_at",
]
