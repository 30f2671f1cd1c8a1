"""Which calibration each model has: the table that comes with the program, or what was fitted to sessions.

A model whose tokenizer is our own is counted, not fitted. The figures are a session's, not a step's: a replay takes
them with its timeline, so that all steps of a view are calibrated alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from contextlab.core.measuring.models import Calibration, calibration_for, encoding_for, plain_name


class Origin(StrEnum):
    """Where a model's calibration comes from."""

    TABLE = "table"
    """It comes with the program."""
    MEASURED = "measured"
    """The program's figures, with the band that the sessions here have under them."""
    FITTED = "fitted"
    """Fitted to the sessions here."""


@dataclass(frozen=True, slots=True)
class InUse:
    """A model's calibration with what it rests on."""

    origin: Origin
    ratio: float
    per_block: float
    band: float
    steps: int = 0
    sessions: int = 0
    since: str = ""
    """When it came into use, ISO 8601; empty for the table."""

    @property
    def calibration(self) -> Calibration:
        """The figures alone."""
        return Calibration(self.ratio, self.per_block, self.band)

    def as_plain(self) -> dict[str, Any]:
        """What is stored, and what `in_use` reads."""
        return asdict(self) | {"origin": str(self.origin)}


def in_use(plain: Mapping[str, Any]) -> InUse:
    """From what `as_plain` made."""
    return InUse(**{**plain, "origin": Origin(plain["origin"])})


def of_table(model: str | None) -> InUse:
    """What the program has for a model."""
    table = calibration_for(model)
    return InUse(Origin.TABLE, table.ratio, table.per_block, table.band)


@dataclass(frozen=True, slots=True)
class Calibrations:
    """What is used instead of the table, by a model's plain name."""

    instead: Mapping[str, InUse] = field(default_factory=dict)

    def of(self, model: str | None) -> InUse:
        """The model's calibration."""
        return self.instead.get(plain_name(model)) or of_table(model)

    def among(self, models: Iterable[str | None]) -> dict[str, dict[str, Any]]:
        """Those of the models as plain values, by their plain names."""
        return {name: self.of(name).as_plain() for name in sorted({plain_name(one) for one in models if one})}


TABLE = Calibrations()


def may_be_fitted(model: str | None) -> bool:
    """Whether a fit may replace the table: not where the tokenizer is the model's own."""
    return not encoding_for(model)[1]
