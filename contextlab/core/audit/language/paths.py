"""One file under several paths: absolute, relative to the project, relative to a folder, by its name alone.

Two paths name one file when one is the end of the other and nothing else ends so. Compared in parts and in one case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from contextlab.core.audit.language.normalise import path_parts

Parts = tuple[str, ...]


def ends_alike(left: Parts, right: Parts) -> bool:
    """Whether one path is the end of the other; a bare name is only itself."""
    size = min(len(left), len(right))
    return left[-size:] == right[-size:] and (size > 1 or len(left) == len(right))


class PathGroups:
    """Names for files, so that each has one: the longest path that is known for it, as it was written."""

    def __init__(self, paths: Iterable[str]) -> None:
        """All paths that are to be told apart."""
        self._names: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        written: dict[Parts, str] = {}
        for path in paths:
            parts = path_parts(path)
            if parts:
                written.setdefault(parts, path)
        by_last: dict[str, list[Parts]] = defaultdict(list)
        for parts in sorted(written, key=len, reverse=True):
            longer = self._ends_so(parts, by_last[parts[-1]])
            if longer is None:
                by_last[parts[-1]].append(parts)
                self._names["/".join(parts)] = written[parts]
            else:
                self._names["/".join(parts)] = written[longer]
        self.by_last: dict[str, list[Parts]] = dict(by_last)

    def name(self, path: str) -> str:
        """The one name of a file."""
        known = self._asked.get(path)
        if known is None:
            known = self._asked[path] = self._names.get("/".join(path_parts(path)), path)
        return known

    @staticmethod
    def _ends_so(parts: Parts, longer: list[Parts]) -> Parts | None:
        """The only longer path that ends with these parts; None where there is none, or several."""
        if not longer or len(longer) > 200 or len(longer[0]) == len(parts):
            return None  # none is longer, or too many are: the longest stand first
        ends = [one for one in longer if one[-len(parts) :] == parts]
        return ends[0] if len(ends) == 1 else None
