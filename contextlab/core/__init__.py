"""The engine: items, memory, projection, replay. Pure Python: no clock, no ids, no files, no framework.

from contextlab.core import Budget, Item, Kind, project
seen = project([Item("1", Kind.USER, "hello")], Budget(max_items=10))
"""

from contextlab.core.budget import Budget
from contextlab.core.errors import ContextLabError, PolicyError, RegistryError, UnknownNameError
from contextlab.core.items import KINDS, Injected, Item, Kind, Media, Reason, Verdict
from contextlab.core.policy import BUILTINS, Policy, builtin, parse_policy, policy_hash
from contextlab.core.projection import Fate, Placeholder, Projection, Projector, Source, project
from contextlab.core.protocol import FORMATS, Export, ExportItem, export, faults_of
from contextlab.core.recorded import RecordedReplayer, replay_recorded
from contextlab.core.replay import Replay, Replayer, StepResult, replay
from contextlab.core.report import Report
from contextlab.core.spans import Span, SpanWriter, verdicts_at
from contextlab.core.timeline import Assembler, Timeline
from contextlab.core.window import Limit, limit_of, steps_left

__all__ = [
    "BUILTINS",
    "FORMATS",
    "KINDS",
    "Assembler",
    "Budget",
    "ContextLabError",
    "Export",
    "ExportItem",
    "Fate",
    "Injected",
    "Item",
    "Kind",
    "Limit",
    "Media",
    "Placeholder",
    "Policy",
    "PolicyError",
    "Projection",
    "Projector",
    "Reason",
    "RecordedReplayer",
    "RegistryError",
    "Replay",
    "Replayer",
    "Report",
    "Source",
    "Span",
    "SpanWriter",
    "StepResult",
    "Timeline",
    "UnknownNameError",
    "Verdict",
    "builtin",
    "export",
    "faults_of",
    "limit_of",
    "parse_policy",
    "policy_hash",
    "project",
    "replay",
    "replay_recorded",
    "steps_left",
    "verdicts_at",
]
