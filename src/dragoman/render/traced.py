"""Text that can be told from a template's own wherever it ends up: strings written in private-use characters.

For a shadow render, each character of the caller's strings is replaced by one that names its owner, so that whatever a
template does with them, the characters carry it along. That alone would lead the template astray wherever it looks at
the text: so a `Traced` string answers every question with the original, and cuts both alike. Where an operation knows
only plain strings (Python's own `str.join`, say), its result is still written in owners' characters but has forgotten
the original. Nothing is lost silently, then: at worst the template takes another path, and the two renders differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self, SupportsIndex

from jinja2.runtime import Macro
from markupsafe import Markup, escape

from ..types import JSON
from .openai_messages import Owner
from .provenance import CLOSE, FIRST, OPEN
from .sandbox import Sandbox, tojson

__all__ = ["Inks", "ShadowSandbox", "Traced", "original"]

LAST_OWNER = 0x10FFF0
"""The highest code point that names one; the few above it are marks of other kinds."""


def original(text: str) -> str:
    """The text itself, without what it knows of its owners."""
    return text._original if isinstance(text, Traced) else text


class Traced(str):
    """The characters of owners, and what they stand for, of the same length."""

    __slots__ = ("_original",)
    _original: str

    def __new__(cls, shadow: str, text: str) -> Self:
        made = super().__new__(cls, shadow)
        made._original = text
        return made

    @classmethod
    def joined(cls, parts: Iterable[str]) -> Traced:
        pieces = list(parts)
        return cls("".join(pieces), "".join(map(original, pieces)))

    def cut(self, start: int, end: int) -> Traced:
        return Traced(str.__getitem__(self, slice(start, end)), self._original[start:end])

    def __getitem__(self, key: SupportsIndex | slice) -> Traced:
        return Traced(str.__getitem__(self, key), self._original[key])

    def __iter__(self) -> Iterator[str]:
        return (Traced(*pair) for pair in zip(str.__iter__(self), self._original, strict=True))

    def __str__(self) -> str:
        return self

    def __repr__(self) -> str:
        return widened(self, repr)

    def __html__(self) -> str:
        return str.__getitem__(widened(self, lambda text: f" {escape(text)} "), slice(1, -1))

    def __hash__(self) -> int:
        return hash(self._original)

    def __int__(self) -> int:
        return int(self._original)

    def __float__(self) -> float:
        return float(self._original)

    def __add__(self, other: object) -> Traced:
        return Traced.joined((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: object) -> Traced:
        return Traced.joined((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Traced:
        return Traced(str.__mul__(self, times), self._original * times)

    __rmul__ = __mul__

    def lstrip(self, chars: str | None = None, /) -> Traced:
        rest = self._original.lstrip(None if chars is None else original(chars))
        return self.cut(len(self) - len(rest), len(self))

    def rstrip(self, chars: str | None = None, /) -> Traced:
        return self.cut(0, len(self._original.rstrip(None if chars is None else original(chars))))

    def strip(self, chars: str | None = None, /) -> Traced:
        return self.lstrip(chars).rstrip(chars)

    def removeprefix(self, prefix: str, /) -> Traced:
        return self.cut(len(self) - len(self._original.removeprefix(original(prefix))), len(self))

    def removesuffix(self, suffix: str, /) -> Traced:
        return self.cut(0, len(self._original.removesuffix(original(suffix))))

    def _pieces(self, texts: Iterable[str], separator: int) -> Iterator[Traced]:
        """The cuts that give these texts, in order; between two of them is a separator, or white space."""
        at = 0
        for text in texts:
            at = self._original.index(text, at)
            yield self.cut(at, at + len(text))
            at += len(text) + separator

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        sep = None if sep is None else original(sep)
        return list(self._pieces(self._original.split(sep, maxsplit), len(sep or "")))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        sep = None if sep is None else original(sep)
        return list(self._pieces(self._original.rsplit(sep, maxsplit), len(sep or "")))

    def splitlines(self, keepends: bool = False) -> list[str]:
        lines = list(self._pieces(self._original.splitlines(keepends=True), 0))
        if keepends:
            return list(lines)
        return [line.cut(0, len(text)) for line, text in zip(lines, self._original.splitlines(), strict=True)]

    def partition(self, sep: str, /) -> tuple[str, str, str]:
        first, middle, _ = map(len, self._original.partition(original(sep)))
        return self.cut(0, first), self.cut(first, first + middle), self.cut(first + middle, len(self))

    def rpartition(self, sep: str, /) -> tuple[str, str, str]:
        first, middle, _ = map(len, self._original.rpartition(original(sep)))
        return self.cut(0, first), self.cut(first, first + middle), self.cut(first + middle, len(self))

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> str:
        if not old:
            return str.replace(self, old, new, count)
        first, *rest = self.split(old, count)
        return Traced.joined([first, *(piece for each in rest for piece in (new, each))])


def _asked(name: str) -> Callable[..., Any]:
    """A method that only looks: it is told what the original is, and so are those that it is compared with."""
    method = getattr(str, name)

    def ask(self: Traced, *args: object) -> object:
        return method(self._original, *(_without(arg) for arg in args))

    ask.__name__ = name  # by which the sandbox knows what may be called
    return ask


def _changed(name: str) -> Callable[..., Any]:
    """A method that changes letters, each at its place unless that changes how many there are."""
    method = getattr(str, name)

    def change(self: Traced) -> str:
        text = method(self._original)
        shadow = "".join(
            [
                own * len(method(char)) if own >= FIRST else method(own)
                for own, char in zip(str.__iter__(self), self._original, strict=True)
            ]
        )
        return Traced(shadow, text) if len(shadow) == len(text) else shadow

    change.__name__ = name
    return change


def _without(value: object) -> object:
    """The originals of strings, also of those in a tuple."""
    if isinstance(value, tuple):
        return tuple(map(_without, value))
    return value._original if isinstance(value, Traced) else value


ASKED = (
    "__contains__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ count endswith find index rfind rindex startswith isalnum "
    "isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper"
)
for _name in ASKED.split():
    setattr(Traced, _name, _asked(_name))
for _name in ("capitalize", "casefold", "lower", "swapcase", "title", "upper"):
    setattr(Traced, _name, _changed(_name))


class _Number:
    """What is written as a number, and whose."""

    ink: str

    def __str__(self) -> str:
        text = super().__repr__()
        return Traced(self.ink * len(text), text)


class TracedInt(_Number, int):
    """An integer of the caller's."""


class TracedFloat(_Number, float):
    """A number of the caller's."""


class _Whole:
    """What has one owner altogether: written out, all of it is theirs, and so are its brackets and commas."""

    ink: str

    def __repr__(self) -> str:
        text = repr(_plain(self))
        return Traced(self.ink * len(text), text)


class TracedDict(_Whole, dict[str, JSON]):
    """An object of the caller's."""


class TracedList(_Whole, list[JSON]):
    """An array of the caller's."""


class Inks:
    """The characters that stand for owners; called as a `Mark`, makes traced values."""

    def __init__(self, *, spaces: bool) -> None:
        self.spaces = spaces
        self.owners: list[Owner] = []
        self._of: dict[Owner, str] = {}

    def ink(self, owner: Owner) -> str:
        """The character of an owner; when there are too many, the later ones share the last."""
        if owner not in self._of:
            self._of[owner] = chr(min(ord(FIRST) + len(self.owners), LAST_OWNER))
            self.owners.append(owner)
        return self._of[owner]

    def owner(self, ink: str) -> Owner:
        return self.owners[ord(ink) - ord(FIRST)]

    def __call__(self, value: JSON, owner: Owner) -> JSON:
        ink = self.ink(owner)
        match value:
            case str():
                return self._text(value, owner)
            case bool() | None:
                return value
            case int() | float():
                number = TracedInt(value) if isinstance(value, int) else TracedFloat(value)
                number.ink = ink
                return number
            case Mapping():
                made = TracedDict({self._text(key, owner): self(item, owner) for key, item in value.items()})
                made.ink = ink
                return made
        array = TracedList(self(item, owner) for item in value)
        array.ink = ink
        return array

    def _text(self, text: str, owner: Owner) -> Traced:
        ink = self.ink(owner)
        if not self.spaces or not any(map(str.isspace, text)):
            return Traced(ink * len(text), text)
        return Traced("".join([char if char.isspace() else ink for char in text]), text)


def _plain(value: Any) -> Any:
    """The value as it was before it was traced."""
    match value:
        case Traced():
            return value._original
        case dict():
            return {_plain(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case TracedInt():
            return int(value)
        case TracedFloat():
            return float(value)
    return value


def widened(text: Traced, write: Callable[[str], str]) -> str:
    """A string with its quotes as a notation writes it, of which escapes take more than one character."""
    whole = write(text._original)
    if len(whole) == len(text) + 2:
        return Traced("".join((whole[0], text, whole[-1])), whole)
    shadow = "".join(
        [
            own * (len(write(char)) - 2) if own >= FIRST or char < " " or char in "\"'\\&<>" else own
            for own, char in zip(str.__iter__(text), text._original, strict=True)
        ]
    )
    return Traced(f"{whole[0]}{shadow}{whole[-1]}", whole) if len(shadow) + 2 == len(whole) else shadow


def traced_json(value: object, *args: Any, **kwargs: Any) -> str:
    """`tojson` for a shadow render: the same text, each character of it its owner's."""
    text = tojson(_plain(value), *args, **kwargs)
    ink = value.ink if isinstance(value, _Whole | _Number) else None
    if (
        isinstance(value, Traced)
        and len(value)
        and len({*str.__iter__(value)}) == 1
        and str.__getitem__(value, 0) >= FIRST
    ):
        ink = str.__getitem__(value, 0)
    if ink is not None:
        return Traced(ink * len(text), text)
    ensure_ascii = bool(args[0]) if args else bool(kwargs.get("ensure_ascii"))
    others = {name: item for name, item in kwargs.items() if name != "ensure_ascii"}
    shadow = tojson(_wide(value, ensure_ascii), False, *args[1:], **others)
    return Traced(shadow, text) if len(shadow) == len(text) else shadow


def _wide(value: Any, ensure_ascii: bool) -> Any:
    """The value with each string as long as JSON writes it, and with nothing that JSON escapes."""
    match value:
        case Traced():
            written = widened(value, lambda text: tojson(text, ensure_ascii))
            return Traced(str.__getitem__(written, slice(1, -1)), value._original)  # whose order among keys it keeps
        case dict():
            return {_wide(key, ensure_ascii): _wide(item, ensure_ascii) for key, item in value.items()}
        case list() | tuple():
            return [_wide(item, ensure_ascii) for item in value]
    return value


class ShadowSandbox(Sandbox):
    """A sandbox in which joining, and JSON, keep what strings know of their owners."""

    concat = staticmethod(Traced.joined)

    def __init__(self, strftime_now: Callable[[str], str], steps: int) -> None:
        super().__init__(strftime_now, steps)
        self.filters["tojson"] = traced_json
        self.filters["safe"] = lambda value: value if isinstance(value, Traced) else Markup(value)

    def connect(self, texts: list[str]) -> str:
        super().connect(texts)
        return Traced.joined(texts)

    def container(self, value: Any) -> Any:
        return Traced(value, value) if type(value) is str else value

    def generated(self, caller: Macro) -> str:
        return Traced.joined((OPEN, super().generated(caller), CLOSE))
