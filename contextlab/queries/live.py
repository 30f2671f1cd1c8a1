"""How a live session stands: which memory its agent's next step gets, and what was decided last."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from contextlab.queries.decisions import StepDecision, decision_at
from contextlab.store.models import FINISHED, CompactionJob, LiveVersion, Session, View
from contextlab.store.models.policies import PolicyDecisions


@dataclass(frozen=True, slots=True)
class LiveState:
    """A live session at this moment."""

    view: str
    policy: str
    compacts: bool
    """Its policy compacts by itself."""
    asks_model: bool
    """And needs a model for that."""
    allow_model: bool
    version: int
    tokens: int | None
    """Of the memory as that version was made."""
    behind: int
    """Items of the log that came since."""
    since_step: int
    """The first step that has it; beyond the last one: the agent has not asked since it was made."""
    under_way: UUID | None
    """Run of a compaction that has not ended."""
    decision: StepDecision | None
    """The last one."""
    steps: int
    items: int


def live_name(session: Session) -> str | None:
    """Name of the view that a session's agent lives in; None for one that was imported."""
    return session.views.filter(kind=View.Kind.LIVE).values_list("name", flat=True).first()


def live_state(session: Session) -> LiveState | None:
    """None for a session that was imported."""
    view = session.views.filter(kind=View.Kind.LIVE).select_related("live").first()
    if view is None:
        return None
    newest = newest_version(view)
    document = view.policy or {}
    kind = (document.get("compaction") or {}).get("kind", "none")
    return LiveState(
        view.name, str(document.get("name", "")), kind != "none", _asks_model(document), view.live.allow_model,
        newest.memory.version if newest else 1, newest.memory.tokens if newest else None,
        session.items - (newest.upto if newest else 0), newest.step if newest else 1, _under_way(view),
        _last_decision(view), session.steps, session.items,
    )  # fmt: skip


def newest_version(view: View) -> LiveVersion | None:
    """The version of a live memory that is in force, with its memory; None before the first."""
    rows = LiveVersion.objects.filter(memory__view=view).select_related("memory")
    return rows.order_by("-memory__version").first()


def _asks_model(document: dict[str, object]) -> bool:
    from contextlab.core.errors import PolicyError
    from contextlab.core.policy import parse_policy

    try:
        return parse_policy(document).needs_model
    except PolicyError:
        return False


def _under_way(view: View) -> UUID | None:
    jobs = CompactionJob.objects.filter(base_view=view).exclude(run__state__in=FINISHED)
    return jobs.order_by("-id").values_list("run__uid", flat=True).first()


def _last_decision(view: View) -> StepDecision | None:
    rows = PolicyDecisions.objects.filter(view=view).order_by("-first_step")
    last = rows.values_list("last_step", flat=True).first()
    return None if last is None else decision_at(view.pk, last)
