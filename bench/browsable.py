"""Whether an imported session can be browsed: its page and its first turns answer, with what the model saw.

python -m bench.browsable [--counted]   says what was found as JSON
python -m bench.browsable --watch       says "watching" once it is warm, and "ready" as soon as there is such a session
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from contextlab.store.models import Session

PAUSE = 0.05
"""Seconds between two looks."""


def main() -> int:
    """Exit code 1 when something does not answer; with --counted also when a token is not counted."""
    django.setup()
    if "--watch" in sys.argv:
        return _watch()
    session = _session()
    if session is None:
        print("no session")
        return 1
    found = _look(session)
    print(json.dumps(found))
    return 0 if _is_ready(found) and not ("--counted" in sys.argv and found["uncounted"]) else 1


def _watch() -> int:
    from django.test import Client

    Client().get("/", headers={"host": "localhost"})
    print("watching", flush=True)
    while (session := _session()) is None or not _is_ready(_look(session)):
        time.sleep(PAUSE)
    print("ready", flush=True)
    return 0


def _session() -> Session | None:
    from contextlab.store.models import Session

    return Session.objects.filter(role="").order_by("-items").first()


def _look(session: Session) -> dict[str, Any]:
    """What the pages and the API say of a session."""
    from django.test import Client

    from contextlab.store.models import ItemRecord

    client = Client()
    paths = [
        f"/sessions/{session.uid}",
        f"/api/sessions/{session.uid}/",
        f"/api/sessions/{session.uid}/turns/",
    ]
    answers = [client.get(path, headers={"host": "localhost"}).status_code for path in paths]
    first = client.get(f"/api/sessions/{session.uid}/steps/1/", headers={"host": "localhost"}).json()
    uncounted = ItemRecord.objects.filter(session=session, tokens=None).count()
    found = {"items": session.items, "steps": session.steps, "turns": session.turns, "uncounted": uncounted}
    return found | {"answers": answers, "report": first.get("report") is not None}


def _is_ready(found: dict[str, Any]) -> bool:
    return found["report"] and all(code == 200 for code in found["answers"])


if __name__ == "__main__":
    sys.exit(main())
