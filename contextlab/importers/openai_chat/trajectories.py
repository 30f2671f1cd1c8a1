"""What trajectories say beside their messages: the requests of their steps, the model, totals of the session."""

from __future__ import annotations

from typing import Any

from contextlab.core.events import Event, Note
from contextlab.importers.documents import Node
from contextlab.importers.values import count, mapping, optional


def queries_of(trajectory: Node | None) -> list[Node] | None:
    """The requests of a trajectory, one for each step; None when any step lacks its own."""
    if trajectory is None or trajectory.data[:1] != b"[":
        return None
    found = [step.fields().get("query") for step in trajectory.elements()]
    queries = [query for query in found if query is not None and query.data[:1] == b"["]
    return queries if queries and len(queries) == len(found) else None


def model_of(meta: dict[str, Any]) -> str | None:
    config = mapping(mapping(meta.get("info")).get("config"))
    replay = mapping(mapping(mapping(meta.get("replay_config")).get("agent")).get("model"))
    places = (meta.get("model"), mapping(config.get("model")).get("model_name"), replay.get("name"))
    return next((found for found in map(optional, places) if found), None)


def totals_of(meta: dict[str, Any]) -> Event | None:
    """Token totals that a trajectory gives for the whole session only; 0 means that nothing was counted."""
    stats = mapping(mapping(meta.get("info")).get("model_stats"))
    sent, received = count(stats.get("tokens_sent")), count(stats.get("tokens_received"))
    if not sent and not received:
        return None
    return Note("other", f"the log gives tokens for the whole session only: {sent} sent, {received} received")
