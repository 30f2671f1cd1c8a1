"""The agent's plan: told to the summarising model at the end of every request, while plan tools are kept out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from contextlab.core.auto_context.messages import Message
from contextlab.core.items import Kind

PLAN_TOOLS = frozenset(
    {
        "create_plan",
        "update_plan_info",
        "revise_current_plan",
        "update_subtask_state",
        "finish_subtask",
        "view_subtasks",
        "get_subtask_count",
        "finish_plan",
        "view_historical_plans",
        "recover_historical_plan",
    }
)
"""Tools that only move the plan: what they say is in the hint already."""
WRAPPER = "plan_aware_hint"
DONE, IN_PROGRESS = "done", "in_progress"


@dataclass(slots=True, frozen=True)
class Plan:
    """What an agent wants to reach; `subtasks` are names with their states (todo, in_progress, done, abandoned)."""

    goal: str = ""
    expected_outcome: str = ""
    subtasks: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, given: object) -> Plan | None:
        """A plan as it is, or from an object with goal (or description), expected_outcome and subtasks."""
        if given is None or isinstance(given, Plan):
            return given
        if not isinstance(given, Mapping):
            raise TypeError(f"a plan is a Plan or an object with its fields, not {type(given).__name__}")
        subtasks = tuple(_subtask(one) for one in given.get("subtasks") or ())
        goal = given.get("goal") or given.get("description") or ""
        return cls(str(goal), str(given.get("expected_outcome") or ""), subtasks)


def plan_hint(given: object) -> str | None:
    """The hint about a plan, for the end of a request; None without a plan."""
    plan = Plan.of(given)
    if plan is None:
        return None
    running = [name for name, state in plan.subtasks if state == IN_PROGRESS]
    done = sum(state == DONE for _, state in plan.subtasks)
    lines = [f"<{WRAPPER}>", "Keep first what the plan below still needs."]
    lines += [f"Goal: {plan.goal}"] if plan.goal else []
    lines += [f"Current Progress: {', '.join(running)}"] if running else []
    lines += [f"Progress: {done}/{len(plan.subtasks)} subtasks completed"] if plan.subtasks else []
    lines += [f"Expected Outcome: {plan.expected_outcome}"] if plan.expected_outcome else []
    return "\n".join([*lines, f"</{WRAPPER}>"])


def without_plan_tools(messages: Sequence[Message]) -> list[Message]:
    """Messages without plan tools: one that only calls them is out, of others their calls; so are their results."""
    left = []
    for message in messages:
        calls = [tool for item, tool in _parts(message) if item == Kind.TOOL_CALL]
        if calls and PLAN_TOOLS.issuperset(calls):
            continue
        keep = [
            index
            for index, (kind, tool) in enumerate(_parts(message))
            if not (tool in PLAN_TOOLS and kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT))
        ]
        if len(keep) == len(message.items):
            left.append(message)
        elif keep:
            items = tuple(message.items[index] for index in keep)
            left.append(replace(message, items=items, tools=tuple(message.tools[index] for index in keep)))
    return left


def _parts(message: Message) -> list[tuple[Kind, str]]:
    return [(item.kind, tool) for item, tool in zip(message.items, message.tools, strict=True)]


def _subtask(given: object) -> tuple[str, str]:
    if isinstance(given, Mapping):
        name, state = given.get("name"), given.get("state")
    elif isinstance(given, Sequence) and not isinstance(given, str):
        name, state = (*given, None, None)[:2]
    else:
        name, state = given, None
    return str(name or ""), str(state or "todo").lower()
