"""One compaction of a memory that is held elsewhere: what would be committed, with why it might not be.

The rules are those of AgentSession (gain, protocol, the open prompt): the memory is given to one, which is thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from contextlab.core.agent.live import Compaction, export_items
from contextlab.core.compaction import CompactResult, Deps, Line, Sections, Snapshot
from contextlab.core.errors import CompactError
from contextlab.core.measuring.memory_size import without_ui
from contextlab.core.memory import AgentMemory
from contextlab.core.offload import PlannedOffloadStore
from contextlab.core.policy import Policy
from contextlab.core.projection import project
from contextlab.core.protocol import export, faults_of
from contextlab.core.sections import HEADINGS
from contextlab.core.session import AgentSession
from contextlab.core.wire.conversation import ExportItem

FORMATS = ("openai_chat", "openai_responses", "anthropic")


def compacted(policy: Policy, snapshot: Snapshot, deps: Deps) -> Compaction:
    """Compact a memory now; raises CompactError. Pins of `deps` are pins of the memory as well."""
    if policy.compaction is None:
        raise CompactError(f"the policy {policy.name!r} replaces no memory")
    memory = AgentMemory(mode=policy.mode)
    memory.restore(snapshot)
    deps = replace(deps, offloads=PlannedOffloadStore(deps.offloads))
    session = AgentSession(
        policy=policy.compaction, deps=deps, memory=memory, mode=policy.mode, require_gain=policy.require_gain
    )
    return session.run(policy.compaction, force=True)


def exported(snapshot: Snapshot) -> list[ExportItem]:
    """A memory as what an export takes: the summary in its place, every item kept."""
    memory = AgentMemory()
    memory.restore(snapshot)
    items = without_ui(memory.prompt_items())
    return export_items(items, project(items, None))


def memory_faults(snapshot: Snapshot) -> list[str]:
    """What a provider would refuse about a memory even after repair; [] = nothing."""
    items = exported(snapshot)
    return [f"{name}: {fault}" for name in FORMATS for fault in faults_of(export(items, name).document, name)]


def result_answer(result: CompactResult) -> dict[str, object]:
    """A result under the names of the command line's contract: an entry is a text, or an object with its items."""
    lists = {
        name: [{"text": line.text, "items": list(line.items)} if line.items else line.text for line in lines]
        for name, lines in ((name, getattr(result.sections, name)) for name in HEADINGS)
    }
    return {
        "goal": result.sections.goal,
        **lists,
        "read_files": list(result.read_files),
        "modified_files": list(result.modified_files),
        "summary": result.summary,
    }


def read_result_answer(answer: Mapping[str, Any], method: str) -> CompactResult:
    """The result that `result_answer` wrote, as far as it goes: the next compaction carries it on."""
    sections = Sections(goal=answer.get("goal"))
    for name in HEADINGS:
        getattr(sections, name).extend(_line(one) for one in answer.get(name) or ())
    read, modified = list(answer.get("read_files") or ()), list(answer.get("modified_files") or ())
    return CompactResult(sections, str(answer.get("summary") or ""), read, modified, method=method)


def _line(entry: Any) -> Line:
    if isinstance(entry, Mapping):
        return Line(str(entry.get("text")), tuple(entry.get("items") or ()))
    return Line(str(entry))
