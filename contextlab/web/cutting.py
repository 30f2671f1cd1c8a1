"""Texts of any size on pages of a bounded one: cut by their bytes, since a page's limit is one of bytes."""

from __future__ import annotations


def cut(text: str, most: int) -> tuple[str, bool]:
    """At most so many bytes of it (UTF-8, whole characters), and whether something is missing."""
    if len(text) * 4 <= most:
        return text, False
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= most:
        return text, False
    return encoded[:most].decode("utf-8", "ignore"), True


class Room:
    """What is left of a page's room for texts."""

    def __init__(self, most: int) -> None:
        """`most` in bytes."""
        self.left = most

    def takes(self, text: str) -> bool:
        """Whether the text still fits; it then counts."""
        size = len(text.encode("utf-8", "replace"))
        if size > self.left:
            return False
        self.left -= size
        return True
