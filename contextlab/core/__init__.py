"""The engine: items, memory, projection, replay. Pure Python: no clock, no ids, no files, no framework.

from contextlab.core import Budget, Item, Kind, project
seen = project([Item("1", Kind.USER, "hello")], Budget(max_items=10))

A live agent holds an AgentSession: it keeps memory, compacts it when due and gives the messages of each step.

Names are loaded when they are first asked for: whoever needs one module of the core does not pay for all of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlab.core.agent.live import Compaction, Context
    from contextlab.core.agent.rag import Chunk, RagContext, assemble_chunks, remaining_tokens
    from contextlab.core.agent.session_events import EventKind, SessionEvent
    from contextlab.core.assembler import Assembler
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
    from contextlab.core.replayer import Replayer, replay
    from contextlab.core.replaying.results import Replay, StepResult
    from contextlab.core.report import Report
    from contextlab.core.session import AgentSession
    from contextlab.core.spans import Span, SpanWriter, verdicts_at
    from contextlab.core.timeline import Timeline

_HOMES = {
    "assembler": "Assembler",
    "agent.live": "Compaction Context",
    "agent.rag": "Chunk RagContext assemble_chunks remaining_tokens",
    "agent.session_events": "EventKind SessionEvent",
    "budget": "Budget",
    "codec": "dump_snapshot load_snapshot",
    "compaction": "CompactResult Decision Deps Line Outcome Sections Snapshot",
    "errors": (
        "CompactError ConcurrentCompression ContextLabError EmptySummary InvalidProjection PolicyError "
        "RegistryError SessionBusy StaleHistory UnknownNameError"
    ),
    "items": "KINDS Injected Item Kind LiveItem Media Reason Verdict",
    "language_model": "LanguageModel ModelError ModelMessage ModelReply ModelUsage",
    "measuring.window": "Limit limit_of steps_left",
    "memory": "AgentMemory PolicyMemoryCompressor WindowedMemoryCompressor",
    "offload": "InMemoryOffloadStore Offload OffloadStore",
    "policy": "BUILTINS Policy builtin parse_policy policy_hash",
    "projection": "Fate Placeholder Projection Projector Source project",
    "protocol": "FORMATS Export ExportItem export faults_of",
    "recorded": "RecordedReplayer replay_recorded",
    "replayer": "Replayer replay",
    "replaying.results": "Replay StepResult",
    "report": "Report",
    "session": "AgentSession",
    "spans": "Span SpanWriter verdicts_at",
    "timeline": "Timeline",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

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


def __getattr__(name: str) -> Any:
    """Load the module that holds a public name; from then on the name is an attribute like any other."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
