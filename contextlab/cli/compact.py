"""`contextlab compact`: what a compaction of a session's memory would come to; needs no database."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from contextlab.cli._compacting import Asked, NotThere, compact_answer
from contextlab.cli._policies import PolicyChoiceError, chosen_policy
from contextlab.cli._reading import complain, print_json, sources, token_counter
from contextlab.cli._replaying import Session, sessions_of
from contextlab.core.errors import CompactError, PolicyError
from contextlab.core.policy import Policy, parse_policy
from contextlab.importers import UnreadableFile

NAME = "compact"
HELP = "compact a session's memory under a policy, and show what is kept and what stands for the rest"
NEEDS_DJANGO = False
LONGEST_INSTRUCTIONS = 20_000
_KEEPS = {"rule_based": "keep_recent", "llm_summary": "max_items", "structured_summary": "max_items"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `contextlab compact`."""
    parser.add_argument("path", metavar="PATH", help="a log file, a folder of them, or - for standard input")
    parser.add_argument(
        "--policy",
        default="rule-based",
        metavar="NAME|FILE",
        help="a built-in policy or a policy document (.json, .toml) that compacts; rule-based without it",
    )
    parser.add_argument("--session", metavar="ID", help="this session")
    parser.add_argument(
        "--before-step", type=int, metavar="N", help="as if before step N; after the last without it"
    )
    parser.add_argument("--keep-recent", type=int, metavar="N", help="newest entries that stay")
    parser.add_argument(
        "--pin", action="append", default=[], metavar="ID", help="an item that must stay (repeatable)"
    )
    parser.add_argument(
        "--instructions", default="", metavar="TEXT", help="for a model: what to keep, what to leave out"
    )
    parser.add_argument(
        "--allow-model",
        action="store_true",
        help="let a policy that needs a model ask the one of the environment",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--estimate", action="store_true", help="estimate tokens instead of counting (faster)"
    )


def run(args: argparse.Namespace) -> int:
    """0 when done (also when there was nothing to do), 2 what cannot be done as asked (wrong usage, a model that does
    not answer), 3 nothing read."""
    try:
        policy = _policy(args)
        counter = None if args.estimate else token_counter()
        sessions: list[Session] = []
        for source in sources([args.path]):
            try:
                sessions += sessions_of(source, counter, keep_texts=True)
            except UnreadableFile as error:
                complain(str(error))
        if not sessions:
            return 3
        session = _chosen(sessions, args.session, args.path)
        asked = Asked(policy, args.before_step, tuple(args.pin), counter, args.instructions)
        answer = compact_answer(session, asked)
    except (PolicyChoiceError, PolicyError, NotThere) as error:
        complain(str(error))
        return 2
    except CompactError as error:
        complain(f"memory is as it was: {error}")
        return 2
    if args.json:
        print_json(answer)
    else:
        print("\n".join(_readable(answer)), flush=True)
    return 0


def _policy(args: argparse.Namespace) -> Policy:
    """The policy with the number of entries that stay; raises for one that does not compact, or needs a model."""
    if len(args.instructions) > LONGEST_INSTRUCTIONS:
        raise PolicyChoiceError(f"--instructions has more than {LONGEST_INSTRUCTIONS:,} characters")
    policy = chosen_policy(args.policy)
    if policy is None or policy.compaction is None:
        raise PolicyChoiceError(f"the policy {args.policy!r} replaces no memory: it has no compaction")
    if policy.needs_model and not args.allow_model:
        raise PolicyChoiceError(f"the policy {args.policy!r} asks a model; --allow-model lets it")
    return policy if args.keep_recent is None else _keeping(policy, args.keep_recent)


def _keeping(policy: Policy, recent: int) -> Policy:
    given: Any = policy.document["compaction"]
    option = _KEEPS.get(str(given["kind"]))
    if option is None or recent < 0:
        raise PolicyChoiceError(
            "--keep-recent must not be negative, and needs a policy that knows such a number"
        )
    document = {**policy.document, "compaction": {**given, option: recent}}
    return replace(policy, document=document, compaction=parse_policy(document).compaction)


def _chosen(sessions: list[Session], wanted: str | None, path: str) -> Session:
    if wanted is not None:
        found = [session for session in sessions if session.name == wanted]
        if not found:
            raise NotThere(f"{path}: there is no session {wanted!r}")
        return found[0]
    main = [session for session in sessions if session.assembler.meta.role is None] or sessions
    if len(main) > 1:
        names = ", ".join(session.name for session in main[:5])
        raise NotThere(f"{path}: {len(main)} sessions, choose one with --session ({names} ...)")
    return main[0]


def _readable(answer: dict[str, Any]) -> list[str]:
    lines = [
        f"session {answer['session']}  "
        + ("compacted" if answer["compacted"] else f"as it is: {answer['reason']}")
    ]
    if (report := answer["report"]) is not None:
        lines.append(
            f"items {report['source_items']:,} -> {report['projected_items']:,}, "
            f"tokens {report['source_tokens']:,} -> {report['projected_tokens']:,} ({report['token_source']})"
        )
    return [*lines, "", answer["result"]["summary"]] if answer["result"] else lines
