"""Where a model may be asked: by its name before, by the address that it has at the moment of connecting."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from contextlab.adapters import openai_client
from contextlab.adapters.model_hosts import HostRule, address_of
from contextlab.adapters.openai_model import OpenAIModel
from contextlab.core.language_model import ModelError
from tests.adapters.asking import ASKED, KEY
from tests.support.fake_openai import FakeOpenAI, says, sends

SERVER = HostRule(local=False, listed=("api.example.com", "10.1.0.0/16", "127.0.0.1"))
PRIVATE = (
    "127.0.0.2", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
    "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "224.0.0.1", "fe80::1%eth0",
)  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_a_listed_name_at_an_address_that_is_not_public(address: str) -> None:
    """Refused in server mode, in whatever form the address is written."""
    assert "no public address" in SERVER.address("api.example.com", address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "10.1.2.3", "127.0.0.1", "::ffff:10.1.0.9"]
)
def test_a_public_address_or_a_listed_one(address: str) -> None:
    """What is public, and what the operator named as an address or a network."""
    assert SERVER.address("api.example.com", address) == ""


@pytest.mark.parametrize(
    ("host", "fine"),
    [
        ("api.example.com", True), ("API.Example.COM.", True), ("10.1.9.9", True), ("[::ffff:10.1.9.9]", True),
        ("api.example.com.evil.net", False), ("evil.net", False), ("10.2.0.1", False), ("", False),
        ("2130706433", False),
    ],
)  # fmt: skip
def test_names_in_server_mode(host: str, fine: bool) -> None:
    """The operator's list, compared as hosts are, not as texts."""
    assert (SERVER.name(host) == "") == fine


def test_local_mode() -> None:
    """Whatever the user set, but localhost must be on this machine, and nothing is at a link-local address."""
    rule = HostRule(local=True)
    assert rule.name("llm.home.lan") == ""
    assert rule.address("llm.home.lan", "192.168.1.5") == ""
    assert rule.address("localhost", "127.0.0.1") == rule.address("localhost", "::1") == ""
    assert "not on this machine" in rule.address("localhost", "93.184.216.34")
    assert "where no model is" in rule.address("llm.home.lan", "169.254.169.254")


def test_an_address_inside_another_one() -> None:
    """Two spellings of one address are one."""
    assert str(address_of("::ffff:127.0.0.1")) == "127.0.0.1"
    assert address_of("api.example.com") is None


def answering(monkeypatch: pytest.MonkeyPatch, *lists: list[str]) -> list[str]:
    """Names are resolved to these addresses, one list after the other; returns what was asked for."""
    asked: list[str] = []
    script = list(lists)

    def resolved(host: str, port: int) -> list[str]:
        asked.append(host)
        return script.pop(0) if len(script) > 1 else script[0]

    monkeypatch.setattr(openai_client, "resolve", resolved)
    return asked


def refusal(url: str, rule: HostRule) -> ModelError:
    with pytest.raises(ModelError) as caught:
        OpenAIModel(url, "m", KEY, rule=rule, timeout=5).complete(ASKED)
    return caught.value


def test_the_address_is_looked_at_when_the_connection_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listed name that turns out to be this machine is not asked, and says why."""
    answering(monkeypatch, ["127.0.0.2"])
    with FakeOpenAI(says("x")) as server:
        port = server.url.split(":")[2]
        error = refusal(f"http://api.example.com:{port}", SERVER)
        assert server.requests == []
    assert error.kind == "not_allowed"
    assert not error.retryable
    assert "127.0.0.2" in str(error)


def test_one_of_several_addresses_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """All addresses of a name are looked at."""
    answering(monkeypatch, ["93.184.216.34", "169.254.169.254"])
    assert refusal("http://api.example.com/v1", SERVER).kind == "not_allowed"


def test_what_was_looked_at_is_what_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is another address the second time (rebinding) is not resolved a second time."""
    asked = answering(monkeypatch, ["127.0.0.1"], ["169.254.169.254"])
    with FakeOpenAI(says("x")) as server:
        port = server.url.split(":")[2]
        reply = OpenAIModel(f"http://api.example.com:{port}", "m", KEY, rule=SERVER).complete(ASKED)
        assert server.requests[0].headers["host"].startswith("api.example.com:")
    assert reply.text == "x"
    assert asked == ["api.example.com"]


def test_the_next_address_is_tried_where_one_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """As every client does."""
    rule = HostRule(local=False, listed=("api.example.com", "127.0.0.0/8"))
    answering(monkeypatch, ["127.0.0.3", "127.0.0.1"])
    with FakeOpenAI(says("x")) as server:
        port = server.url.split(":")[2]
        assert OpenAIModel(f"http://api.example.com:{port}", "m", rule=rule).complete(ASKED).text == "x"


def test_a_redirect_is_not_followed() -> None:
    """Not to another host and not to the same: transcript and key stay."""
    with FakeOpenAI(says("caught")) as other:
        for place in (other.url + "/chat/completions", "/v1/elsewhere"):
            moved = sends(b"", 307, {"Location": place})
            with FakeOpenAI(moved) as server:
                assert refusal(server.url, HostRule()).kind == "bad_answer"
                assert len(server.requests) == 1
        assert other.requests == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_ignored_in_local_mode(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A transcript for this machine's model goes to no proxy."""
    for one in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(one, raising=False)
    with FakeOpenAI(says("proxied")) as proxy, FakeOpenAI(says("direct")) as server:
        monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        assert OpenAIModel(server.url, "m", rule=HostRule(local=True)).complete(ASKED).text == "direct"
        assert proxy.requests == []


def test_a_proxy_of_the_environment_is_used_in_server_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's way out; NO_PROXY goes around it and is looked at like any other."""
    for one in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(one, raising=False)
    rule = HostRule(local=False, listed=("127.0.0.1", "api.example.com"))
    with FakeOpenAI(says("proxied")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        assert OpenAIModel("http://api.example.com/v1", "m", rule=rule).complete(ASKED).text == "proxied"
        monkeypatch.setenv("NO_PROXY", "api.example.com")
        monkeypatch.setenv("no_proxy", "api.example.com")
        answering(monkeypatch, ["10.9.9.9"])
        assert refusal("http://api.example.com/v1", rule).kind == "not_allowed"


def test_a_name_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unreachable, to be tried again; the error does not tell the address."""

    def none(host: str, port: int) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(openai_client, "resolve", none)
    error = refusal("http://api.example.com/v1", SERVER)
    assert (error.kind, error.retryable) == ("unreachable", True)
