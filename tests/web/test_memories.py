"""The memories pages: noted by rules at a click, found again, given to a new session; user memories with undo."""

from __future__ import annotations

import pytest
from django.test import Client

from contextlab.services.actions import perform
from contextlab.services.memories import change_settings, users
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import ObservationRecord, Run, Session, UserMemoryRecord
from tests.services.doing import import_well
from tests.services.memories.test_observing import SAMPLE
from tests.support.fake_openai import FakeOpenAI, says

pytestmark = [pytest.mark.django_db, pytest.mark.database]
HOSTILE = '<script>alert(1)</script>{{ 7|add:1 }}"><img src=x onerror=alert(2)>'


@pytest.fixture
def session() -> Session:
    return import_well(next(SAMPLE.rglob("5d1c9a74*.jsonl")))


def text(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, address
    return answer.content.decode()


def noted(client: Client, session: Session) -> str:
    """The session's page once its turns are read by rules."""
    answer = client.post(f"/sessions/{session.uid}/observe", {"method": "rules"})
    assert answer.status_code == 302
    perform(Run.objects.get(kind="observe"))
    return text(client, answer["Location"])


def test_noted_at_a_click(client: Client, session: Session) -> None:
    """Before: what to do and that no model is asked; while it goes on: progress; then observations by turn."""
    before = text(client, f"/sessions/{session.uid}/memories")
    assert "summary missing" in before
    assert "asks no model" in before
    client.post(f"/sessions/{session.uid}/observe", {"method": "rules"})
    assert "<progress" in text(client, f"/sessions/{session.uid}/memories")
    page = noted(client, session)
    assert "by rules, no model" in page
    assert "summary missing" not in page
    assert "nothing: no model was asked" in page
    assert f"/sessions/{session.uid}/turns/2" in page
    assert "1 observation</a>" in text(client, f"/sessions/{session.uid}")
    turn = text(client, f"/sessions/{session.uid}/turns/2")
    assert "What this turn brought to light" in turn


def test_found_again(client: Client, session: Session) -> None:
    """Every filter narrows the list, the state stands in the address, and nothing found says what to do."""
    assert "Nothing has been noted yet" in text(client, "/memories")
    noted(client, session)
    every = text(client, "/memories")
    assert "What they cost and save" in every
    assert '<svg class="costs"' in every
    rule = text(client, "/memories?type=decision&q=migrations")
    assert "never edit anything under migrations/" in rule
    assert "No observation matches" in text(client, "/memories?q=zzzz")
    assert "No observation matches" in text(client, "/memories?file=/nowhere")
    one = ObservationRecord.objects.filter(type="decision").first()
    assert one is not None
    assert "Facts" in text(client, f"/memories/{one.uid}")
    text(client, "/memories/00000000-0000-0000-0000-000000000000", 404)
    text(client, "/memories?q=%00&cursor=nonsense&type=" + "x" * 900)


def test_a_block_for_a_new_session(client: Client, session: Session) -> None:
    """The block keeps to its budget; too small a one says that nothing fits."""
    noted(client, session)
    assert "tokens" in text(client, "/memories/new-session?budget=600&words=migrations")
    assert "Nothing fits" in text(client, "/memories/new-session?budget=1")
    text(client, "/memories/new-session?budget=x&chosen=nonsense&files=%00")


def test_a_model_is_asked_after_a_look(client: Client, session: Session, settings) -> None:
    """Tokens and cost come first; without leave the page says where to give it."""
    assert "No model is set" in text(client, f"/sessions/{session.uid}/memories?model")
    with FakeOpenAI(says("<observation><title>t</title></observation>")) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME = server.url, "gpt-4o"
        assert "allow it in the settings" in text(client, f"/sessions/{session.uid}/memories?model")
        client.post("/memories/settings", {"allow_model": "1", "add_memory": "1"})
        assert "Ask the model" in text(client, f"/sessions/{session.uid}/memories?model")
        refused = client.post(f"/sessions/{session.uid}/observe", {"method": "model"})
        assert refused.status_code == 400
        assert server.requests == []
        assert (
            client.post(f"/sessions/{session.uid}/observe", {"method": "model", "confirm": "1"}).status_code
            == 302
        )


def test_prompts_with_a_look(client: Client, session: Session) -> None:
    """A prompt that cannot work is refused and kept on the page; a look shows what would be sent, and sends nothing."""
    refused = client.post("/memories/prompts", {"project": "", "observe": "no tag here", "summarise": ""})
    assert refused.status_code == 400
    assert "no tag here" in refused.content.decode()
    own = "Mine: <observation>…</observation>"
    assert client.post("/memories/prompts", {"observe": own, "summarise": ""}).status_code == 302
    look = client.post(
        "/memories/prompts/preview", {"session": str(session.uid), "turn": "2", "observe": own}
    )
    assert "Mine: &lt;observation&gt;" in look.content.decode()
    assert (
        "has no turn"
        in client.post(
            "/memories/prompts/preview", {"session": str(session.uid), "turn": "99"}
        ).content.decode()
    )


def test_user_memories(client: Client) -> None:
    """Added, edited, taken away and undone by hand; each step is in the history, and markup is text."""
    assert "Nothing is known of default" in text(client, "/memories/users")
    assert client.post("/memories/users", {"user": "me", "memory": " "}).status_code == 400
    assert (
        client.post("/memories/users", {"user": "me", "memory": HOSTILE, "topics": "a, b"}).status_code == 302
    )
    listed = text(client, "/memories/users?user=me")
    assert "<script>alert" not in listed
    assert "onerror=alert(2)>" not in listed
    row = UserMemoryRecord.objects.get()
    address = f"/memories/users/{row.uid}"
    assert client.post(f"{address}/edit", {"memory": "likes tea", "topics": "food"}).status_code == 302
    assert client.post(f"{address}/delete").status_code == 302
    assert "taken away" in text(client, address)
    assert client.post(f"{address}/undo").status_code == 302
    page = text(client, address)
    assert all(event in page for event in ("restored", "deleted", "updated", "added"))


def test_merged_and_kept_from_a_session(client: Client, session: Session, settings) -> None:
    """The chosen ones become one; what the user said in a session is kept by the model after a click."""
    made = [users.add(local_workspace(), "me", memory) for memory in ("likes tea", "lives in Bonn")]
    merged = client.post("/memories/users/merge", {"user": "me", "memory": [one.id for one in made]})
    assert "likes tea lives in Bonn" in text(client, merged["Location"])
    assert client.post("/memories/users/merge", {"user": "me", "memory": [made[0].id]}).status_code == 400
    assert client.post(f"/sessions/{session.uid}/remember", {"user": "me", "confirm": "1"}).status_code == 400
    calls = '{"calls": [{"tool": "add_memory", "memory": "Never edits migrations."}]}'
    with FakeOpenAI(says(calls)) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME = server.url, "gpt-4o"
        change_settings(local_workspace(), {"allow_model": True})
        kept = client.post(f"/sessions/{session.uid}/remember", {"user": "me", "confirm": "1"})
        assert kept.status_code == 302
        perform(Run.objects.get(kind="remember"))
        assert "never edit anything under migrations" in str(server.requests[0].body)
    assert "Never edits migrations." in text(client, kept["Location"])


def test_make_one_of_many(client: Client, settings) -> None:
    """The button stands only where a model may be asked; the merged memory leads to undo."""
    workspace = local_workspace()
    for memory in ("likes tea", "lives in Bonn"):
        users.add(workspace, "me", memory)
    assert "No model is set" in text(client, "/memories/users?user=me")
    with FakeOpenAI(says("Likes tea, lives in Bonn.")) as server:
        settings.MODEL_BASE_URL, settings.MODEL_NAME = server.url, "gpt-4o"
        change_settings(workspace, {"allow_model": True})
        assert client.post("/memories/users/optimise", {"user": "me", "confirm": "1"}).status_code == 302
        assert "<progress" in text(client, "/memories/users?user=me")
        perform(Run.objects.get(kind="remember"))
    assert "Likes tea, lives in Bonn." in text(client, "/memories/users?user=me")
