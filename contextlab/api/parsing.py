"""Bodies of requests: JSON whose texts can be stored and told again."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import JSONParser

from contextlab.api.errors import bad_value
from contextlab.core.texts import SURROGATES


class TextParser(JSONParser):
    """JSON without lone surrogates: no database column and no answer can hold one.

    Events that agents send do not come this way: they are cleaned, so that nothing of them is lost.
    """

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The document; raises ParseError, and ApiError that names the body."""
        raw = stream.read()
        document = super().parse(io.BytesIO(raw), media_type, parser_context)
        if b"\\ud" in raw.lower() and _lone(document):
            raise bad_value(
                "body", "The body holds half of a surrogate pair, which is no character: \\ud800 to \\udfff."
            )
        return document


def _lone(value: Any) -> bool:
    """Whether a text in it cannot be written; what is nested too deep was refused when it was read."""
    found = [value]
    while found:
        one = found.pop()
        if isinstance(one, str):
            if SURROGATES.search(one):
                return True
        elif isinstance(one, dict):
            found += [*one, *one.values()]
        elif isinstance(one, list):
            found += one
    return False
