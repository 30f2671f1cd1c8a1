"""Policy documents as people type them: JSON or TOML text, with errors that name the key, its place and its line.

policy = parse_policy_text('{"version": 1, ...}')      raises PolicyTextError (a PolicyError with a `line`)
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from contextlab.core.errors import PolicyError
from contextlab.core.policy import Policy, parse_policy

LONGEST = 64 * 1024
"""Characters of a document."""
JSON, TOML = "json", "toml"
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")


class PolicyTextError(PolicyError):
    """A text that is no policy. `line` counts from 1; None where it cannot be told."""

    def __init__(self, message: str, place: str = "", line: int | None = None) -> None:
        """`place` is the key, as in PolicyError."""
        super().__init__(message, place)
        self.line = line


def parse_policy_text(text: str) -> Policy:
    """The policy of a text; raises PolicyTextError."""
    document = read_policy_text(text)
    try:
        return parse_policy(document)
    except PolicyError as error:
        message = str(error).removeprefix(f"{error.place}: ")
        raise PolicyTextError(message, error.place, line_of(text, error.place)) from error


def read_policy_text(text: str) -> Mapping[str, Any]:
    """The document of a text, not looked into; raises PolicyTextError for what is neither JSON nor TOML."""
    if len(text) > LONGEST:
        raise PolicyTextError(f"the document has {len(text):,} characters; at most {LONGEST:,} are taken")
    if not text.strip():
        raise PolicyTextError("the document is empty: write a policy document in JSON or TOML")
    try:
        return _from_json(text) if form_of(text) == JSON else tomllib.loads(text)
    except json.JSONDecodeError as error:
        raise PolicyTextError(f"this is no JSON: {_said(error.msg)}", line=error.lineno) from error
    except tomllib.TOMLDecodeError as error:
        found = _TOML_PLACE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        raise PolicyTextError(
            f"this is no TOML: {_said(_TOML_PLACE.sub('', str(error)))}", line=line
        ) from error
    except RecursionError as error:
        raise PolicyTextError("the document is nested too deeply") from error
    except PolicyTextError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise PolicyTextError(f"the document cannot be read: {error}") from error


def form_of(text: str) -> str:
    """json where a text begins like JSON, else toml."""
    return JSON if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else TOML


def write_json(document: Mapping[str, object]) -> str:
    """A document as JSON text to be read and edited."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False) + "\n"


def line_of(text: str, place: str) -> int | None:
    """The line of a key: its names are looked for one behind the other, and only as far as they are found."""
    at, line = 0, None
    for name in re.findall(r"[^.\[\]]+", re.sub(r"\[\d+\]", "", place)):
        found = re.compile(rf"(?<![\w-])[\"']?{re.escape(name)}[\"']?\s*[:=\]]").search(text, at)
        if found is None:
            break
        at, line = found.end(), text.count("\n", 0, found.start()) + 1
    return line


def _said(message: str) -> str:
    """A parser's words in the middle of a sentence."""
    return message[:1].lower() + message[1:]


def _from_json(text: str) -> Mapping[str, Any]:
    found = json.loads(text.lstrip("\ufeff"), object_pairs_hook=_once, parse_constant=_no_constant)
    if not isinstance(found, dict):
        raise PolicyTextError(f"a policy is an object with keys, not {type(found).__name__}")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise PolicyTextError("is given twice", key[:80])
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise PolicyTextError(f"{name} is no number that JSON knows")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
