"""Arguments that a model writes as raw text, turned into JSON by the types that the tool's schema allows.

A `Sink` takes the text in pieces and gives JSON text back, whose concatenation is the value. A string is
published at once; a value of another type only when it is clear that it is one, since nothing can be taken
back. Numbers are copied digit by digit.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring

from .analyze import VALUE_LIMIT
from .json import NUMBER_LIMIT, Scanner
from .schema import allowed

__all__ = ["Sink", "sink_for"]

_number = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?").fullmatch
_whole = re.compile(r"-?[0-9]++(?:\.0*+)?").fullmatch
# Python's spelling too: templates print scalars with str().
_WORDS = {"true": ("boolean", "true"), "false": ("boolean", "false"), "null": ("null", "null")} | {
    "True": ("boolean", "true"),
    "False": ("boolean", "false"),
    "None": ("null", "null"),
}
_SPACE = " \t\r\n"
_OPENERS = {"{": "object", "[": "array", '"': "quoted"}
_KINDS = _OPENERS | {'"': "string"}
_STRING = frozenset(["string"])


class Sink:
    """Turns the raw text of one value into JSON; `kind` is the JSON type it turned out to have.

    `kinds` are the types that the schema or the markup allows, where ``quoted`` is a string written as JSON. While it
    `is_string`, text goes straight through. If a value that is being published turns out not to be JSON, `broken` is
    the index in the last piece at which that shows.
    """

    __slots__ = ("_held", "_kinds", "_scanner", "_streaming", "broken", "is_string", "kind")

    def __init__(self, kinds: frozenset[str]) -> None:
        self._kinds = kinds
        self._held = ""  # text of which it is not yet known what it is
        self._scanner: Scanner | None = None  # reads the text as an object, an array or a quoted string
        self._streaming = False  # is that being published already?
        self.is_string = kinds == _STRING
        self.kind = "string"
        self.broken = -1

    def copy(self) -> Sink:
        """An independent sink in the same state."""
        other = Sink(self._kinds)
        other._held, other._streaming = self._held, self._streaming
        other._scanner = self._scanner.copy() if self._scanner is not None else None
        other.is_string, other.kind = self.is_string, self.kind
        return other

    @property
    def held(self) -> int:
        """Characters taken but not given back."""
        return len(self._held)

    @property
    def fits(self) -> bool:
        """Whether the value, once it is closed, is of one of its types."""
        return allowed(self._kinds, self.kind) or (self.kind == "string" and not self.is_string)

    def open(self) -> str:
        """The JSON that comes before the first piece."""
        return '"' if self.is_string else ""

    def feed(self, piece: str) -> str:
        """The JSON of what is decided."""
        if self.is_string:
            return encode_basestring(piece)[1:-1]
        if self._scanner is not None:
            return self._scan(piece)
        self._held += piece
        text = self._held.lstrip(_SPACE)
        if text and _OPENERS.get(text[0]) in self._kinds:
            self.kind = _KINDS[text[0]]
            self._scanner = Scanner()
            self._streaming = "string" not in self._kinds
            before = len(self._held) - len(piece)
            text, self._held = self._held, ""
            json = self._scan(text)
            self.broken = max(0, self.broken - before) if self.broken >= 0 else -1
            return json
        limit = NUMBER_LIMIT if text[:1] in "-0123456789" else max(map(len, _WORDS))
        too_long = len(text.rstrip(_SPACE)) > limit or len(self._held) > VALUE_LIMIT
        return self._as_string() if too_long else ""

    def close(self) -> str | None:
        """The JSON that completes the value; ``None`` if it is broken off."""
        if self.is_string:
            return '"'
        if self._scanner is not None:
            if self._scanner.finish():
                held, self._held = self._held, ""
                return held.rstrip(_SPACE)
            return None if self._streaming else self._as_string() + '"'
        text = self._held.strip(_SPACE)
        kind, json = _WORDS.get(text, ("", ""))
        if not kind and _number(text):
            kind, json = ("integer" if _whole(text) else "number"), text
        if allowed(self._kinds, kind) or (kind == "number" and self._numeric()):
            self.kind, self._held = kind, ""
            return json
        return self._as_string() + '"'

    def _numeric(self) -> bool:
        """Whether a fraction is nearer to the schema than a string: where only an integer was asked for."""
        return "number" in self._kinds or ("integer" in self._kinds and "string" not in self._kinds)

    def _scan(self, piece: str) -> str:
        scanner = self._scanner
        assert scanner is not None
        room = VALUE_LIMIT - len(self._held)
        if not self._streaming and len(piece) > room:  # the bound is where it is, however the text is cut
            json = self._scan(piece[:room]) + self.feed(piece[room:])
            self.broken += room if self.broken >= 0 else 0
            return json
        end = 0 if scanner.done else scanner.scan(piece, 0)
        rest = piece[end:].lstrip(_SPACE)
        broken = scanner.failed or (scanner.done and rest)
        if self._streaming:
            self.broken = len(piece) - len(rest) if broken else -1
            return piece[:end]
        self._held += piece
        if broken:
            return self._as_string()
        if len(self._held) >= VALUE_LIMIT:  # too long to wait for its end: it has been an object so far
            self._streaming = True
            held, self._held = self._held, ""
            return held
        return ""

    def _as_string(self) -> str:
        """It is a string after all: open it with what was held."""
        held, self._held = self._held, ""
        self._scanner, self.is_string, self.kind = None, True, "string"
        return encode_basestring(held)[:-1]


def sink_for(kinds: frozenset[str] | None) -> Sink:
    """A sink for a value of these JSON types; where none are declared the text is kept as a string."""
    return Sink(kinds or _STRING)
