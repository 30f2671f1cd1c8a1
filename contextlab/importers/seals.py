"""What a provider wants back byte by byte of its reasoning, found in a record as logged.

| block or item of a record                        | secret              | seal       | provider's own id |
|---------------------------------------------------|---------------------|------------|-------------------|
| `{"type": "thinking", "thinking", "signature"}`    | `signature`         | signature  | none              |
| `{"type": "redacted_thinking", "data"}`            | `data`              | redacted   | none              |
| `{"type": "reasoning", "id", "encrypted_content"}` | `encrypted_content` | encrypted  | `id`              |

These are the words of the providers, so that they are the same in every log that quotes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from contextlab.core.wire.conversation import Seal
from contextlab.importers.values import optional, text


@dataclass(slots=True, frozen=True)
class Sealed:
    """A piece of reasoning with what makes its provider take it back."""

    seal: Seal
    secret: str
    """Empty where there is only the provider's id."""
    text: str = ""
    provider_id: str | None = None


def seals_in(record: bytes) -> list[Sealed]:
    """The sealed reasoning of a record, in its order; [] where the record cannot be read."""
    try:
        value = json.loads(record.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return []
    return list(_walk(value))


def _walk(value: Any) -> Iterator[Sealed]:
    """Depth first, with a stack of its own: a record may be nested deeper than Python calls."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, dict):
            if (found := _sealed(one)) is not None:
                yield found
            else:
                waiting.extend(reversed(one.values()))


def _sealed(block: dict[str, Any]) -> Sealed | None:
    kind = block.get("type")
    if kind == "thinking" and (secret := text(block.get("signature"))):
        return Sealed(Seal.SIGNATURE, secret, text(block.get("thinking")))
    if kind == "redacted_thinking" and (secret := text(block.get("data"))):
        return Sealed(Seal.REDACTED, secret)
    if kind == "reasoning":
        secret, name = text(block.get("encrypted_content")), optional(block.get("id"))
        return Sealed(Seal.ENCRYPTED, secret, "", name) if secret or name else None
    return None
