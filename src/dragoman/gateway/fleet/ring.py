"""A hash ring: each member stands at many points, and a key belongs to whoever stands next behind it.

Pure data, the same in every process. Who joins or leaves moves only the keys that become or were its own. Loads are the
business of `policies`.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from hashlib import blake2b

__all__ = ["POINTS", "Ring"]

POINTS = 128
"""Points of one member: with so many, the members' shares differ by about a tenth."""


def _place(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class Ring:
    """Members by name; `join` and `leave` are linear in the ring."""

    __slots__ = ("_members", "_places")

    def __init__(self) -> None:
        self._members: set[str] = set()
        self._places: list[tuple[int, str]] = []

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def join(self, name: str) -> None:
        """A member more; one that is there already stays."""
        if name not in self._members:
            self._members.add(name)
            self._places = sorted([*self._places, *((_place(f"{name}#{i}"), name) for i in range(POINTS))])

    def leave(self, name: str) -> None:
        """A member less, if it was one."""
        if name in self._members:
            self._members.remove(name)
            self._places = [place for place in self._places if place[1] != name]

    def walk(self, key: str) -> Iterator[str]:
        """All members, each once, in the order in which a key would be theirs."""
        start, seen = bisect(self._places, (_place(key), "")), set[str]()
        for at in range(len(self._places)):
            name = self._places[(start + at) % len(self._places)][1]
            if name not in seen:
                seen.add(name)
                yield name
                if len(seen) == len(self._members):
                    return
