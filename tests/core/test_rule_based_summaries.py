"""The policy that needs no model: what it keeps, what it says, and what it promises of any memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.core.committing.commit import faults_of_outcome
from contextlab.core.compaction import CompactResult, Deps, Line, Outcome, Sections, Snapshot
from contextlab.core.events import FileReport, ItemEvent
from contextlab.core.evidence.rules import RULE
from contextlab.core.items import Item, Kind, Verdict
from contextlab.core.policies.rule_based import CAPS, EARLIER, HEADLINE, LEAST_CHARS, RuleBased
from contextlab.core.sections import HEADINGS
from contextlab.importers import UnreadableFile, read_file
from contextlab.importers.discover import discover
from tests.core.memories import random_memory
from tests.core.plugins import examples
from tests.core.talk import Talk

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"


def compact(
    items: list[Item] | tuple[Item, ...], deps: Deps | None = None, keep: int = 2, **rest: object
) -> Outcome:
    """Compact a memory, the newest two entries staying."""
    return RuleBased(keep_recent=keep).compact(Snapshot(tuple(items), **rest), deps or Deps())  # type: ignore[arg-type]


def result_of(outcome: Outcome) -> CompactResult:
    """The result, which must be there."""
    assert outcome.result is not None
    return outcome.result


def session() -> Talk:
    """A small session that has something for each section."""
    talk = Talk().user("Build a parser. Never touch main.").says("Shall I use SQLite?").user("yes, go ahead")
    todos = [{"content": "parse", "status": "completed"}, {"content": "store", "status": "pending"}]
    talk.says("Decision: SQLite it is.").call("TodoWrite", todos=todos)
    talk.call("Edit", file_path="/src/a.py", old_string="1", new_string="2").call(
        "Read", file_path="/src/b.py"
    )
    talk.shell("make", "Exit code 2\nError: no rule", True).shell(
        "cd /src && pytest -q", "1 failed, 2 passed in 0.1s"
    )
    talk.says("Nearly done. Should I go on?").user("What is left?").says("The store.").user(
        "write the rest of it"
    )
    return talk.says("I do.")


def test_every_section_is_filled_from_the_log() -> None:
    """All sections that the log speaks of are filled, each line with ids of items that it comes from."""
    talk = session()
    sections = result_of(compact(talk.items)).sections
    assert sections.goal == "Build a parser. Never touch main."
    told = {name: [line.text for line in getattr(sections, name)] for name in HEADINGS}
    assert told == {
        "completed": ["parse"],
        "pending": ["store"],
        "decisions": [f"{RULE}Never touch main.", "Decision: SQLite it is. (assistant)"],
        "changed_artifacts": ["/src/a.py (1 edit, +1 −1 lines)"],
        "failed_commands": ["exit 2: make — Error: no rule"],
        "test_results": ["cd /src && pytest -q → pytest: 1 failed, 2 passed in 0.1s"],
        "user_confirmations": ["“yes, go ahead” to: Shall I use SQLite?"],
        "sandbox_state": ["working directory: /src"],
        "open_questions": [],
    }
    known = {item.id for item in talk.items}
    assert all(
        line.items and known.issuperset(line.items) for name in HEADINGS for line in getattr(sections, name)
    )


def test_it_says_that_no_model_wrote_it() -> None:
    """Method and text say who wrote the summary; no model is asked, and none is needed."""
    result = result_of(compact(session().items))
    assert (result.method, result.strategy, result.usage) == ("rules", "rule_based", None)
    assert result.summary.startswith(HEADLINE)
    assert "no model" in HEADLINE
    assert RuleBased.needs_model is False


def test_files_are_listed() -> None:
    """Read and changed files are told, those of a patch too."""
    talk = (
        session()
        .raw("apply_patch", "*** Begin Patch\n*** Update File: /src/c.py\n+x\n*** End Patch")
        .says("x")
        .user("y")
        .says("z")
    )
    result = result_of(compact(talk.items))
    assert (result.read_files, result.modified_files) == (["/src/b.py"], ["/src/a.py", "/src/c.py"])


def test_the_cut_is_at_a_turns_start() -> None:
    """The newest entries stay, from the start of their turn on."""
    talk = session()
    outcome = compact(talk.items)
    assert outcome.memory is not None
    assert [item.text for item in outcome.memory.items] == ["write the rest of it", "I do."]
    assert outcome.memory.summary == result_of(outcome).summary


def test_a_long_turn_is_cut_inside() -> None:
    """In a turn that has become too long its prompt and the newest entries stay, pairs and unread results whole."""
    talk = Talk().system("be good").user("Do it all")
    for number in range(20):
        talk.shell(f"step {number}", "x" * 200)
    outcome = compact(talk.items)
    assert outcome.memory is not None
    assert [item.id for item in outcome.memory.items] == ["s1", "u1", "c20", "r20"]
    assert outcome.covered == tuple(item.id for item in talk.items[2:-2])


def test_pins_stay_with_their_partners() -> None:
    """System items and pins stay where they are; a pinned call keeps its result."""
    talk = (
        Talk()
        .system("be good")
        .user("go")
        .shell("ls", "a")
        .says("done")
        .user("more")
        .says("yes")
        .user("x")
        .says("y")
    )
    outcome = compact(talk.items, Deps(pins=frozenset({"c1"})))
    assert outcome.memory is not None
    assert [item.id for item in outcome.memory.items] == ["s1", "c1", "r1", "u3", "a3"]
    assert outcome.fates["c1"].verdict == Verdict.PINNED


def test_nothing_to_summarise() -> None:
    """Where everything is recent, open, or pinned, nothing is done and memory stays."""
    talk = Talk().system("be good").user("go")
    for items in ([], talk.items, [*talk.items, *Talk().says("x").items]):
        outcome = compact(items, keep=0)
        assert outcome.result is None or outcome.covered
    assert compact(talk.items).reason == "nothing_to_summarise"


def test_it_is_due_above_max_items_only() -> None:
    """By itself it is due above max_items entries, and never without."""
    snapshot = Snapshot(tuple(Talk().user("a").says("b").items))
    assert RuleBased(max_items=1).should_compact(snapshot).due
    assert not RuleBased(max_items=2).should_compact(snapshot).due
    assert not RuleBased().should_compact(snapshot).due


def test_a_second_compaction_goes_on_from_the_first() -> None:
    """What the first result said stays: pending becomes completed, counts grow, failures are settled, rules stay."""
    first = compact(session().items)
    assert first.memory is not None
    talk = (
        Talk()
        .call("TodoWrite", todos=[{"content": "store", "status": "completed"}])
        .shell("make", "Exit code: 0")
    )
    talk.call("Edit", file_path="/src/a.py", old_string="2", new_string="3").says("ok").user("and now?").says(
        "Nothing."
    )
    later = [
        dataclasses.replace(item, id=f"later-{item.id}", call_id=item.call_id and f"l-{item.call_id}")
        for item in talk.items
    ]
    snapshot = dataclasses.replace(first.memory, items=(*first.memory.items, *later))
    sections = result_of(RuleBased(keep_recent=2).compact(snapshot, Deps())).sections
    assert [line.text for line in sections.completed] == ["parse", "store"]
    assert sections.pending == []
    assert [line.text for line in sections.changed_artifacts] == ["/src/a.py (2 edits, +2 −2 lines)"]
    assert [line.text for line in sections.failed_commands] == [
        "exit 2: make — Error: no rule (later passed)"
    ]
    assert sections.decisions[0].text == f"{RULE}Never touch main."
    assert (sections.goal or "").startswith("Build a parser.")


def test_a_summary_that_others_wrote_is_carried_on() -> None:
    """The text of an earlier summary by a model stands whole in ours, and in the one after it, once."""
    earlier = CompactResult(Sections(completed=[Line("they did it")]), "What a model wrote.", method="model")
    first = compact(session().items, summary="What a model wrote.", last_result=earlier)
    assert result_of(first).summary.endswith(f"{EARLIER}What a model wrote.")
    assert "they did it" in [line.text for line in result_of(first).sections.completed]
    assert first.memory is not None
    talk = [dataclasses.replace(item, id=f"more-{item.id}") for item in session().items]
    again = RuleBased(keep_recent=2).compact(dataclasses.replace(first.memory, items=tuple(talk)), Deps())
    assert result_of(again).summary.count("What a model wrote.") == 1


def test_sections_are_capped_and_what_went_is_told() -> None:
    """A section keeps its newest lines, the text says how many went; rules of the user are never among them."""
    talk = Talk().user("\n".join(f"Never do {number}." for number in range(60)))
    for number in range(60):
        talk.shell(f"make {number}", f"Exit code 1\nError: {number}", True)
    result = result_of(compact(talk.says("x").user("y").says("z").items))
    assert len(result.sections.failed_commands) == CAPS["failed_commands"]
    assert result.sections.failed_commands[-1].text == "exit 1: make 59 — Error: 59"
    assert f"Left out for length: {60 - CAPS['failed_commands']} of Errors." in result.summary
    assert len(result.sections.decisions) == 60


def test_max_chars_holds() -> None:
    """The text stays below max_chars, of the longest sections the oldest lines going first."""
    talk = Talk().user("go")
    for number in range(40):
        talk.call("Write", file_path=f"/a/rather/long/path/to/a/file/number/{number}.py", content="x\n" * 50)
    snapshot = Snapshot(tuple(talk.says("x").user("y").says("z").items))
    result = result_of(RuleBased(keep_recent=2, max_chars=1_000).compact(snapshot, Deps()))
    assert len(result.summary) <= 1_000
    assert result.sections.changed_artifacts[-1].text.startswith("/a/rather/long/path/to/a/file/number/39.py")


@examples(80)
@given(st.integers(0, 10**9), st.integers(0, 12))
def test_any_memory(seed: int, keep: int) -> None:
    """Any memory: nothing is raised, the same answer comes twice, and the outcome may be committed."""
    items = tuple(random_memory(seed))
    one, other = (compact(items, keep=keep) for _ in range(2))
    assert one == other
    assert set(one.fates) == {item.id for item in items}
    if one.result is not None:
        assert faults_of_outcome(Snapshot(items), one, Deps()) == []


@examples(80)
@given(
    st.lists(st.tuples(st.sampled_from(list(Kind)), st.text(max_size=80), st.text(max_size=10)), max_size=12)
)
def test_any_text(parts: list[tuple[Kind, str, str]]) -> None:
    """Whatever the items hold, nothing is raised and every line names items of the memory."""
    items = [
        Item(str(n), kind, text, tool=tool or None, call_id=tool or None)
        for n, (kind, text, tool) in enumerate(parts)
    ]
    result = compact(items, keep=0).result
    if result is not None:
        known = {item.id for item in items}
        assert all(
            known.issuperset(line.items) for name in HEADINGS for line in getattr(result.sections, name)
        )


def corpus_memories() -> Iterator[tuple[str, tuple[Item, ...]]]:
    """The items of every session of the corpus."""
    for source in discover([str(CORPUS)]):
        found: dict[str, dict[str, Item]] = {}
        try:
            for key, event in read_file(source, FileReport()):
                if isinstance(event, ItemEvent) and event.kind not in (Kind.UI, Kind.SUMMARY):
                    found.setdefault(key, {})[event.id] = Item(
                        event.id, event.kind, event.text, event.entry, event.tool, event.call_id, error=event.error,
                        injected=event.injected, opens_turn=event.opens_turn, needs_result=event.needs_result,
                    )  # fmt: skip
        except UnreadableFile:
            continue
        for key, items in found.items():
            yield f"{source.name}:{key}", tuple(items.values())


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real logs is not beside the project")
def test_real_sessions() -> None:
    """On every real session: valid, shorter than what it stands for, and each line names items of the session."""
    seen = 0
    for name, items in corpus_memories():
        outcome = compact(items, keep=10)
        if outcome.result is None:
            continue
        seen += 1
        assert faults_of_outcome(Snapshot(items), outcome, Deps()) == [], name
        covered = sum(item.chars for item in items if item.id in outcome.covered)
        assert len(outcome.result.summary) < max(covered, LEAST_CHARS), name
        known = {item.id for item in items}
        for section in HEADINGS:
            for line in getattr(outcome.result.sections, section):
                assert line.items, (name, section, line)
                assert known.issuperset(line.items), (name, section, line)
    assert seen > 50
