"""Which workers have been given which prompts: a radix tree over packed prompts, bounded in bytes.

Pure data: no clock, no loads. Each node's edge is a slice of bytes and is compared as a slice; a `unit` is how many
bytes are one token (or one byte of text), and no edge is cut inside one. What it is used for is in `policies`.

Two orders make it cheap. A node bears the mark of every worker that a node below it bears, so a search may end where
the marks do. And a node is used whenever one below it is, and counts as used later: the one longest unused is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Set

from msgspec import Struct

__all__ = ["NODE", "Match", "RadixTree"]

NODE = 640
"""Bytes that a node takes beside its edge, measured: they count against the bound too."""


class Match(Struct, frozen=True):
    """How many units of a prompt were given before, and to whom so many."""

    length: int
    names: Set[str]


class _Node:
    """An edge, and those who were given all that leads to its end; or only its beginning, if a prompt ended there."""

    __slots__ = ("children", "edge", "marks", "parent")

    def __init__(self, parent: _Node | None, edge: bytes, marks: frozenset[str]) -> None:
        self.parent, self.edge, self.marks = parent, edge, marks
        self.children: dict[bytes, _Node] = {}


class RadixTree:
    """Prompts and who was given them; the longest unused are forgotten where the tree gets heavier than `limit` bytes.

    `insert` and `find` are linear in the prompt, by slices; `forget` is linear in the tree.
    """

    __slots__ = ("_order", "_root", "limit", "unit", "weight")

    def __init__(self, unit: int, limit: int) -> None:
        self.unit, self.limit, self.weight = unit, limit, 0
        self._root = _Node(None, b"", frozenset())
        self._order: OrderedDict[_Node, None] = OrderedDict()

    def __len__(self) -> int:
        """The nodes."""
        return len(self._order)

    def find(self, key: bytes, names: Set[str]) -> Match:
        """The longest beginning of a prompt that any of these workers was given."""
        node, at, holders = self._root, 0, names
        while child := node.children.get(key[at : at + self.unit]):
            marked = child.marks & names
            if not marked:
                break
            shared = self._shared(child.edge, key, at)
            at, holders, node = at + shared, marked, child
            if shared < len(child.edge):
                break
        return Match(at // self.unit, holders if at else frozenset())

    def insert(self, key: bytes, name: str) -> None:
        """A prompt that is given to a worker; of one that is longer than the tree may be, the beginning."""
        longest = min(len(key), max(0, self.limit - NODE))
        key = key[: longest - longest % self.unit]
        node, at, path = self._root, 0, []
        while at < len(key):
            child = node.children.get(key[at : at + self.unit])
            if child is None:
                child = self._grow(node, key[at:])
            elif (shared := self._shared(child.edge, key, at)) < len(child.edge):
                child = self._split(child, shared)
            if name not in child.marks:
                child.marks |= {name}
            at += len(child.edge)
            path.append(child)
            node = child
        for node in reversed(path):
            self._order.move_to_end(node)
        while self.weight > self.limit:
            self._drop(next(iter(self._order)))

    def forget(self, name: str) -> None:
        """Take away all marks of a worker, and what then bears none."""
        for node in list(self._order):
            node.marks -= {name}
            if not node.marks:
                self._drop(node)

    def _grow(self, parent: _Node, edge: bytes) -> _Node:
        node = _Node(parent, edge, frozenset())
        parent.children[edge[: self.unit]] = node
        self._order[node] = None
        self.weight += len(edge) + NODE
        return node

    def _split(self, lower: _Node, at: int) -> _Node:
        """Cut an edge in two; returns the upper node."""
        assert lower.parent is not None
        upper = _Node(lower.parent, lower.edge[:at], lower.marks)
        lower.parent.children[upper.edge[: self.unit]] = upper
        lower.parent, lower.edge = upper, lower.edge[at:]
        upper.children[lower.edge[: self.unit]] = lower
        self._order[upper] = None
        self.weight += NODE
        return upper

    def _drop(self, node: _Node) -> None:
        assert node.parent is not None
        del self._order[node]
        del node.parent.children[node.edge[: self.unit]]
        self.weight -= len(node.edge) + NODE

    def _shared(self, edge: bytes, key: bytes, at: int) -> int:
        """How many bytes of an edge the prompt goes on with, in whole units: by halves, each compared as a slice."""
        if key.startswith(edge, at):
            return len(edge)
        unit = self.unit
        low, high = 0, min(len(edge), len(key) - at) // unit
        while low < high:
            middle = (low + high + 1) // 2
            if key.startswith(edge[low * unit : middle * unit], at + low * unit):
                low = middle
            else:
                high = middle - 1
        return low * unit
