"""Reconciliation over a corpus: does what the log shows, plus a hidden base, come to what the provider reported?

    python -m bench.reconcile [FOLDER] [--json FILE] [--held-out]

Reads every Claude Code and Codex session below the folder (the outer project's corpus without one), counts its items,
replays it as recorded and explains each step (core/audit/reconcile.py). Prints how many steps were compared and how
far off they are: from one anchor per segment, at the ends of segments, and anchored anew at each step; how many rests
lie inside their bands, by model and by steps since the anchor; and how many findings there are. Exits with 1 when a
figure that the project promises is missed. With --held-out each session is calibrated with what the other sessions of
its format say (core/audit/evidence.py), as sessions are that come behind a fit.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from contextlab.adapters.data_folder import CHECKOUT
from contextlab.adapters.tokens import counter
from contextlab.cli._reading import sources
from contextlab.cli._replaying import sessions_of
from contextlab.core.assembler import Assembler
from contextlab.core.audit.calibrate import Sample
from contextlab.core.audit.evidence import State, chains, choose, weigh
from contextlab.core.audit.reconcile import Measure, Sheet, Summary, share_below, sheets
from contextlab.core.items import Reason
from contextlab.core.measuring.calibrations import Calibrations
from contextlab.core.measuring.models import plain_name
from contextlab.core.recorded import RecordedReplayer
from contextlab.core.replaying.sizes import REASONING
from contextlab.core.report import Report
from contextlab.core.timeline import FLAG_MEDIA
from contextlab.importers.base import UnreadableFile

CORPUS = CHECKOUT.parent / "shared" / "corpus"
PROMISED: dict[str, dict[str, float]] = {
    "claude-code": {"p50": 0.02, "p90": 0.07, "step p90": 0.004},
    "codex": {"p50": 0.002, "step tokens p90": 15},
    "codex without searches and images": {"p90": 0.02},
}
INSIDE = 0.95
"""The share of rests that bands promise to hold, of each format."""
AGES = ((1, 8), (8, 32), (32, None))
"""Steps since the anchor by which bands are looked at."""


def main() -> int:
    """Both formats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--held-out", action="store_true")
    asked = parser.parse_args()
    groups: dict[str, Summary] = {}
    sessions: dict[str, int] = {}
    bands: dict[str, dict[str, list[bool]]] = {}
    for name in ("claude-code", "codex"):
        own = asked.folder / name
        assemblers = list(_sessions(own if own.is_dir() else asked.folder))
        if asked.held_out:
            hold_out(assemblers)
        for assembler in assemblers:
            known = list(measures(assembler))
            found = list(sheets(known, starts_in_the_middle=in_the_middle(assembler)))
            _note_bands(bands.setdefault(name, {}), known, found)
            for group in _groups(name, assembler):
                groups.setdefault(group, Summary()).add(found)
                sessions[group] = sessions.get(group, 0) + 1
    facts = {name: {"sessions": sessions[name], **_figures(summary)} for name, summary in groups.items()}
    missed = [line for name, figures in facts.items() for line in _print(name, figures, bands.get(name, {}))]
    if asked.json:
        asked.json.write_text(json.dumps(facts, indent=1))
    return int(bool(missed))


def measures(assembler: Assembler) -> Iterator[Measure]:
    """The steps of a session as they are compared."""
    timeline = assembler.timeline
    marks = {mark.at_step: mark for mark in timeline.marks}
    compactions = {row.at_step for row in assembler.compactions if not row.micro}
    seen = 0
    for result in RecordedReplayer(timeline, count=counter().count).run():
        step, report = result.step, result.report
        media = sum(1 for at in range(seen, step.upto) if timeline.flags[at] & FLAG_MEDIA)
        seen = step.upto
        yield Measure(
            step.number, step.model, step.prompt_tokens, report.calibrated_tokens, report.band,
            counted_items(report), step.number in marks, step.number in compactions, bool(step.restart),
            report.finding is not None, media, report.reasoning_tokens,
        )  # fmt: skip


def hold_out(assemblers: list[Assembler]) -> None:
    """Calibrate each session with what the others say."""
    known: dict[str, list[tuple[int, list[Sample]]]] = {}
    for number, assembler in enumerate(assemblers):
        for model, chain in chains(_states(assembler)):
            known.setdefault(model, []).append((number, chain))
    for number, assembler in enumerate(assemblers):
        others = {
            model: [one for one in found if one[0] != number]
            for model, found in known.items()
            if any(one[0] == number for one in found)
        }
        chosen = {model: choose(model, weigh(found, model), "now") for model, found in others.items()}
        assembler.timeline.calibrations = Calibrations({name: one for name, one in chosen.items() if one})


def _states(assembler: Assembler) -> Iterator[tuple[State | None, bool]]:
    for one, report in zip(measures(assembler), _reports(assembler), strict=True):
        changed = one.marked or one.restart or one.changed or one.media > 0
        if one.reported is None or one.counted is None or report.blocks is None or not one.model:
            yield None, changed
        else:
            name = plain_name(one.model)
            yield State(name, one.reported, one.counted, report.blocks, one.reasoning or 0), changed


def _reports(assembler: Assembler) -> list[Report]:
    return [result.report for result in RecordedReplayer(assembler.timeline, count=counter().count).run()]


def counted_items(report: Report) -> int | None:
    """The count of what is visible: hidden reasoning is calibrated, its text counts for nothing."""
    tokens = report.projected_tokens
    return None if tokens is None else tokens - report.composition[REASONING]


def in_the_middle(assembler: Assembler) -> bool:
    """Whether the file begins after the session did."""
    marks = assembler.timeline.marks
    return any(mark.reason == Reason.EARLIER_FILE for mark in marks) or assembler.results_without_call > 0


def _sessions(folder: Path) -> Iterator[Assembler]:
    for source in sources([str(folder)]):
        try:
            found = sessions_of(source, counter(), keep_texts=False)
        except UnreadableFile:
            continue
        for one in found:
            timeline = one.assembler.timeline
            if one.assembler.meta.role == "compaction" or not any(
                step.prompt_tokens for step in timeline.steps
            ):
                continue
            yield one.assembler


def _groups(name: str, assembler: Assembler) -> list[str]:
    timeline = assembler.timeline
    plain = (
        not any(flags & FLAG_MEDIA for flags in timeline.flags)
        and "web_search" not in timeline.tools.values()
    )
    return [name, f"{name} without searches and images"] if name == "codex" and plain else [name]


def _note_bands(bands: dict[str, list[bool]], known: list[Measure], found: list[Sheet]) -> None:
    """Whether each compared rest lies inside its band, by model and by steps since the anchor."""
    anchor = 0
    for measure, sheet in zip(known, found, strict=True):
        if sheet.anchor or sheet.rest is None:
            anchor = sheet.step if sheet.anchor else anchor
            continue
        age = sheet.step - anchor
        first, end = next((first, end) for first, end in AGES if end is None or age < end)
        span = f"{first} to {end - 1} steps since the anchor" if end else f"{first} and more"
        for key in (plain_name(measure.model), span):
            bands.setdefault(key, []).append(not sheet.beyond_band)


def _figures(summary: Summary) -> dict[str, Any]:
    return {
        "steps": summary.steps, "segments": summary.segments, "steps compared": len(summary.errors),
        "p50": share_below(summary.errors, 0.5), "p90": share_below(summary.errors, 0.9),
        "rest p50": share_below(summary.rests, 0.5), "rest p90": share_below(summary.rests, 0.9),
        "segment ends p50": share_below(summary.ends, 0.5), "segment ends p90": share_below(summary.ends, 0.9),
        "step p50": share_below(summary.step_errors, 0.5), "step p90": share_below(summary.step_errors, 0.9),
        "step tokens p50": share_below(summary.step_tokens, 0.5),
        "step tokens p90": share_below(summary.step_tokens, 0.9),
        "inside their band": summary.inside_band, "findings": sum(summary.unexplained.values()),
        "unexplained": {str(what): count for what, count in summary.unexplained.items()},
    }  # fmt: skip


def _print(name: str, figures: dict[str, Any], bands: dict[str, list[bool]]) -> list[str]:
    """Prints a group; returns what misses its promise."""
    print(f"\n{name}")
    missed = []
    for key, value in figures.items():
        promised = PROMISED.get(name, {}).get(key)
        shown = f"{value:.3%}" if isinstance(value, float) and "tokens" not in key else value
        verdict = ""
        if promised is not None and value is not None:
            verdict = f"  (promised: {promised:.1%})" if promised < 1 else f"  (promised: {promised})"
            if value > promised:
                verdict += "  MISSED"
                missed.append(key)
        print(f"  {key:22} {shown}{verdict}")
    for key, inside in sorted(bands.items()):
        print(f"    inside, {key:35} {sum(inside) / len(inside):7.1%} of {len(inside)}")
    if bands and figures["inside their band"] < INSIDE:
        missed.append("inside their band")
        print(f"  bands promise to hold {INSIDE:.0%}  MISSED")
    return missed


if __name__ == "__main__":
    sys.exit(main())
