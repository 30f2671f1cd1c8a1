"""Whether an imported session can be browsed: its page and its first turns answer. Prints what was found as JSON."""

from __future__ import annotations

import json
import sys

import django


def main() -> int:
    """Exit code 1 when something does not answer; with --counted also when a token is not counted."""
    django.setup()
    from django.test import Client

    from contextlab.store.models import ItemRecord, Session

    session = Session.objects.filter(role="").order_by("-items").first()
    if session is None:
        print("no session")
        return 1
    client = Client()
    paths = [
        f"/sessions/{session.uid}",
        f"/api/sessions/{session.uid}/",
        f"/api/sessions/{session.uid}/turns/",
    ]
    answers = {path: client.get(path, headers={"host": "localhost"}).status_code for path in paths}
    first = client.get(f"/api/sessions/{session.uid}/steps/1/", headers={"host": "localhost"}).json()
    uncounted = ItemRecord.objects.filter(session=session, tokens=None).count()
    ready = all(code == 200 for code in answers.values()) and first["report"] is not None
    found = {"items": session.items, "steps": session.steps, "turns": session.turns, "uncounted": uncounted}
    print(json.dumps(found | {"answers": list(answers.values()), "report": first["report"] is not None}))
    return 0 if ready and not ("--counted" in sys.argv and uncounted) else 1


if __name__ == "__main__":
    sys.exit(main())
