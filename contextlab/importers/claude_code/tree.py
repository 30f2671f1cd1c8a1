"""Which records stand before a step: the uuid tree of one thread, in a few bytes per record.

Records of a thread are numbered from 0 in file order (nodes); the chunks of one message id form a group, and the
results of its calls belong to it. The context of a step is made of the ancestors of its first chunk, of all chunks
of those ancestors' groups and of the results of their calls (rulings: order and epochs). Items are given out in
file order, so only what differs from "everything so far" has to be said: what a step leaves behind, and what it
brings back after a rewind. Both are found from the few records that changed, never by walking the whole thread.
"""

from __future__ import annotations

import re
from array import array
from binascii import unhexlify
from collections.abc import Iterable, Iterator

NONE = -1
ON_PATH = 1
"""The node is an ancestor of the latest step (or its first chunk)."""
IN_CONTEXT = 2
"""What was given out so far says that the node's items are in the context."""
KEPT = 4
"""The compaction at the root of the path kept the node."""
RESULT = 8
"""The node is a result: it belongs to a group without being a chunk of it."""

UUID = 36
"""Characters of an id in its usual form; others are kept as texts."""

PACKED = 1 << 10
"""So many ids at a time are packed into 16 bytes each, which takes no more than their newest ones as they are."""

_OTHER = b"00000000-0000-0000-0000-000000000000"
_USUAL = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ALL_USUAL = re.compile(rb"(?:" + _USUAL.pattern + rb")*+")
_ONLY_RESULT = bytes(flags & RESULT for flags in range(256))


class Tree:
    """The nodes and groups of one thread."""

    __slots__ = (
        "_epoch",
        "_epoch_group",
        "_keeps",
        "_odd",
        "_packed",
        "_since",
        "_tip",
        "_unsure",
        "_uuids",
        "_weights",
        "finished",
        "first_of",
        "flags",
        "groups",
        "items",
        "outputs",
        "parents",
    )

    def __init__(self) -> None:
        self.parents = array("i")
        self.groups = array("i")
        self.items = array("H")
        self.flags = bytearray()
        self._uuids = bytearray()
        """The newest ids, one after the other."""
        self._packed = bytearray()
        """Those of all nodes before, as 16 bytes each."""
        self._odd: dict[int, str] = {}
        """Ids that are no uuids in lower case; in the place of each stands _OTHER."""
        self.first_of = array("i")
        """First node of each group."""
        self.outputs = array("q")
        """Largest output figure of each group so far."""
        self.finished = bytearray()
        """1 for groups of which a chunk had a stop reason."""
        self._weights = array("i")
        self._tip = NONE
        self._epoch = 0
        self._epoch_group = 0
        self._since = 0
        """Nodes from here on came after the latest step."""
        self._unsure: list[int] = []
        """Nodes that the latest compaction kept: in the context only if the next step descends from it."""
        self._keeps: dict[int, list[int]] = {}
        """Boundary -> the nodes that it kept."""

    def __len__(self) -> int:
        return len(self.parents)

    def add(self, uuid: str, parent: int, group: int = NONE, result: bool = False) -> int:
        """A record joins the thread; returns its node. `group` is its message's, for a result its call's."""
        node = len(self.parents)
        self.parents.append(parent)
        self.groups.append(group)
        self.items.append(0)
        self.flags.append(IN_CONTEXT | RESULT if result else IN_CONTEXT)
        if len(uuid) == UUID and uuid.isascii():
            self._uuids += uuid.encode()
        else:
            self._odd[node] = uuid
            self._uuids += _OTHER
        if len(self._uuids) >= UUID * PACKED:
            self._pack()
        return node

    def add_group(self) -> int:
        """A new message id; returns its group. The next node added is its first."""
        group = len(self.first_of)
        self.first_of.append(len(self.parents))
        self.outputs.append(-1)
        self.finished.append(0)
        self._weights.append(0)
        return group

    def uuid(self, node: int) -> str:
        """The uuid that the node was added with."""
        if node in self._odd:
            return self._odd[node]
        place = node - len(self._packed) // 16
        if place >= 0:
            return self._uuids[place * UUID : (place + 1) * UUID].decode()
        text = self._packed[node * 16 : (node + 1) * 16].hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def item_ids(self, nodes: Iterable[int]) -> tuple[str, ...]:
        """Ids of the items that the nodes brought, in order."""
        return tuple(item_id(self.uuid(node), part) for node in nodes for part in range(self.items[node]))

    def begin_step(self, node: int) -> tuple[list[int], list[int]]:
        """The path now leads to `node`, the first chunk of a step.

        Returns the nodes whose items leave the context with this step, and those whose items come back.
        """
        entered, meeting = self._climb(node)
        left = self._descend(meeting)
        self._tip = node
        changed = {*left, *entered, *range(self._since, node), *self._unsure}
        for nodes, kept in ((left, False), (entered, True)):
            changed.update(self._mark_kept(nodes, kept))
        changed.discard(node)
        for first in self._flipped(left, entered, self._since):
            changed.update(range(first, node))
        self._since, self._unsure = len(self.parents), []
        return self._settle(changed)

    def begin_epoch(self, keeps: list[int]) -> None:
        """A compaction or a cleared root: nothing of what stands so far is in the context, except `keeps`.

        The next node added is the epoch's root.
        """
        start, end = self._epoch, len(self.flags)
        staying = [node for node in keeps if self.flags[node] & IN_CONTEXT]
        self.flags[start:end] = self.flags[start:end].translate(_ONLY_RESULT)
        for group in range(self._epoch_group, len(self._weights)):
            self._weights[group] = 0
        # Kept nodes are part of the new epoch: the next one has to take them out again.
        self._epoch, self._epoch_group = min([*keeps, end]), len(self._weights)
        for node in staying:
            self.flags[node] |= IN_CONTEXT
        if keeps:
            self._keeps[end] = keeps
        self._tip = NONE
        self._since, self._unsure = end, keeps

    def _pack(self) -> None:
        """Turn the newest ids into numbers."""
        ids = self._uuids
        if not _ALL_USUAL.fullmatch(ids):
            first = len(self._packed) // 16
            for place in range(0, len(ids), UUID):
                if not _USUAL.fullmatch(ids, place, place + UUID):
                    self._odd[first + place // UUID] = ids[place : place + UUID].decode()
                    ids[place : place + UUID] = _OTHER
        self._packed += unhexlify(ids.translate(None, b"-"))
        self._uuids = bytearray()

    def _mark_kept(self, nodes: list[int], kept: bool) -> Iterator[int]:
        """Boundaries joined the path or left it, and with them what they kept."""
        if self._keeps:
            for node in nodes:
                for member in self._keeps.get(node, ()):
                    self.flags[member] = self.flags[member] & ~KEPT | (KEPT if kept else 0)
                    yield member

    def chain(self, tail: int, head: int) -> Iterator[int]:
        """The nodes from `tail` up to `head` (or to the root, where `head` is no ancestor)."""
        node = tail
        while node != NONE:
            yield node
            if node == head:
                return
            node = self.parents[node]

    def with_groups(self, nodes: Iterable[int]) -> list[int]:
        """The nodes with all chunks and results of their groups, in file order."""
        wanted = set(nodes)
        groups = {self.groups[node] for node in wanted if not self.flags[node] & RESULT} - {NONE}
        if groups:
            first = min(self.first_of[group] for group in groups)
            wanted.update(node for node in range(first, len(self.groups)) if self.groups[node] in groups)
        return sorted(wanted)

    def _climb(self, node: int) -> tuple[list[int], int]:
        """Put the ancestors of `node` on the path; returns the new ones and the node where they meet the old path."""
        entered = []
        while node != NONE and not self.flags[node] & ON_PATH:
            entered.append(node)
            self.flags[node] |= ON_PATH
            node = self.parents[node]
        if entered:
            self._epoch = min(self._epoch, entered[-1])
        return entered, node

    def _descend(self, meeting: int) -> list[int]:
        """Take the old path's end below `meeting` off the path; returns what was taken off."""
        left = []
        node = self._tip
        while node not in (meeting, NONE):
            left.append(node)
            self.flags[node] &= ~ON_PATH
            node = self.parents[node]
        return left

    def _flipped(self, left: list[int], entered: list[int], since: int) -> list[int]:
        """First nodes of the older groups that became part of the context, or are no more."""
        before: dict[int, int] = {}
        for nodes, step in ((left, -1), (entered, 1)):
            for node in nodes:
                group = self.groups[node]
                # A result belongs to its call's group but does not make it part of the path.
                if group != NONE and not self.flags[node] & RESULT:
                    self._epoch_group = min(self._epoch_group, group)
                    before.setdefault(group, self._weights[group])
                    self._weights[group] += step
        flipped = (group for group, weight in before.items() if (weight > 0) != (self._weights[group] > 0))
        return [first for group in flipped if (first := self.first_of[group]) < since]

    def _settle(self, changed: set[int]) -> tuple[list[int], list[int]]:
        """Compare what the context should hold with what was said of it, and note the difference as said."""
        out: list[int] = []
        back: list[int] = []
        for node in sorted(changed):
            flags, group = self.flags[node], self.groups[node]
            inside = flags & (ON_PATH | KEPT) or (group != NONE and self._weights[group] > 0)
            if bool(inside) != bool(flags & IN_CONTEXT):
                self.flags[node] ^= IN_CONTEXT
                (back if inside else out).append(node)
        if back:
            self._epoch = min(self._epoch, back[0])
        return out, back


def item_id(uuid: str, part: int) -> str:
    """Id of the part-th item of a record: the record's uuid for the first, `uuid:1` and so on for the others."""
    return uuid if part == 0 else f"{uuid}:{part}"
