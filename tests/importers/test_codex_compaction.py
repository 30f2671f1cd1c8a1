"""Compactions in Codex rollouts: opaque ones, those with a text, and what stays beside them."""

from __future__ import annotations

from contextlab.core.events import Compaction, Note, TurnStart
from contextlab.core.items import Injected, Kind
from tests.importers.codex_log import Rollout, message
from tests.importers.reading import Read, read

SEALED = {"type": "compaction", "encrypted_content": "REDACTED"}


def before() -> Rollout:
    """A first turn, and the beginning of a second that is about to be compacted."""
    log = Rollout()
    log.task("t1")
    log.say("developer", "<permissions instructions>\nx", "<apps_instructions>\ny")
    log.say("developer", "[hook] loaded")
    log.say("user", "# AGENTS.md instructions for /home/ada/shop", "<environment_context>\n")
    log.say("user", "build the shop on port 8080")
    log.say("assistant", "On it.")
    log.call("c1", answer="built")
    log.count(200_000, cached=190_000, output=500)
    log.done("t1")
    log.task("t2")
    log.say("user", "now the docs")
    return log


HISTORY = [
    message("user", "build the shop on port 8080"),
    message("developer", "<permissions instructions>\nx", "<apps_instructions>\ny"),
    message("user", "# AGENTS.md instructions for /home/ada/shop", "<environment_context>\n"),
    message("user", "now the docs"),
]


def opaque(size: int | None = 13_290) -> Read:
    """The usual remote compaction: no text, an encrypted item, the new size behind it."""
    log = before()
    log.compacted("", [*HISTORY, SEALED])
    log.add("turn_context", {"turn_id": "t2", "model": "gpt-5.5"})
    if size is not None:
        log.after(size)
    log.event("context_compacted")
    log.say("assistant", "Docs are done.")
    log.count(15_000, cached=9_000)
    log.done("t2")
    return read(log.text())


def test_an_opaque_compaction_has_an_empty_summary_and_a_size():
    """message is "" and the content is encrypted (formats.md 4.18)."""
    made = opaque()
    [compaction] = made.of(Compaction)
    assert compaction.opaque
    [summary] = [item for item in made.items if item.kind == Kind.SUMMARY]
    assert (summary.id, summary.text, summary.opaque_chars) == (compaction.summary, "", len("REDACTED"))
    assert made.session.compactions[0].summary is not None


def test_the_size_after_comes_from_the_token_count_behind_it():
    """All parts 0, total = the new context (formats.md 4.17); it is no step's usage."""
    made = opaque()
    [compaction] = made.of(Compaction)
    assert (compaction.pre_tokens, compaction.post_tokens) == (200_500, 13_290)
    assert [step.prompt_tokens for step in made.session.timeline.steps] == [200_000, 15_000]


def test_a_size_that_never_comes_is_unknown():
    """The compaction is there all the same."""
    assert opaque(None).of(Compaction)[0].post_tokens is None


def test_what_the_replacement_history_repeats_stays():
    """User messages and instructions stay as they are; answers, calls, results and hooks are summarised."""
    context = opaque().context(2)
    assert context == [
        "You are Codex.",
        "<permissions instructions>\nx",
        "<apps_instructions>\ny",
        "# AGENTS.md instructions for /home/ada/shop",
        "<environment_context>\n",
        "build the shop on port 8080",
        "now the docs",
        "",
    ]


def test_what_only_the_replacement_history_has_is_new():
    """A prompt that was cut to fit is an item of its own that opens no turn."""
    log = before()
    log.compacted("", [message("user", "build the sh"), message("user", "now the docs"), SEALED])
    log.say("assistant", "ok")
    log.count(10)
    made = read(log.text())
    short = made.item("build the sh"), made.items[-2]
    assert made.items[-2].text == "build the sh"
    assert short[1].injected == Injected.SYNTHETIC
    assert len(made.of(TurnStart)) == 2
    assert made.context(2) == ["You are Codex.", "now the docs", "", "build the sh"]


def test_of_equal_messages_the_later_ones_stay():
    """The history is cut at its beginning, so it repeats the end."""
    log = Rollout()
    for turn in range(3):
        log.task(f"t{turn}")
        log.say("user", "continue")
        log.say("assistant", f"answer {turn}")
        log.count(100 + turn)
        log.done(f"t{turn}")
    log.compacted("", [message("user", "continue"), message("user", "continue"), SEALED])
    log.task("t3")
    log.say("assistant", "more")
    log.count(50)
    made = read(log.text())
    prompts = [item.id for item in made.items if item.text == "continue"]
    assert made.of(Compaction)[0].keeps == ("instructions", *prompts[1:])


def test_a_second_compaction_only_knows_what_stood_in_the_context():
    """What the first one took out cannot stay in the second, however equal it is."""
    log = before()
    log.compacted("", [message("user", "now the docs"), SEALED])
    log.say("assistant", "ok")
    log.count(10)
    log.compacted("", [*HISTORY, SEALED])
    log.say("assistant", "more")
    log.count(20)
    made = read(log.text())
    _first, second = made.of(Compaction)
    assert [row.number for row in made.session.compactions] == [1, 2]
    assert len(second.keeps) == 2, "the system prompt and the one prompt that was left"
    assert made.context(3).count("build the shop on port 8080") == 1


def test_a_local_compaction_has_its_text():
    """The summary is what the model gets: Codex's introduction and the text."""
    log = before()
    log.count(210_000, output=900)
    told = message("user", "Another model began this work. Its summary:\nThe shop runs on port 8080.")
    log.compacted("The shop runs on port 8080.", [message("user", "now the docs"), told])
    log.say("assistant", "ok")
    log.count(10)
    made = read(log.text())
    [compaction] = made.of(Compaction)
    assert not compaction.opaque
    assert made.texts("summary") == [told["content"][0]["text"]]
    assert made.session.timeline.steps[1].output == 900, "the summariser's own call"


def test_the_oldest_compactions_have_the_text_alone():
    """Without a replacement history user messages and instructions stay beside the summary."""
    log = before()
    log.compacted("The shop runs on port 8080.")
    log.say("assistant", "ok")
    log.count(10)
    made = read(log.text())
    context = made.context(2)
    assert "build the shop on port 8080" in context
    assert "The shop runs on port 8080." in context
    assert "On it." not in context


def test_a_lone_compaction_item_is_a_compaction():
    """A compaction item among the answers that no compacted record explains."""
    log = before()
    log.item("compaction", encrypted_content="x" * 40)
    log.say("assistant", "ok")
    log.count(10)
    made = read(log.text())
    [compaction] = made.of(Compaction)
    assert compaction.opaque
    assert [item.opaque_chars for item in made.items if item.kind == Kind.SUMMARY] == [40]
    assert "On it." not in made.context(2)


def test_a_compaction_item_and_its_record_are_one_compaction():
    """The record that follows the item explains it."""
    log = before()
    log.item("context_compaction", encrypted_content="x" * 40)
    log.compacted("", HISTORY)
    log.say("assistant", "ok")
    log.count(10)
    made = read(log.text())
    assert len(made.of(Compaction)) == 1
    assert [item.opaque_chars for item in made.items if item.kind == Kind.SUMMARY] == [40]


def test_a_size_without_a_compaction_is_a_note():
    """A resumed session tells its size again."""
    log = before()
    log.after(9_000)
    [note] = read(log.text()).of(Note)
    assert (note.code, note.value) == ("context_after", 9_000)


def test_a_rollback_reaches_behind_a_compaction():
    """The last prompt goes, and the compacted history that stood behind it."""
    log = before()
    log.compacted("", [*HISTORY, SEALED])
    log.say("assistant", "ok")
    log.count(10)
    log.event("thread_rolled_back", num_turns=1)
    log.task("t3")
    log.say("user", "something else")
    log.say("assistant", "yes")
    log.count(20)
    context = read(log.text()).context(3)
    assert "now the docs" not in context
    assert "build the shop on port 8080" in context
