"""The trace that a request is part of (W3C Trace Context, level 1), and the id by which it is found in logs.

What a client sends is taken over only if it is well-formed; else a trace begins here. Chance is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

__all__ = ["Chance", "Trace", "request_id", "trace_of"]

Chance: TypeAlias = Callable[[int], bytes]
"""So many bytes that nobody guesses: `os.urandom`, or a seeded generator's in tests."""

LONGEST_ID = 128
"""Characters of a request id that a client may choose."""

LONGEST_STATE = 512
"""Characters of ``tracestate`` that are passed on; the standard asks for so many at least."""

MEMBERS = 32
"""Entries that ``tracestate`` may have."""

_PARENT = re.compile(r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})")
_KEY = r"(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})"
_MEMBER = re.compile(rf"(?P<key>{_KEY})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{{0,255}}[\x21-\x2b\x2d-\x3c\x3e-\x7e]")
_ID = re.compile(rf"[\x21-\x7e]{{1,{LONGEST_ID}}}")


class Trace(Struct, frozen=True):
    """Where a request stands in a trace: `span` is our own part of it, `parent` the caller's, if there is one."""

    trace: str
    span: str
    parent: str | None = None
    flags: str = "00"
    state: str = ""

    def headers(self) -> tuple[tuple[str, str], ...]:
        """What is sent along with everything that is asked on behalf of the request."""
        parent = ("traceparent", f"00-{self.trace}-{self.span}-{self.flags}")
        return (parent, ("tracestate", self.state)) if self.state else (parent,)


def trace_of(parent: str | None, state: str | None, chance: Chance) -> Trace:
    """The trace that the headers ``traceparent`` and ``tracestate`` name, with a span of our own, or a new one.

    Several headers ``tracestate`` are joined by commas before. One that is malformed is dropped, and the trace kept.
    """
    span = _some(chance, 8)
    found = _PARENT.match(parent.strip()) if parent else None
    if found is None or parent is None or not _is_parent(found, parent.strip()):
        return Trace(_some(chance, 16), span)
    flags = f"{int(found['flags'], 16) & 1:02x}"  # the only flag that is defined
    return Trace(found["trace"], span, found["span"], flags, _kept(state or ""))


def request_id(given: str | None, chance: Chance) -> str:
    """The client's own id if it is sane, else a new one."""
    return given if given and _ID.fullmatch(given) else f"req_{_some(chance, 12)}"


def _is_parent(found: re.Match[str], parent: str) -> bool:
    rest = parent[found.end() :]
    fits = not rest if found["version"] == "00" else not rest or rest.startswith("-")
    return fits and found["version"] != "ff" and found["trace"].strip("0") != "" and found["span"].strip("0") != ""


def _kept(state: str) -> str:
    """The list of members, or nothing if it is not one."""
    members = [member for member in (part.strip(" \t") for part in state.split(",")) if member]
    keys = [found["key"] for member in members if (found := _MEMBER.fullmatch(member))]
    sound = len(keys) == len(members) == len(set(keys)) <= MEMBERS
    joined = ",".join(members)
    return joined if sound and len(joined) <= LONGEST_STATE else ""


def _some(chance: Chance, count: int) -> str:
    """So many bytes in hexadecimal, never all zero, which would stand for none."""
    return (chance(count).hex().strip("0") or "1").rjust(2 * count, "0")[: 2 * count]
