"""What a model has written already for the places where policies would ask one: compactions that a person asked for.

| a compaction counts for the view of a policy       | because                                                      |
|-----------------------------------------------------|--------------------------------------------------------------|
| of the same policy, session revision and step       | another text, log or place is another question                |
| made on the recorded view, whose log had compacted  | only then it read the policy's memory: a policy view ignores  |
| nothing before                                      | what the log compacted                                       |
| while its memory is the one in force on its branch  | what a person put in its place is that person's               |

Of several the newest.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from contextlab.core.replaying.continued import Beginning
from contextlab.services.continuing import beginning_at
from contextlab.store.models import CompactionRecord, MemoryVersion, View


class StoredResults:
    """Looks for a stored result before a step, when a replay asks; see core.replaying.resumed.Stored."""

    def __init__(self, view: View) -> None:
        """Of the policy of a view, on its session."""
        self._view = view

    def __call__(self, step: int) -> Beginning | None:
        """The memory that it made; None where there is none."""
        found = self._memories(step).select_related("view").order_by("-id").first()
        if found is None or found.view.base_step is None or self._compacted_before(step):
            return None
        return beginning_at(found.view, step)

    def _memories(self, step: int) -> QuerySet[MemoryVersion]:
        session = self._view.session
        later = MemoryVersion.objects.filter(view=OuterRef("view"), version__gt=OuterRef("version"))
        return MemoryVersion.objects.filter(
            compaction__session=session, compaction__revision=session.revision, compaction__at_step=step,
            compaction__policy_hash=self._view.policy_hash, compaction__base_view__kind=View.Kind.RECORDED,
            compaction__before_compaction=None,
        ).exclude(Exists(later))  # fmt: skip

    def _compacted_before(self, step: int) -> bool:
        session = self._view.session
        rows = CompactionRecord.objects.filter(session=session, revision=session.revision, at_step__lte=step)
        return rows.exists()
