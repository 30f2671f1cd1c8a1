"""Reading: what is broken costs itself only, what belongs together is joined, what is unknown stays unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextlab.core.events import FileReport, ItemEvent
from contextlab.core.items import Injected, Kind
from contextlab.importers import read_file
from contextlab.importers.discover import discover
from contextlab.web.markdown import render_markdown
from tests.field_reports.reports import expected, given
from tests.importers.reading import Read, lines, read

HEAD = {"format": "contextlab-events", "version": 1, "session": {"id": "s1"}}


def items_of(made: Read, key: str) -> list[str]:
    """Ids of the items of one session of a file."""
    return [event.id for name, event in made.events if name == key and isinstance(event, ItemEvent)]


def test_ingest_03_a_line_of_nul_bytes_costs_that_line() -> None:
    """A crashed append leaves NUL bytes: they are skipped with their place, the rest is read."""
    made = read(given("ingest-03")["text"])
    checks = expected("ingest-03")
    assert [line for line, _ in made.report.skipped] == checks["skipped_lines"]
    assert made.texts(Kind.USER, Kind.ASSISTANT) == ["one", "two"]
    assert not any("\x00" in item.text for item in made.items)


def test_ingest_07_parallel_subagents_hang_below_their_calls() -> None:
    """Items of subagents that wrote in turns belong to their own sessions, not to the main context."""
    records: list[dict[str, Any]] = [HEAD]
    for record in given("ingest-07")["records"]:
        if "calls" in record:
            for call in record["calls"]:
                item = {
                    "type": "item",
                    "id": f"{record['id']}-{call}",
                    "kind": "tool_call",
                    "entry": record["id"],
                }
                records.append(item | {"tool": "Task", "call_id": call})
        elif "agent" in record:
            agent = {"id": record["agent"], "parent": "s1", "parent_call_id": record["parent_call"]}
            records.append({"type": "session", **agent})
            item = {"type": "item", "id": record["id"], "kind": "assistant", "text": record["text"]}
            records.append(item | {"session": record["agent"]})
        else:
            item = {"type": "item", "id": record["id"], "kind": "tool_result", "text": "done"}
            records.append(item | {"call_id": record["result_of"]})
    made = read(lines(*records))
    below = {made.sessions[agent].meta.parent_call_id: items_of(made, agent) for agent in ("A", "B")}
    assert below == {"TA": ["2", "4"], "TB": ["3"]}
    assert items_of(made, "s1") == ["1-TA", "1-TB", "5", "6"]


def test_ingest_08_subagents_in_a_folder_are_linked_by_their_call(tmp_path: Path) -> None:
    """The transcript beside the session is found, and its companion file names the call that started it."""
    for name, text in given("ingest-08")["files"].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    sources = list(discover([tmp_path]))
    metas = [next(iter(read_file(source, FileReport())))[1] for source in sources]
    main = [meta for meta in metas if meta.role is None]
    agents = [meta for meta in metas if meta.role == "subagent"]
    checks = expected("ingest-08")
    assert (len(main), len(agents)) == (checks["sessions"], checks["subagents"])
    assert agents[0].parent_call_id == checks["linked_to_call"]
    assert agents[0].parent == main[0].native_id
    assert agents[0].agent == "Explore"


def test_ingest_09_boundary_and_summary_are_one_compaction() -> None:
    """The flagged record is the summary of the boundary before it, not a second compaction and no user turn."""
    made = read(lines(*given("ingest-09")["records"]))
    checks = expected("ingest-09")
    (compaction,) = made.session.compactions
    assert compaction.event.pre_tokens == checks["pre_tokens"]
    assert made.texts(Kind.SUMMARY) == ["summary of work"]
    assert compaction.summary is not None
    assert len(made.texts(Kind.USER)) == checks["user_messages"] == len(made.session.timeline.turns_list)


def test_ingest_10_a_boundary_without_figures_has_unknown_figures() -> None:
    """Missing is unknown, not zero."""
    (compaction,) = read(lines(*given("ingest-10")["records"])).session.compactions
    assert compaction.event.pre_tokens is None
    assert compaction.event.trigger is None


def test_fidelity_05_prompts_of_a_harness_are_not_the_users_words() -> None:
    """A synthetic prompt opens no turn and says what it is."""
    records: list[dict[str, Any]] = [HEAD]
    for record in given("fidelity-05")["records"]:
        if record["role"] == "user" and not record.get("synthetic"):
            records.append({"type": "turn_start", "id": f"t-{record['id']}"})
        item = {"type": "item", "id": record["id"], "kind": record["role"], "text": record["text"]}
        records.append(item | ({"injected": "synthetic"} if record.get("synthetic") else {}))
    made = read(lines(*records))
    assert len(made.session.timeline.turns_list) == expected("fidelity-05")["user_turns"]
    badged = [(item.id, item.injected) for item in made.items if item.injected]
    assert badged == [("e2", Injected.SYNTHETIC)]
    assert [item.id for item in made.items if item.opens_turn] == ["e1"]


def test_fidelity_05_meta_records_of_claude_code_open_no_turn() -> None:
    """The same in a transcript: isMeta records are injected."""
    real = {"type": "user", "uuid": "e1", "sessionId": "s1", "message": {"role": "user", "content": "real"}}
    meta = {"type": "user", "uuid": "e2", "parentUuid": "e1", "sessionId": "s1", "isMeta": True}
    made = read(lines(real, meta | {"message": {"role": "user", "content": "harness: continue"}}))
    assert len(made.session.timeline.turns_list) == 1
    assert [item.injected for item in made.items] == [None, Injected.META]


@pytest.mark.parametrize("tag", expected("security-02")["no_tags"])
def test_security_02_markdown_keeps_no_active_tag(tag: str) -> None:
    """Raw HTML of a model's answer never becomes an element."""
    html = str(render_markdown(given("security-02")["text"])).lower()
    assert f"<{tag}" not in html


def test_security_02_markdown_keeps_no_dangerous_attribute() -> None:
    """No address but http, https and mailto, no htmx, no handler; what is harmless is rendered."""
    html = str(render_markdown(given("security-02")["text"]))
    inside = " ".join(part.partition(">")[0] for part in html.split("<")[1:]).lower()
    assert not any(name in inside for name in ("hx-", "onload", "style", "srcdoc", "src="))
    assert not any(f'href="{scheme}' in inside for scheme in expected("security-02")["no_url_scheme"])
    assert expected("security-02")["contains"] in html


def test_encoding_04_long_whole_numbers_are_shown_digit_by_digit() -> None:
    """What a tool returned as JSON keeps its digits, also those that no float can hold."""
    body = json.loads(given("encoding-04")["body"], parse_int=str, parse_float=str)["records"][0]["json"]
    raw = '{"order":107505301260286111,"f":1e22,"z":1.0}'
    assert body["order"] == expected("encoding-04")["shown"]
    call = {"id": "c1", "type": "function", "function": {"name": "order", "arguments": raw}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = f'{{"role":"tool","tool_call_id":"c1","content":{raw}}}'
    made = read(lines({"role": "user", "content": "go"}, answer) + result.encode())
    assert made.texts(Kind.TOOL_CALL) == [raw]
    (text,) = made.texts(Kind.TOOL_RESULT)
    assert expected("encoding-04")["shown"] in text
