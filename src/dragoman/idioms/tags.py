"""Tags with a name in them, such as ``<function=`` name ``>``, and what stands around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from ..grammar import build as b
from ..grammar.nodes import Node
from ..grammar.notation import Notation

__all__ = ["Shell", "Sign", "Tag"]


class Sign(Struct, frozen=True):
    """What ends the name in a tag, and the JSON types of the value behind it (``None``: those of the schema)."""

    text: str
    kinds: tuple[str, ...] | None = None


class Shell(Struct, frozen=True):
    """Control tokens around each call: an `opener` with a `label` and a `divider` behind it, and a `closer`.

    Models leave out any of them; the divider may also stand between two calls. Behind the opener, all is a call.
    """

    opener: str
    label: str
    divider: str
    closer: str

    def before(self, call: Node) -> Node:
        """A call with what stands before it, or without."""
        label = b.optional(self.label, b.space()) + b.optional(self.divider, b.space())
        return (self.opener + b.commit() + b.space() + label + call) | call

    def write(self, call: str) -> str:
        """The tokens around a call."""
        return f"{self.opener}{self.label}{self.divider}{call}{self.closer}"


class Tag(Struct, frozen=True):
    """A tag with a name in it, such as ``<function=`` name ``>`` … ``</function>``.

    `signs` end the name: a plain one, or one for each kind of value. `spelled` are other ways to begin the tag, with
    their signs, which are read but not written. `pattern` says which part of the text is the name. `lead` and `tail`
    are the newlines inside the tag that belong to the layout, `after` is what divides it from the next, `empty` is
    layout where there is nothing else inside. A sign that stands `alone` ends the name and the tag at once. With
    `cdata`, a value may stand in a CDATA section. Objects and arrays among the values are in the `notation`, or JSON.
    """

    head: str
    signs: tuple[Sign, ...]
    closer: str
    lead: str = "\n"
    tail: str = "\n"
    after: str = "\n"
    empty: str = ""
    alone: str = ""
    spelled: tuple[tuple[str, tuple[Sign, ...]], ...] = ()
    decoding: b.Decoding = b.Decoding.NONE
    pattern: str | None = None
    cdata: bool = False
    notation: Notation | None = None

    @classmethod
    def named(
        cls,
        element: str,
        *,
        lead: str = "\n",
        tail: str = "\n",
        after: str = "\n",
        cdata: bool = False,
        notation: Notation | None = None,
    ) -> Tag:
        """An element whose attribute `name` stands in double quotes; models write it in single ones or in none too."""
        head = f"<{element} name="
        spelled = ((f"{head}'", (Sign("'>"),)), (head, (Sign(">"),)))
        return cls(
            f'{head}"',
            (Sign('">'),),
            f"</{element}>",
            lead,
            tail,
            after,
            spelled=spelled,
            cdata=cdata,
            notation=notation,
        )

    @property
    def heads(self) -> tuple[str, ...]:
        """All ways to begin the tag, but for those that begin as another does."""
        every = dict.fromkeys(head for head, _ in self._ways)
        return tuple(head for head in every if not any(head != h and head.startswith(h) for h in every))

    @property
    def inside(self) -> str:
        """The characters that a name may have, however the tag is spelled, as a class."""
        return _name_class(sign.text[0] for _, signs in self._ways for sign in signs)

    @property
    def _ways(self) -> tuple[tuple[str, tuple[Sign, ...]], ...]:
        return ((self.head, self.signs), *self.spelled)

    def read(self, field: Callable[[Node], Node], body: Callable[[Sign], Node]) -> Node:
        """The tag up to the sign behind its name, the name as a `field`, and the `body` that follows that sign."""
        ways = []
        for head, signs in self._ways:
            longer = (other[len(head)] for other, _ in self._ways if other != head and other.startswith(head))
            name = field(b.chars(_name_class((*(sign.text[0] for sign in signs), *longer)), 1, 128))
            ways.append(head + name + b.choice(*(sign.text + b.commit() + body(sign) for sign in signs)))
        return b.choice(*ways)

    def closed(self, field: Callable[[Node], Node]) -> Node:
        """The tag that is closed at once."""
        return self.head + field(b.chars(_name_class(self.alone[0]), 1, 128)) + self.alone + b.commit()

    def write(self, name: str, inside: str, kind: str = "", shell: Shell | None = None) -> str:
        """The tag around what is already laid out, with a shell around it."""
        sign = next((sign for sign in self.signs if sign.kinds is None or kind in sign.kinds), self.signs[0])
        written = f"{self.head}{name}{sign.text}{self.lead}{inside or self.empty}{self.closer}"
        return f"{shell.write(written) if shell is not None else written}{self.after}"


def _name_class(ends: Iterable[str]) -> str:
    """The characters of a name that one of these ends."""
    return rf"^<\n{''.join(map(re.escape, dict.fromkeys(ends)))}"
