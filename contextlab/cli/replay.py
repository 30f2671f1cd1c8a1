"""`contextlab replay`: what the model saw at every step, as recorded or under a policy; needs no database."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

from contextlab.cli._policies import PolicyChoiceError, chosen_policy
from contextlab.cli._reading import complain, print_json, sources, table, token_counter
from contextlab.cli._replaying import Session, replayer_of, sessions_of, step_answer, step_items
from contextlab.core.measuring.tokens import TokenCounter
from contextlab.core.policy import Policy
from contextlab.importers import UnreadableFile

NAME = "replay"
HELP = "show what the model saw at every step: as recorded, or under a policy"
NEEDS_DJANGO = False

Answer = dict[str, Any]


class _NotThereError(Exception):
    """A session or a step that was asked for does not exist."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `contextlab replay`."""
    parser.add_argument("path", metavar="PATH", help="a log file, a folder of them, or - for standard input")
    parser.add_argument(
        "--policy",
        default="recorded",
        metavar="NAME|FILE|recorded",
        help="a built-in policy, a policy document (.json, .toml), or recorded (the default): as the log says",
    )
    parser.add_argument("--session", metavar="ID", help="only this session")
    parser.add_argument(
        "--step", type=int, metavar="N", help="one step with all its items, left out ones too"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line for each step")
    parser.add_argument(
        "--estimate", action="store_true", help="estimate tokens instead of counting (faster)"
    )


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when done, 2 for a policy, session or step that does not exist, 3 when no file could be read."""
    try:
        policy = chosen_policy(args.policy)
        counter = None if args.estimate else token_counter()
        if args.step is None:
            return _all_steps(args, policy, counter)
        return _one_step(args, policy, counter)
    except (PolicyChoiceError, _NotThereError) as error:
        complain(str(error))
        return 2


def _all_steps(args: argparse.Namespace, policy: Policy | None, counter: TokenCounter | None) -> int:
    show: Callable[[Answer], None] = print_json if args.json else _Table()
    read, found = 0, False
    for sessions in _files(args, policy, counter):
        read += 1
        for session in sessions:
            if args.session is not None and session.name != args.session:
                continue
            found = True
            for result in replayer_of(session, policy, counter).run():
                show(step_answer(session, result))
    if read and args.session is not None and not found:
        raise _NotThereError(f"{args.path}: there is no session {args.session!r}")
    return 0 if read else 3


def _one_step(args: argparse.Namespace, policy: Policy | None, counter: TokenCounter | None) -> int:
    sessions = [session for sessions in _files(args, policy, counter) for session in sessions]
    if not sessions:
        return 3
    session = _chosen(sessions, args.session, args.path)
    steps = len(session.assembler.timeline.steps)
    if not 1 <= args.step <= steps:
        raise _NotThereError(f"session {session.name} has {steps} steps, not a step {args.step}")
    replayer = replayer_of(session, policy, counter)
    result = next(result for result in replayer.run() if result.step.number == args.step)
    answer = {**step_answer(session, result), "items": list(step_items(session, replayer, result))}
    if args.json:
        print_json(answer)
    else:
        print("\n".join(_readable(answer)), flush=True)
    return 0


def _files(
    args: argparse.Namespace, policy: Policy | None, counter: TokenCounter | None
) -> Iterator[list[Session]]:
    """The sessions of each file that can be read; why the others cannot goes to standard error."""
    for source in sources([args.path]):
        try:
            yield sessions_of(source, counter, keep_texts=policy is not None)
        except UnreadableFile as error:
            complain(str(error))


def _chosen(sessions: list[Session], wanted: str | None, path: str) -> Session:
    """The session asked for; without a wish the only main one (or the only one)."""
    if wanted is not None:
        found = [session for session in sessions if session.name == wanted]
        if not found:
            raise _NotThereError(f"{path}: there is no session {wanted!r}")
        return found[0]
    main = [session for session in sessions if session.assembler.meta.role is None] or sessions
    if len(main) > 1:
        names = ", ".join(session.name for session in main[:5])
        raise _NotThereError(f"{path}: {len(main)} sessions, choose one with --session ({names} ...)")
    return main[0]


# For people


class _Table:
    """Prints steps as rows, with a head where a session begins."""

    _COLUMNS = (
        "items",
        "sent",
        "left out",
        "cleared",
        "summarised",
        "tokens",
        "calibrated",
        "reported",
        "limit",
    )

    def __init__(self) -> None:
        self._session: str | None = None

    def __call__(self, answer: Answer) -> None:
        if answer["session"] != self._session:
            self._session = answer["session"]
            print(f"session {self._session}")
            print(f"{'step':>6} {'turn':>5} " + " ".join(f"{name:>10}" for name in self._COLUMNS) + "  model")
        print(f"{answer['step']:>6} {_figure(answer['turn']):>5} " + self._figures(answer), flush=True)

    @staticmethod
    def _figures(answer: Answer) -> str:
        report = answer["report"]
        mark = "" if report["token_source"] == "counted" else "~"  # noqa: S105  no password
        row = [
            _figure(report["source_items"]), _figure(report["projected_items"]), _figure(report["dropped_items"]),
            _figure(report["cleared_items"]), _figure(report["summarised_items"]),
            mark + _figure(report["projected_tokens"]), _figure(report["calibrated_tokens"]),
            _figure(report["reported_input_tokens"]), _figure(answer["limit"]),
        ]  # fmt: skip
        return " ".join(f"{cell:>10}" for cell in row) + f"  {answer['model'] or '?'}"


def _figure(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def _readable(answer: Answer) -> list[str]:
    """One step as lines: its figures, then its items."""
    head = f"session {answer['session']}  step {answer['step']}  turn {_figure(answer['turn'])}"
    lines = [f"{head}  model {answer['model'] or '?'}  limit {_figure(answer['limit'])}"]
    for key, value in answer["report"].items():
        if value not in (None, [], False, 0):
            lines.append(
                f"  {key.replace('_', ' ')}: {'; '.join(value) if isinstance(value, list) else value}"
            )
    head_row = ["id", "order", "kind", "tool", "verdict", "reason", "tokens", "chars", "replaced by"]
    return lines + table([head_row, *(_item_row(item) for item in answer["items"])])


def _item_row(item: Answer) -> list[str]:
    order = "-" if item["in_context"] is None else f"{item['in_context']:,}"
    named = [item["kind"], item["tool"] or "", item["verdict"], item["reason"] or ""]
    return [item["id"], order, *named, f"{item['tokens']:,}", f"{item['chars']:,}", item["replaced_by"] or ""]
