"""claude-mem: the reader of answers, their classes, what becomes of them, the hash, the economics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from contextlab.core.memory_keeping.batches import Fate, judged, once
from contextlab.core.memory_keeping.economics import economics
from contextlab.core.memory_keeping.observations import Observation, content_hash
from contextlab.core.memory_keeping.replies import class_of, read_reply
from contextlab.core.summarising.file_tracking import Files
from tests.core.conformance.cases import case_by_id
from tests.core.conformance.given import Unsupported


def run(case: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """What one case gives."""
    parts: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
        "xml_parser": _parser,
        "classifier": _classifier,
        "token_economics": _economics,
        "content_hash": _hash,
    }
    part = parts.get(case["component"])
    if part is None:
        raise Unsupported(f"unknown component {case['component']!r}")
    return part(case)


def _parser(case: Mapping[str, Any]) -> dict[str, Any]:
    reply = read_reply(case["input"]["text"], case["options"]["types"])
    batch = judged(case["input"]["text"], types=case["options"]["types"])
    made = reply.observations
    return {
        "valid": reply.valid,
        "skipped": reply.skipped,
        "skip_reason": reply.skip_reason,
        "stored_rows": len(batch.observations) + (batch.summary is not None),
        "observations": made,
        "observation_count": len(made),
        "types": [one.type for one in made],
        "concepts": [concept for one in made for concept in one.concepts],
        "title": made[0].title if made else None,
        "summary": None
        if reply.summary is None
        else {name: getattr(reply.summary, name) for name in reply.summary.__slots__},
        "summary_request": None if reply.summary is None else reply.summary.request,
    }


def _classifier(case: Mapping[str, Any]) -> dict[str, Any]:
    return {"classes": [str(class_of(text)) for text in case["input"]["texts"]]}


def _economics(case: Mapping[str, Any]) -> dict[str, Any]:
    given = case["input"]
    rows = [given["observation"]] if "observation" in given else given["observations"]
    made = [_sized(row) for row in rows]
    costs = [row.get("discovery_tokens") for row in rows]
    found = economics(made, costs, given.get("raw_tokens"))
    return {
        "read_tokens": found.read,
        "read": found.read,
        "discovery": found.discovery,
        "savings": found.savings,
        "savings_percent": found.savings_percent,
        "compression_ratio": found.ratio,
    }


def _sized(row: Mapping[str, Any]) -> Observation:
    if rest := set(row) - {"title_chars", "narrative_chars", "discovery_tokens"}:
        raise Unsupported(f"unknown keys of an observation: {sorted(rest)}")
    return Observation("change", "t" * row.get("title_chars", 0), None, "n" * row.get("narrative_chars", 0))


def _hash(case: Mapping[str, Any]) -> dict[str, Any]:
    given = case["input"]
    if "store" in given:
        return _stored(given["store"], given["gap_ms"])
    if "batch" in given:
        return _stored([(name, None) for name in given["batch"]], 0)
    if "session" in given:
        return {"hash": content_hash(given["session"], given["title"], given["narrative"])}
    hashes = {name: content_hash(*given[name]) for name in given}
    equal = {f"{a}_equals_{b}": hashes[a] == hashes[b] for a in hashes for b in hashes if a != b}
    return equal | {f"hash_{name}": value for name, value in hashes.items()}


def _stored(rows: list[Any], gap_ms: int) -> dict[str, Any]:
    """By the rule of every store: the first row of a hash stays. No time is looked at, so no gap counts."""
    assert gap_ms >= 0
    by_hash: dict[str, str | None] = {}
    for name, agent in rows:
        by_hash.setdefault(Observation("change", name).content_hash("s"), agent)
    kept = once([Observation("change", name) for name, _ in rows], "s")
    ids = {one.content_hash("s") for one in kept}
    return {"rows": len(kept), "ids_equal": len(ids) == 1, "agent_id": next(iter(by_hash.values()))}


def _skipped(mode: str) -> dict[str, Any]:
    """CMEM-36."""
    batch = judged(case_by_id("CMEM-36")["input"]["text"])
    return {
        "summary_rows": int(batch.summary is not None),
        "batch_confirmed": batch.confirmed,
        "skip_recorded": batch.fate == Fate.SKIPPED and batch.skip_reason is not None,
    }


def _prose(mode: str) -> dict[str, Any]:
    """CMEM-37."""
    texts = case_by_id("CMEM-37")["input"]["texts"]
    batches = [judged(text) for text in texts]
    assert all(batch.preview == text for batch, text in zip(batches, texts, strict=True))
    return {"batch": ["confirmed" if batch.confirmed else "pending" for batch in batches]}


def _files(mode: str) -> dict[str, Any]:
    """CMEM-38."""
    given = case_by_id("CMEM-38")["input"]
    claimed = "".join(
        f"<files_{what}>{''.join(f'<file>{name}</file>' for name in given['claimed'][what])}</files_{what}>"
        for what in ("read", "modified")
    )
    text = f"<observation><title>t</title>{claimed}</observation>"
    made = judged(text, Files(given["evidence"]["read"], given["evidence"]["modified"])).observations[0]
    return {"files_read": made.files_read, "files_modified": made.files_modified}


PROSE = {"CMEM-36": _skipped, "CMEM-37": _prose, "CMEM-38": _files}
