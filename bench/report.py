"""Figures as a table and as JSON, with the gates that decide about the exit code."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Figure:
    """One measured value. `gate` is what must hold, `target` what is aimed at; `better` is `higher` or `lower`."""

    bench: str
    name: str
    value: float
    unit: str
    target: float | None = None
    gate: float | None = None
    better: str = "lower"
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the gate holds (True where there is none)."""
        return self.gate is None or _holds(self.value, self.gate, self.better)

    @property
    def verdict(self) -> str:
        """In a word."""
        if not self.passed:
            return "FAILED"
        if self.target is None:
            return ""
        return "on target" if _holds(self.value, self.target, self.better) else "below target"


def _holds(value: float, bound: float, better: str) -> bool:
    return value >= bound if better == "higher" else value <= bound


@dataclass(slots=True)
class Report:
    """All figures of a run, and what was not measured."""

    figures: list[Figure] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def table(self) -> str:
        """For people."""
        rows = [("bench", "what", "value", "target", "gate", "")]
        rows += [
            (
                f.bench,
                f.name,
                f"{_number(f.value)} {f.unit}".strip(),
                _number(f.target),
                _number(f.gate),
                f.verdict,
            )
            for f in self.figures
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        lines.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([*lines, *(f"SKIPPED: {reason}" for reason in self.skipped)])

    def save(self, path: Path) -> None:
        """For programs."""
        figures = [asdict(figure) | {"passed": figure.passed} for figure in self.figures]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps({"figures": figures, "skipped": self.skipped, "facts": self.facts}, indent=1) + "\n"
        )

    @property
    def passed(self) -> bool:
        """Whether every gate holds."""
        return all(figure.passed for figure in self.figures)


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def median_ratio(ours: list[float], theirs: list[float]) -> float:
    """Median over the pairs of theirs / ours: how many times cheaper we are."""
    return statistics.median(their / our for our, their in zip(ours, theirs, strict=True))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
