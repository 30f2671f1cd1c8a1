"""What takes little memory behaves as the plain thing does."""

import random

import pytest

from contextlab.core.assembler import Assembler
from contextlab.core.events import SessionStart
from contextlab.core.timeline import Step
from contextlab.services.ingest import lean, lean_maps
from contextlab.services.ingest.lean import Steps, StepsById, lean_assembler
from contextlab.services.ingest.lean_maps import Ids, Strings
from tests.importers.claude_log import read
from tests.services.test_ingest import busy_log


@pytest.fixture(autouse=True)
def little_recent(monkeypatch):
    """Everything but the newest is old."""
    monkeypatch.setattr(lean_maps, "RECENT_IDS", 8)
    monkeypatch.setattr(lean, "RECENT_STEPS", 4)


def test_ids_are_a_dict():
    """Thousands of them, asked for in any order, known and unknown."""
    draw = random.Random(5)
    ids, plain = Ids(), {}
    for number in range(3000):
        name = f"id-{number}"
        assert ids.setdefault(name, number) == plain.setdefault(name, number)
        asked = f"id-{draw.randrange(2 * number + 1)}"
        assert (ids.get(asked), asked in ids) == (plain.get(asked), asked in plain)
    assert len(ids) == len(plain)
    assert all(ids[name] == number for name, number in plain.items())
    with pytest.raises(KeyError):
        ids["no such id"]


def test_strings_are_a_dict():
    """Any text, at rising positions with gaps."""
    texts = {position: f"é🎉\ud800 {position}" * (position % 3) for position in range(0, 500, 3)}
    strings = Strings()
    for position, text in texts.items():
        strings[position] = text
    assert [strings.get(position) for position in range(510)] == [
        texts.get(position) for position in range(510)
    ]


def a_step(number):
    some = number % 7 != 0
    return Step(
        number, f"step-{number}", number // 3, number * 2, ("opus", "sonnet", None)[number % 3],
        f"2026-03-01T10:00:{number % 60:02d}.123Z" if some else None, 200_000 if number % 5 else None,
        exact=number % 2 == 0, input=number if some else None, output=0, usage_partial=number % 4 == 0,
        restart="new version 2" if number % 9 == 0 else "",
    )  # fmt: skip


def plain(step):
    values = {name: getattr(step, name) for name in Step.__slots__}
    return values | {"ts": lean.moment(step.ts)}


def test_steps_are_a_list():
    """Indexes, slices, iteration; the newest are the very objects."""
    steps, listed = Steps(), []
    for number in range(1, 40):
        step = a_step(number)
        steps.append(step)
        listed.append(a_step(number))
        assert steps[-1] is step
        assert len(steps) == number
    assert list(map(plain, steps)) == list(map(plain, listed))
    assert list(map(plain, steps[3:20:2])) == list(map(plain, listed[3:20:2]))
    assert plain(steps[-30]) == plain(listed[-30])
    for place in (39, -40):
        with pytest.raises(IndexError):
            steps[place]


def test_figures_of_old_steps_stay_whatever_their_size():
    """A log may claim any number of tokens; it is shown as the log has it, or as unknown."""
    steps = Steps()
    figures = [None, -1, 0, 2**31 - 1, 2**31, -(2**31), 2**53, -(2**62) + 1, 7]
    for number, figure in enumerate(figures, 1):
        step = a_step(number)
        step.limit = step.input = step.output = figure
        steps.append(step)
    for number in range(len(figures) + 1, 30):
        steps.append(a_step(number))
    assert [steps[place].input for place in range(len(figures))] == figures
    assert [steps[place].limit for place in range(len(figures))] == figures


def test_a_change_of_an_old_step_stays():
    """Usage may come thousands of steps later."""
    steps = Steps()
    by_id = StepsById(steps)
    for number in range(1, 40):
        step = a_step(number)
        steps.append(step)
        by_id[step.id] = step
    by_id.get("step-2").output = 99
    assert steps[1].output == 99
    assert by_id.get("no such step") is None
    by_id["step-2"] = steps[30]
    assert by_id.get("step-2").number == 31


def test_a_lean_assembler_makes_the_same_timeline():
    """Rows, pairs, marks, usage: event for event."""
    log = busy_log(turns=30)
    log.answer("m1a", usage={"input_tokens": 77, "output_tokens": 3})
    log.result("c0", "a second result of an old call")
    got = read(log.data)
    one, other = Assembler(SessionStart("s1")), lean_assembler(SessionStart("s1"))
    for _, event in got.events:
        assert one.feed(event) == other.feed(event)
    assert list(map(plain, one.timeline.steps)) == list(map(plain, other.timeline.steps))
    for name in (
        "kinds",
        "chars",
        "tokens",
        "estimates",
        "entries",
        "turns",
        "flags",
        "pairs",
        "opaque",
        "marks",
        "turns_list",
    ):
        assert list(getattr(one.timeline, name)) == list(getattr(other.timeline, name))
    assert one.compactions == other.compactions
    assert (one.duplicates, one.calls_without_result) == (other.duplicates, other.calls_without_result)
    for name in ("call_ids", "tools"):
        plain_names, lean_names = getattr(one.timeline, name), getattr(other.timeline, name)
        assert [plain_names.get(at) for at in range(200)] == [lean_names.get(at) for at in range(200)]
        assert len(plain_names) == len(lean_names) > 0
    ids = [one.timeline.call_id(at) for at in range(len(one.timeline))]
    assert ids == [other.timeline.call_id(at) for at in range(len(one.timeline))]
    assert len(list(filter(None, ids))) > len(one.timeline.call_ids)
