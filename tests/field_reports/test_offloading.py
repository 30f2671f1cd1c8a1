"""Reports about originals that were put aside: torn characters, records that vanish, results folded unread."""

from __future__ import annotations

from contextlab.core.agent.reload_tool import ReloadTool
from contextlab.core.auto_context.preview import CUT, preview
from contextlab.core.auto_context.tags import body, offload_of
from contextlab.core.compaction import Deps, Snapshot
from contextlab.core.items import Item, Kind
from contextlab.core.offload import InMemoryOffloadStore
from contextlab.core.policies.auto_context import AutoContext
from contextlab.core.testing import ScriptedModel

from .reports import expected, given


def test_encoding_03_a_preview_splits_no_emoji():
    """It ends with a whole one and is not longer than it may be."""
    report, checks = given("encoding-03"), expected("encoding-03")
    unit = report["text"]["$repeat"]
    for part in (unit, "👩‍👩‍👧", "e\u0301"):
        seen = preview(part * report["text"]["n"], report["previewChars"])
        assert seen.encode() == seen.encode("utf-8", "strict")
        assert seen == part * (len(seen) // len(part))
        assert len(seen) <= checks["preview_chars_at_most"]


def test_fidelity_02_no_record_vanishes():
    """The preview says that it is cut; what is reloaded is the text, byte by byte."""
    report = given("fidelity-02")
    call = Item("c", Kind.TOOL_CALL, "{}", tool="rows", call_id="k")
    items = (Item("q", Kind.USER, "q"), call, Item("r", Kind.TOOL_RESULT, report["text"], call_id="k"))
    policy = AutoContext.from_options(
        {"msg_threshold": 1, "last_keep": 0, "large_payload_threshold": report["threshold"]}, "safe"
    )
    outcome = policy.compact(Snapshot((*items, Item("a", Kind.ASSISTANT, "done"))), Deps())
    store = InMemoryOffloadStore()
    for offload in outcome.offloads:
        store.put(offload)
    shown = outcome.memory.items[2].text
    assert body(shown).endswith(CUT)
    assert ReloadTool(store).call(offload_of(shown)).encode() == report["text"].encode()


def test_live_request_03_an_unread_result_stays_structured():
    """With keep_unread_results strategy 6 leaves call and result side by side; without it the report says so."""
    report = given("live_request-03")
    asked, call, result = report["items"][2:]
    items = (
        Item("m3", Kind.USER, asked["content"]),
        Item("m4", Kind.TOOL_CALL, call["tool_calls"][0]["function"]["arguments"], tool="sql", call_id="c9"),
        Item("m5", Kind.TOOL_RESULT, result["content"], call_id="c9"),
    )
    options = {"msg_threshold": 1, "keep_unread_results": True}
    deps = Deps(model=ScriptedModel.saying([report["summarizer"]["returns"]]))
    assert not AutoContext.from_options(options, "safe").compact(Snapshot(items), deps).compacted
    folded = AutoContext.from_options({"msg_threshold": 1}, "safe").compact(Snapshot(items), deps)
    assert any("unread" in note for note in folded.result.report.notes)
