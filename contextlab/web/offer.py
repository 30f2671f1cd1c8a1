"""The logs that lie on this machine: looked for when somebody may want to know, never read before they say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from contextlab.queries.sessions import Totals
from contextlab.services import scan


@dataclass(frozen=True, slots=True)
class Offer:
    """What a look at the well-known folders found."""

    folders: Sequence[scan.Folder]

    @property
    def sessions(self) -> int:
        """Main sessions in all folders."""
        return sum(folder["sessions"] for folder in self.folders)

    @property
    def recent(self) -> int:
        """Of them those of the last seven days."""
        return sum(folder["sessions_recent"] for folder in self.folders)

    @property
    def older(self) -> int:
        """Of them those that the first scan leaves alone."""
        return self.sessions - self.recent


def look() -> Offer:
    """Names and sizes of the logs in the folders of the user who started the server; none in server mode."""
    return Offer(scan.survey() if settings.LOCAL else ())


def first_offer(totals: Totals) -> Offer | None:
    """The offer of the first start: until a session of one's own is here."""
    return look() if settings.LOCAL and totals.sessions == totals.samples else None
