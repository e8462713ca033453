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
from .learned import recall
from .notation import Notation
from .schema import allowed
from .transcode import Transcoder

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
    the index in the last piece at which that shows. Text of nothing but layout is `blank`, if that is given. What comes
    `before` any JSON is left out before an object. Objects and arrays are read in the `notation`, or as JSON.
    """

    __slots__ = (
        "_before",
        "_blank",
        "_brackets",
        "_held",
        "_json",
        "_kinds",
        "_notation",
        "_scanner",
        "_streaming",
        "_wraps",
        "broken",
        "is_string",
        "kind",
    )

    def __init__(
        self, kinds: frozenset[str], notation: Notation | None = None, *, blank: str = "", before: str = ""
    ) -> None:
        self._kinds, self._notation, self._blank = kinds, notation, blank
        self._before, self._wraps = before, bool(before)
        self._brackets = _OPENERS
        if notation is not None:
            self._brackets = _OPENERS | {pair[0]: "array" for pair in notation.brackets}
        self._held = ""  # text of which it is not yet known what it is
        self._json = ""  # what that is as an object, an array or a quoted string
        self._scanner: Scanner | Transcoder | None = None  # reads it as that
        self._streaming = False  # is that being published already?
        self.is_string = kinds == _STRING
        self.kind = "string"
        self.broken = -1

    def copy(self) -> Sink:
        """An independent sink in the same state."""
        other = Sink(self._kinds, self._notation, blank=self._blank, before=self._before)
        other._wraps = self._wraps
        other._held, other._json, other._streaming = self._held, self._json, self._streaming
        other._scanner = self._scanner.copy() if self._scanner is not None else None
        other.is_string, other.kind = self.is_string, self.kind
        return other

    @property
    def held(self) -> int:
        """Characters taken but not given back."""
        kept = self._streaming and isinstance(self._scanner, Transcoder) and self._scanner.held
        return kept or len(self._held)

    @property
    def fits(self) -> bool:
        """Whether the value, once it is closed, is of one of its types."""
        return allowed(self._kinds, self.kind) or (self.kind == "string" and not self.is_string)

    def open(self) -> str:
        """The JSON that comes before the first piece."""
        return '"' if self.is_string else ""

    @property
    def unwrapped(self) -> bool:
        """Whether the value is an object, so that what should come before it was left out."""
        return self._wraps and self.kind == "object"

    @property
    def members(self) -> list[tuple[str, str]]:
        """The members of an object that was unwrapped, as `Scanner` tells them."""
        return self._scanner.members if self._scanner is not None else []

    def feed(self, piece: str) -> str:
        """The JSON of what is decided."""
        return self._behind(self._feed(piece))

    def close(self) -> str | None:
        """The JSON that completes the value; ``None`` if it is broken off."""
        json = self._close()
        return self._behind(json) if json is not None else None

    def _behind(self, json: str) -> str:
        """The JSON with what comes before it, when it begins."""
        if not (self._before and json):
            return json
        before, self._before = self._before, ""
        return json if self.kind == "object" else before + json

    def _feed(self, piece: str) -> str:
        if self.is_string:
            return encode_basestring(piece)[1:-1]
        if self._scanner is not None:
            return self._scan(piece)
        self._held += piece
        text = self._held.lstrip(_SPACE)
        if text and self._brackets.get(text[0]) in self._kinds:
            self.kind = _KINDS.get(text[0], "array")
            self._scanner = self._reader(text[0])
            self._streaming = "string" not in self._kinds
            before, lead = len(self._held) - len(piece), len(self._held) - len(text)
            self._held = "" if self._streaming else self._held[:lead]  # layout, unless it is a string after all
            json = self._scan(text)
            self.broken = max(0, self.broken + lead - before) if self.broken >= 0 else -1
            return json
        limit = NUMBER_LIMIT if text[:1] in "-0123456789" else max(map(len, _WORDS))
        too_long = len(text.rstrip(_SPACE)) > limit or len(self._held) > VALUE_LIMIT
        return self._as_string() if too_long else ""

    def _reader(self, opener: str) -> Scanner | Transcoder:
        """What reads a value that begins so."""
        if self._notation is not None and opener != '"':
            return Transcoder(self._notation, watch=self._wraps)
        return Scanner(watch=self._wraps)

    def _close(self) -> str | None:
        if self.is_string:
            return '"'
        if self._scanner is not None:
            if self._scanner.done:
                json, self._json, self._held = self._json, "", ""
                return json
            return None if self._streaming else self._as_string() + '"'
        text = self._held.strip(_SPACE)
        if not text and self._blank:
            self.kind, self._held = _KINDS[self._blank[0]], ""
            return self._blank
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
            json = self._scan(piece[:room]) + self._feed(piece[room:])
            self.broken += room if self.broken >= 0 else 0
            return json
        json, end = self._read(scanner, piece) if not scanner.done else ("", 0)
        rest = piece[end:].lstrip(_SPACE) if scanner.done else piece[end:]
        broken = scanner.failed or (scanner.done and rest)
        if self._streaming:
            self.broken = len(piece) - len(rest) if broken else -1
            return json
        self._held += piece
        self._json += json
        if broken:
            return self._as_string()
        if len(self._held) >= VALUE_LIMIT:  # too long to wait for its end: it has been an object so far
            self._streaming = True
            json, self._json, self._held = self._json, "", ""
            return json
        return ""

    def _read(self, scanner: Scanner | Transcoder, piece: str) -> tuple[str, int]:
        """The JSON of a piece of an object or array, and where it ends."""
        if not isinstance(scanner, Transcoder):
            end = scanner.scan(piece, 0)
            return piece[:end], end
        known = recall(scanner, piece) if not self._wraps else None
        return (known, len(piece)) if known is not None else scanner.feed(piece)

    def _as_string(self) -> str:
        """It is a string after all: open it with what was held."""
        held, self._held, self._json = self._held, "", ""
        self._scanner, self.is_string, self.kind = None, True, "string"
        return encode_basestring(held)[:-1]


def sink_for(
    kinds: frozenset[str] | None, notation: Notation | None = None, *, blank: str = "", before: str = ""
) -> Sink:
    """A sink for a value of these JSON types; where none are declared the text is kept as a string."""
    return Sink(kinds or _STRING, notation, blank=blank, before=before)
