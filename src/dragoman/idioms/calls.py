"""How a dialect's calls are read and written: the record that the builders of the families make."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, structs

from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import ToolCall

__all__ = ["Calls", "also"]

Reader = Callable[[tuple[str, ...]], Node]


class Calls(Struct, frozen=True, kw_only=True):
    """A way of writing calls.

    Reading: `reader` makes the grammar of a group of calls, given the markers of other things that may stand where a
    call should end. It begins with one of the `openers`; where no group follows one, it is text, or taken out and
    reported if it is among the `closers`, which mean nothing alone: so control tokens never show. `bare` makes what is
    a group only where the output begins, or right behind a thought.

    Writing: `one` writes a call, told which of its group it is; a group is `begin`, calls with `between` between them,
    `end`; `lead` divides it from text before, where `led` from whatever is before, `trail` from whatever comes behind.
    `one` raises `Inexpressible`, with no place in it, for what it can't write. `names` is what a name may be, `marks`
    are further markers that text must not hold, `like` is a pattern of text that would be read as a call. After a
    `final` group comes nothing; `most` is the number of calls that a group can have. `kind` says for readers what calls
    look like: dialects are listed by it.
    """

    reader: Reader
    openers: tuple[str, ...]
    one: Callable[[ToolCall, int], str]
    closers: tuple[str, ...] = ()
    bare: Reader | None = None
    begin: str = ""
    between: str = ""
    end: str = ""
    lead: str = ""
    led: bool = False
    trail: str = ""
    names: str = r"[\s\S]+"
    marks: tuple[str, ...] = ()
    like: str = ""
    final: bool = False
    most: int | None = None
    kind: str = ""

    def write(self, calls: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
        """A group of calls, one text each; told whether text stands before it and whether anything comes behind."""
        written = [self.between + self.one(call, k) if k else self.one(call, k) for k, call in enumerate(calls)]
        before, behind = self.lead if after_text or self.led else "", self.trail if more else ""
        written[0] = f"{before}{self.begin}{written[0]}"
        written[-1] += self.end + behind
        return written


def also(calls: Calls, *others: Calls) -> Calls:
    """Calls that are written as the first way says, where those of the other ways are read too."""
    ways = (calls, *others)

    def reader(resume: tuple[str, ...]) -> Node:
        after = _all((*(way.openers for way in ways), resume))
        return b.choice(*(way.reader(after) for way in ways))

    return structs.replace(
        calls,
        reader=reader,
        openers=_all(way.openers for way in ways),
        closers=_all(way.closers for way in ways),
        marks=_all(way.marks for way in ways),
    )


def _all(markers: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(marker for some in markers for marker in some))
