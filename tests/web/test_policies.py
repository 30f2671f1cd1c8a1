"""The policies page: the list, the editor, versions, a look at a policy on a session; hostile and broken documents."""

from __future__ import annotations

import json
import uuid

import pytest
from django.test import Client

from contextlab.core.documents.presets import PRESETS
from contextlab.core.policy import BUILTINS
from contextlab.services import policies
from contextlab.services.workspaces import local_workspace
from contextlab.store.models import PolicyDocument, Session, View, Workspace
from tests.services.test_policies import RULES, TOML, made, text
from tests.web.pages import Page, read

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NAMES = [
    "<script>alert('zqz')</script>",
    "zqz\"><img src=x onerror=alert(1)>",
    "zqz' onmouseover='alert(1)",
    "zqz\" hx-get=\"/data/delete\" hx-trigger=\"load",
    "zqz</textarea></select></option></table><iframe>",
    "{{ zqz }}{% csrf_token %}",
    "zqz&#60;script&#62;?view=x&y=%00#",
    "//evil.example/zqz",
    "javascript:alert('zqz')",
]  # fmt: skip
BROKEN = [
    "", "{", "[]", "null", '"text"', "version = ", '{"version": 1}', "\x00", "{" * 10_000, "9" * 10_000,
    text(projector={"kind": ["default"]}), text(projector={"kind": "chain", "stages": "x"}),
    text(trigger={"kind": "any_of", "triggers": [{"kind": "any_of", "triggers": []}]}),
    text(compaction={"kind": "incremental_window", "compressor": {"kind": "chain", "members": [7]}}),
    text(projector={"kind": "turn_window", "context_compressor": {"kind": "text_excerpt", "max_characters": 0}}),
    text(projector={"kind": "default", "max_items": 1e300}), text(name={"a": 1}), text(name="a\x00b"),
    '{"version": 1, "name": "x", "projector": {"kind": "default", "max_items": 1e999}}',
]  # fmt: skip


def hrefs(page: Page) -> set[str]:
    return {link.get("href", "") for link in page.all("a")}


def test_the_list_shows_all_policies(client: Client) -> None:
    """Built-in policies, presets and one's own stand in the list; without own ones it says what to do."""
    page = read(client.get("/policies"))
    assert "No policy of your own yet" in page.text
    assert all(name in page.text for name in (*BUILTINS, *PRESETS))
    policy = made("quite mine")
    page = read(client.get("/policies"))
    assert "quite mine" in page.text
    assert f"/policies/{policy.uid}" in hrefs(page)
    assert "asks a model" in page.text


@pytest.mark.parametrize("name", ["keep-all", "rule-based", "agents-flex-window"])
def test_a_new_policy_begins_from_another(client: Client, name: str) -> None:
    """The editor holds the document of the one that was chosen, under a free name; saving it opens it."""
    page = read(client.get("/policies/new", {"from": name}))
    (area,) = page.all("textarea")
    assert area["name"] == "text"
    assert f'"my {name}"' in page.text
    answer = client.post("/policies/new", {"text": policies.text_from(local_workspace(), name)})
    assert answer.status_code == 302
    assert read(client.get(answer["Location"])).text.count(f"my {name}") > 1
    assert client.get("/policies/new", {"from": "nobody"}).status_code == 404


def test_a_new_policy_begins_from_a_part(client: Client) -> None:
    """Every installed projector and compaction policy can be begun from, and gives a document that can be used."""
    page = read(client.get("/policies"))
    begun = [
        one
        for one in hrefs(page)
        if one.startswith(("/policies/new?projector=", "/policies/new?compaction="))
    ]
    assert len(begun) > 8
    for address in begun:
        (area,) = read(client.get(address)).all("textarea")
        assert area["name"] == "text"
    created = policies.create(
        local_workspace(), policies.text_with(local_workspace(), "compaction", "rule_based")
    )
    assert created.document["compaction"] == {"kind": "rule_based"}
    assert client.get("/policies/new?projector=nobody").status_code == 404


def test_editing_saves_a_version(client: Client) -> None:
    """A save is a new version that the page lists; what browsers do to line ends is undone."""
    policy = made()
    edited = TOML.replace("small", "mine").replace("4", "7")
    answer = client.post(f"/policies/{policy.uid}", {"text": edited.replace("\n", "\r\n"), "version": "1"})
    assert answer.status_code == 302
    policy.refresh_from_db()
    assert (policy.version, policy.text) == (2, edited)
    page = read(client.get(f"/policies/{policy.uid}"))
    assert {f"/policies/{policy.uid}/versions/{n}" for n in (1, 2)} <= hrefs(page)
    assert "max_items 7" in page.text


def test_what_is_wrong_is_told_with_its_line_and_nothing_is_lost(client: Client) -> None:
    """A refused document comes back with its text, the line and the key."""
    policy = made()
    wrong = TOML.replace("max_items", "max_itemz")
    for address in (f"/policies/{policy.uid}", "/policies/new"):
        page = read(client.post(address, {"text": wrong, "version": "1"}), 400)
        assert "Line 7." in page.text
        assert "projector.max_itemz" in page.text
        assert "max_itemz = 4" in page.text
    policy.refresh_from_db()
    assert policy.version == 1


def test_of_two_editors_the_second_is_told(client: Client) -> None:
    """Saving over a version that was replaced meanwhile keeps the typed text, and saving again goes through."""
    policy = made()
    policies.save(policy, text(mode="reference"), 1)
    mine = text(require_gain=False)
    page = read(client.post(f"/policies/{policy.uid}", {"text": mine, "version": "1"}), 409)
    assert "Another version was saved" in page.text
    (hidden,) = page.all("input", name="version")
    assert (
        client.post(f"/policies/{policy.uid}", {"text": mine, "version": hidden["value"]}).status_code == 302
    )
    assert PolicyDocument.objects.get().version == 3


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_documents_are_refused_with_words(client: Client, session: Session, broken: str) -> None:
    """Whatever is typed: saving, checking and looking answer with words, never with a fault."""
    policy = made()
    fields = {"text": broken, "version": "1", "session": str(session.uid)}
    assert client.post("/policies/new", fields).status_code == 400
    assert client.post(f"/policies/{policy.uid}", fields).status_code == 400
    assert client.post("/policies/preview", fields).status_code == 400
    checked = client.post("/policies/check", fields)
    assert checked.status_code == 200
    assert "danger" in checked.content.decode()
    assert PolicyDocument.objects.count() == 1


def test_the_check_says_what_a_document_does(client: Client) -> None:
    """While one types, a line says what the document does, or what is wrong with it."""
    said = client.post("/policies/check", {"text": TOML}).content.decode()
    assert "max_items 4" in said
    assert (
        "Line 7: projector.max_itemz"
        in client.post("/policies/check", {"text": TOML.replace("max_items", "max_itemz")}).content.decode()
    )


def test_a_look_at_a_session(client: Client, session: Session) -> None:
    """A preview tells what is kept and summarised, and where memory is compacted; nothing is written."""
    document = text(
        "rules", compaction=RULES, trigger={"kind": "items", "max_items": 12}, projector={"kind": "default"}
    )
    fields = {"text": document, "session": str(session.uid), "step": ""}
    page = Page(client.post("/policies/preview", fields, headers={"HX-Request": "true"}).content.decode())
    assert f"Step {session.steps} of {session.steps}" in page.text
    assert "items > 12" in page.text
    assert "summarised" in page.text
    assert "Step 2 of" in client.post("/policies/preview", fields | {"step": "2"}).content.decode()
    asks = text("asks", compaction={"kind": "llm_summary"}, trigger={"kind": "items", "max_items": 12})
    assert (
        "would fire here: needs a model"
        in client.post("/policies/preview", fields | {"text": asks}).content.decode()
    )
    assert not View.objects.exclude(name="recorded").exists()
    assert not PolicyDocument.objects.exists()
    for wrong in ("", "x", str(uuid.uuid4())):
        assert client.post("/policies/preview", fields | {"session": wrong}).status_code == 400


def test_choosing_a_policy_for_a_session(client: Client, session: Session) -> None:
    """From the list to the session under the policy; the view switch offers it from there on."""
    made("quite & mine")
    page = read(client.get("/policies", {"session": str(session.uid)}))
    address = f"/policies/choose?session={session.uid}&policy=quite%20%26%20mine"
    assert address in hrefs(page)
    answer = client.get(address)
    assert answer["Location"] == f"/sessions/{session.uid}?view=quite+%26+mine"
    page = read(client.get(answer["Location"]))
    assert [link for link in page.all("a", aria_current="true") if link.get("class") == "chip"]
    assert "quite & mine" in page.text
    assert client.get(address.replace("mine", "nobody")).status_code == 404
    assert client.get(f"/sessions/{session.uid}?view=nobody").status_code == 404
    assert client.get(f"/sessions/{session.uid}?view=rule-based").status_code == 200


def test_a_step_tells_the_summary_that_stands_in_its_memory(client: Client, session: Session) -> None:
    """A step behind a compaction of its view shows who wrote the summary, why, and what it says."""
    from tests.services.test_policies import view_of

    made("rules", compaction=RULES, trigger={"kind": "items", "max_items": 12}, projector={"kind": "default"})
    view_of(session, "rules")
    page = read(client.get(f"/sessions/{session.uid}/steps/{session.steps}?view=rules"))
    assert "Summary in this memory" in page.text
    assert "no model wrote it" in page.text
    assert (
        "Summary in this memory" not in read(client.get(f"/sessions/{session.uid}/steps/1?view=rules")).text
    )


def test_versions_and_their_differences(client: Client) -> None:
    """A version shows what changed from the one before and since; an old one can be put in force again."""
    policy = policies.create(local_workspace(), TOML)
    policies.save(policy, TOML.replace("4", "5"), 1)
    policies.save(policy, TOML.replace("4", "6"), 2)
    page = read(client.get(f"/policies/{policy.uid}/versions/2"))
    assert "− gone: max_items = 4" in page.text
    assert "+ new: max_items = 5" in page.text
    assert "+ new: max_items = 6" in page.text
    assert "The first version" in read(client.get(f"/policies/{policy.uid}/versions/1")).text
    (again,) = page.all("input", name="text")
    client.post(f"/policies/{policy.uid}", {"text": again["value"], "version": "3"})
    policy.refresh_from_db()
    assert (policy.version, policy.text) == (4, TOML.replace("4", "5"))
    assert client.get(f"/policies/{policy.uid}/versions/9").status_code == 404


def test_duplicate_and_delete(client: Client) -> None:
    """A copy opens under a name of its own; deleting asks first, in a dialog or on a page."""
    policy = made()
    copy = client.post(f"/policies/{policy.uid}/duplicate")
    assert "my mine" in read(client.get(copy["Location"])).text
    assert client.get(f"/policies/{policy.uid}/duplicate").status_code == 405
    assert "Delete this policy?" in read(client.get(f"/policies/{policy.uid}/delete")).text
    asked = client.get(f"/policies/{policy.uid}/delete", headers={"HX-Request": "true"}).content.decode()
    assert asked.lstrip().startswith("<form")
    assert client.post(f"/policies/{policy.uid}/delete")["Location"] == "/policies"
    assert client.get(f"/policies/{policy.uid}").status_code == 404


def test_policies_of_others_are_not_there(client: Client) -> None:
    """Another workspace's policies are neither listed nor opened, by whatever address."""
    local_workspace()
    other = policies.create(Workspace.objects.create(), text("theirs"))
    assert "theirs" not in read(client.get("/policies")).text
    for rest in ("", "/delete", "/versions/1"):
        assert client.get(f"/policies/{other.uid}{rest}").status_code == 404
    assert client.post(f"/policies/{other.uid}/duplicate").status_code == 404
    assert client.post(f"/policies/{other.uid}/delete").status_code == 404
    assert PolicyDocument.objects.filter(pk=other.pk).exists()


@pytest.mark.parametrize("name", NAMES)
def test_names_are_text_wherever_they_are_shown(client: Client, session: Session, name: str) -> None:
    """A name never becomes markup, an attribute or an address on any page that shows it."""
    policy = policies.create(local_workspace(), text(name))
    addresses = [
        "/policies", f"/policies?session={session.uid}", f"/policies/{policy.uid}", f"/policies/{policy.uid}/delete",
        f"/policies/{policy.uid}/versions/1", f"/sessions/{session.uid}", f"/sessions/{session.uid}/steps/1",
        f"/sessions/{session.uid}/compact",
    ]  # fmt: skip
    for address in addresses:
        page = read(client.get(address))
        assert not page.all("iframe")
        assert not page.all("img")
        assert all(script["src"].startswith("/static/") for script in page.all("script"))
        assert not [tag for tag, values in page.elements if any(key.startswith("on") for key in values)]
    assert name in Page(client.get("/policies").content.decode()).text
    chosen = client.get("/policies/choose", {"session": str(session.uid), "policy": name})
    assert chosen["Location"].startswith(f"/sessions/{session.uid}?view=")
    assert read(client.get(chosen["Location"]))


def test_texts_of_documents_are_text(client: Client) -> None:
    """A comment in a document closes no element of the editor, of a version or of a difference."""
    hostile = TOML + "# </textarea><script>alert('zqz')</script>\n"
    policy = policies.create(local_workspace(), hostile)
    policies.save(policy, hostile + "# more\n", 1)
    for rest in ("", "/versions/1", "/versions/2"):
        page = read(client.get(f"/policies/{policy.uid}{rest}"))
        assert "alert('zqz')" in page.text


def test_the_schema_is_served(client: Client) -> None:
    """The JSON Schema of documents is at an address of its own."""
    answer = client.get("/policies/schema.json")
    assert answer["Content-Type"] == "application/schema+json"
    assert "rule_based" in json.dumps(answer.json())


@pytest.mark.parametrize("address", ["/policies", "/policies/preview", "/policies/check", "/policies/choose"])
def test_wrong_methods_have_the_look_of_all_errors(client: Client, address: str) -> None:
    """An address that is posted to cannot be opened, and the other way round."""
    ask = client.get if address in ("/policies/preview", "/policies/check") else client.post
    assert ask(address).status_code == 405


def test_a_session_is_chosen_on_the_list(client: Client, session: Session) -> None:
    """Who comes without a session chooses one there, and then every policy leads to that session under it."""
    page = read(client.get("/policies"))
    (option,) = page.all("option")
    assert option["value"] == str(session.uid)
    chosen = read(client.get("/policies", {"session": option["value"]}))
    wanted = {f"/policies/choose?session={session.uid}&policy={name}" for name in (*BUILTINS, *PRESETS)}
    assert wanted <= hrefs(chosen)
    answer = client.get("/policies/choose", {"session": option["value"], "policy": "rule-based"})
    assert answer["Location"] == f"/sessions/{session.uid}?view=rule-based"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the document is empty"),
        ("{", "Line 1. this is no JSON: expecting property name"),
        ('version = 1\nname = "x"\nmax =\n', "Line 3. this is no TOML: invalid value"),
        ('{"version": 1, "name": "x", "nonsense": 2}', "Line 1. nonsense: unknown key"),
        ("x" * 1_000_000, "the document has 1,000,000 characters; at most 65,536 are taken"),
        ('{"version": 1, "name": "keep-all"}', "'keep-all' comes with ContextLab"),
    ],
)
def test_a_text_that_is_no_policy_is_refused_in_a_sentence(client: Client, text: str, words: str) -> None:
    """What is wrong, where, and that nothing was saved; what was typed stays in the editor."""
    answer = client.post("/policies/new", {"text": text})
    page = read(answer, 400) if len(text) < 1000 else None
    told = page.text if page else answer.content.decode()
    assert answer.status_code == 400
    assert words in told.replace("&#x27;", "'")
    assert not PolicyDocument.objects.exists()
