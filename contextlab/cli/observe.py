"""`contextlab observe`: what a session brought to light, by rules from the log alone; no database and no model."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from contextlab.cli._reading import complain, print_json, sources, table, token_counter
from contextlab.cli._replaying import Session, item_at, sessions_of
from contextlab.core.items import Item, estimate_tokens
from contextlab.core.measuring.tokens import TokenCounter
from contextlab.core.memory_keeping.batches import once
from contextlab.core.memory_keeping.by_rules import METHOD, NO_WORK, observations, session_summary
from contextlab.core.memory_keeping.economics import economics
from contextlab.core.memory_keeping.observations import SUMMARY_FIELDS, Observation
from contextlab.importers import UnreadableFile

NAME = "observe"
HELP = "note what a session brought to light: observations, a summary, and what they cost and save"
NEEDS_DJANGO = False

OBSERVATION_FIELDS = (
    "type", "title", "subtitle", "narrative", "facts", "concepts", "files_read", "files_modified",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `contextlab observe`."""
    parser.add_argument("path", metavar="PATH", help="a log file, a folder of them, or - for standard input")
    parser.add_argument("--session", metavar="ID", help="only this session (also one of a subagent)")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line for each session")
    parser.add_argument(
        "--estimate", action="store_true", help="estimate the original's tokens instead of counting (faster)"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when done, 2 for a session that does not exist, 3 when no file could be read."""
    counter = None if args.estimate else token_counter()
    read, found = 0, 0
    for sessions in _files(args.path, counter):
        read += 1
        for session in _wanted(sessions, args.session):
            found += 1
            answer = observe_answer(session)
            print_json(answer) if args.json else print("\n".join(_readable(answer)), flush=True)
    if not read:
        return 3
    if args.session is not None and not found:
        complain(f"{args.path}: there is no session {args.session!r}")
        return 2
    return 0


def observe_answer(session: Session) -> dict[str, Any]:
    """What the contract names."""
    turns = list(_turns(session))
    made = once([one for number, items in turns for one in observations(items, number)], session.name)
    observed = {one.turn for one in made}
    raw = sum(_tokens(item) for number, items in turns if number in observed for item in items)
    summary = session_summary([item for _, items in turns for item in items])
    costs = economics(made, [], raw)
    return {
        "session": session.name,
        "observations": [_observation(one, session.name) for one in made],
        "summary": None if summary is None else {name: getattr(summary, name) for name in SUMMARY_FIELDS},
        "skipped": summary is None,
        "skip_reason": NO_WORK if summary is None else None,
        "method": METHOD,
        "economics": {
            "discovery_tokens": costs.discovery,
            "read_tokens": costs.read,
            "savings_tokens": costs.savings,
            "savings_percent": costs.savings_percent,
            "ratio": costs.ratio,
        },
    }


def _files(path: str, counter: TokenCounter | None) -> Iterator[list[Session]]:
    for source in sources([path]):
        try:
            yield sessions_of(source, counter, keep_texts=True)
        except UnreadableFile as error:
            complain(str(error))


def _wanted(sessions: list[Session], name: str | None) -> list[Session]:
    if name is not None:
        return [session for session in sessions if session.name == name]
    return [session for session in sessions if session.assembler.meta.role is None] or sessions


def _turns(session: Session) -> Iterator[tuple[int, list[Item]]]:
    """The items of each turn, by its number; what stands before the first one belongs to none."""
    timeline = session.assembler.timeline
    turns = timeline.turns_list
    ends = [turn.first_position for turn in turns[1:]] + [len(timeline)]
    for turn, end in zip(turns, ends, strict=True):
        yield turn.number, [item_at(session, at) for at in range(turn.first_position, end)]


def _tokens(item: Item) -> int:
    return estimate_tokens(item.text, item.tool) if item.tokens is None else item.tokens


def _observation(one: Observation, session: str) -> dict[str, Any]:
    told = {name: getattr(one, name) for name in OBSERVATION_FIELDS}
    return {**told, "content_hash": one.content_hash(session), "turn": one.turn}


# For people


def _readable(answer: dict[str, Any]) -> list[str]:
    costs = answer["economics"]
    ratio = (
        "" if costs["ratio"] is None else f", {costs['ratio']:g} times smaller than the turns they stand for"
    )
    lines = [f"session {answer['session']}  (by rules from the log alone; no model was asked)"]
    rows = [
        [one["title"] or one["narrative"] or "?", str(one["turn"] or "?"), one["type"]]
        for one in answer["observations"]
    ]
    lines += table([["observation", "turn", "type"], *rows]) if rows else ["no observations"]
    lines.append(
        f"{len(rows)} observations, about {costs['read_tokens']:,} tokens to read (estimated){ratio}"
    )
    if answer["summary"] is None:
        return [*lines, f"no summary: {answer['skip_reason']}"]
    for name, text in answer["summary"].items():
        if text:
            lines += [f"{name.replace('_', ' ')}:", *(f"  {line}" for line in text.splitlines())]
    return lines
