"""Turns a value of another notation into JSON as it comes.

A `Transcoder` is to a `notation` what the `Scanner` is to JSON: an automaton with a stack of brackets, which reads each
character once. It publishes what is certain and leaves a token that the end of the text cuts to its caller. Where the
text is wrong it stops at the very character that shows it, however the text was cut.
"""

from __future__ import annotations

import re
from json.encoder import encode_basestring

from .json import DEPTH_LIMIT, NUMBER_LIMIT, State
from .notation import GAP_LIMIT, SPACE, Marks, Notation, lexicon_of

__all__ = ["Transcoder"]

_WAIT = -1

_space_run = re.compile(rf"[{SPACE}]*+").match
_comma = re.compile(rf",([{SPACE}]{{0,{GAP_LIMIT}}}+)").match
_escape = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|[0-7]{1,3}+|[^uxU0-7])", re.DOTALL).match
_cut_escape = re.compile(r"\\(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|U[0-9a-fA-F]{0,7}|[0-7]{1,2})?\Z").match
_PYTHON_ESCAPES = {"'": "'", "a": "\\u0007", "v": "\\u000b", "\n": ""}
_CLOSERS = {"{": "}", "[": "]", "(": ")"}

_plain_number = re.compile(r"-?(?:0|[1-9][0-9]{0,30}+)(?:\.[0-9]{1,30}+)?(?=[,\]})])").match
_json_number = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?").fullmatch
_KINDS = {"true": "boolean", "false": "boolean", "null": "null"}

# Python's numbers as an automaton over runs of digits ("0") and single other characters; what it writes before the
# digits or the character it writes only when they make the number JSON. A leading zero waits in "zero".
_number_part = re.compile(r"[0-9]++|[-+._eE]").match
_NUMBER: dict[tuple[str, str], tuple[str, str]] = {
    ("start", "-"): ("sign", "-"),
    ("start", "+"): ("sign", ""),
    ("start", "."): ("dot", "0"),
    ("sign", "."): ("dot", "0"),
    ("zero", "."): ("point", "0"),
    ("integer", "."): ("point", ""),
    ("dot", "0"): ("fraction", "."),
    ("point", "0"): ("fraction", "."),
    ("zero", "e"): ("e", "0"),
    ("integer", "e"): ("e", ""),
    ("point", "e"): ("e", ".0"),
    ("fraction", "e"): ("e", ""),
    ("e", "-"): ("e sign", "-"),
    ("e", "+"): ("e sign", "+"),
    ("e", "0"): ("exponent", ""),
    ("e sign", "0"): ("exponent", ""),
}
for _state in ("zero", "integer", "fraction", "exponent"):
    _NUMBER[_state, "_"] = (_state + " _", "")
    _NUMBER[_state + " _", "0"] = _NUMBER[_state, "0"] = (_state, "")
_FRACTIONAL = frozenset(("dot", "point", "e"))
_LEADING = frozenset(("start", "sign", "zero", "zero _"))
_ENDS = {"zero": "0", "integer": "", "point": ".0", "fraction": "", "exponent": ""}


class Transcoder:
    """Reads one value of a notation, in pieces; O(1) state per open bracket.

    `kind` is its JSON type, `members` a top-level object's keys (as JSON writes them, between the quotes) and the types
    of their values, if `watch` was set. `passed` are the places, in the text that was read last, of quotes that were
    taken as part of a string because nothing legal follows them.
    """

    __slots__ = (
        "_final",
        "_key",
        "_out",
        "_watch",
        "error",
        "in_key",
        "kind",
        "lexicon",
        "marks",
        "members",
        "passed",
        "size",
        "stack",
        "state",
        "sub",
        "tail",
    )

    def __init__(self, notation: Notation, *, watch: bool = False) -> None:
        self.lexicon = lexicon_of(notation)
        self._watch = watch
        self.state = State.VALUE
        self.error = self.kind = ""
        self.members: list[tuple[str, str]] = []
        self.passed: list[int] = []
        self.stack = ""  # the open brackets, outermost first
        self.marks = self.lexicon.marks[0]  # those of the string that is open
        self.in_key = False  # is the scalar being read a key?
        self._key: list[str] | None = None  # the pieces of a key that is watched
        self.sub = ""  # where in a number we are
        self.size = 0  # characters of the number so far
        self.tail = ""  # the token that waits, if `feed` is used
        self._final = False  # does no more text come?
        self._out: list[str] = []

    def copy(self) -> Transcoder:
        """An independent transcoder in the same state."""
        other = Transcoder.__new__(Transcoder)
        for slot in Transcoder.__slots__:
            setattr(other, slot, getattr(self, slot))
        other.members, other.passed, other._out = self.members.copy(), self.passed.copy(), []
        other._key = self._key.copy() if self._key is not None else None
        return other

    @property
    def done(self) -> bool:
        """Whether the value is complete; a number that nothing encloses only is when something else follows it."""
        return self.state == State.DONE

    @property
    def failed(self) -> bool:
        """Whether the text is not of this notation; `error` says why."""
        return self.state == State.FAILED

    @property
    def in_string(self) -> Marks | None:
        """What to look for, if a string is open that is no key."""
        return self.marks if self.state == State.STRING else None

    @property
    def held(self) -> int:
        """Characters that `feed` keeps."""
        return len(self.tail)

    def feed(self, piece: str) -> tuple[str, int]:
        """As `read`, but keep a token that the end of the piece cuts; the index is one in the piece."""
        kept, text = len(self.tail), self.tail + piece
        json, end = self.read(text, 0)
        if self.state >= State.DONE:
            self.tail = ""
            return json, end - kept
        self.tail = text[end:]
        return json, len(piece)

    def read(self, text: str, start: int, final: bool = False) -> tuple[str, int]:
        """The JSON of what is certain, and the index behind it; in the `final` text the end decides what it can."""
        self._final = final
        self.passed.clear()
        i, end = start, len(text)
        while i < end and self.state < State.DONE:
            after = self._step(text, i)
            if after == _WAIT:
                break
            i = after
        if final and self.state == State.NUMBER and not self.stack:
            self._end_number(i)
        json = "".join(self._out)
        self._out.clear()
        return json, i

    # Structure

    def _step(self, text: str, i: int) -> int:
        """Take one token, or what is there of it; the index behind it, or `_WAIT`."""
        state = self.state
        if state == State.STRING or state == State.KEY:
            return self._in_string(text, i) if self.marks.quote.copied else self._between_marks(text, i)
        if state == State.NUMBER:
            return self._in_number(text, i)
        char = text[i]
        if char in SPACE:
            found = _space_run(text, i)
            end = found.end() if found else i
            self._out.append(text[i:end])
            return end
        if state == State.AFTER:
            return self._comma(text, i) if char == "," else self._pop(char, i)
        if state == State.COLON:
            if char != ":":
                return self._fail(i, "expected ':'")
            self.state = State.VALUE
            self._out.append(char)
            return i + 1
        if (state == State.FIRST_KEY and char == "}") or (state == State.FIRST_VALUE and char in "])"):
            return self._pop(char, i)
        return self._value(text, i, char, key=state == State.FIRST_KEY or state == State.NEXT_KEY)

    def _comma(self, text: str, i: int) -> int:
        """A comma, which is left out before a closing bracket."""
        found = _comma(text, i)
        assert found is not None
        end = found.end()
        if end == len(text):
            return _WAIT
        if text[end] in "]})":
            self._out.append(found.group(1))
            return end
        self._out.append(found.group())
        self.state = State.NEXT_KEY if self.stack[-1] == "{" else State.VALUE
        return end

    def _pop(self, char: str, i: int) -> int:
        top = self.stack[-1]
        if char != _CLOSERS[top]:
            return self._fail(i, f"expected ',' or '{_CLOSERS[top]}'")
        self.stack = self.stack[:-1]
        self._out.append("}" if top == "{" else "]")
        self._close()
        return i + 1

    def _value(self, text: str, i: int, char: str, *, key: bool) -> int:
        """The beginning of a value or a key."""
        lexicon = self.lexicon
        if char in lexicon.firsts:
            if not self._final and lexicon.is_cut(text, i):
                return _WAIT
            for marks in lexicon.marks:
                if text.startswith(marks.quote.mark, i):
                    self._begin("string", key=key)
                    whole = marks.whole(text, i)
                    if whole is not None:
                        self._say(whole.group(1))
                        self._end("string")
                        return whole.end()
                    self.state, self.marks = (State.KEY if key else State.STRING), marks
                    return i + len(marks.quote.mark)
        if not key and (char == "{" or char in lexicon.arrays):
            return self._push(char, i)
        if lexicon.bare:
            return self._bare(text, i, key=key)
        if char in "0123456789.+-":
            whole = _plain_number(text, i)
            if whole is not None:
                self._whole(whole.group(), key=key)
                return whole.end()
            self._begin("integer", key=key)
            self.state, self.sub, self.size = State.NUMBER, "start", 0
            return i
        return self._word(text, i, key=key)

    def _push(self, char: str, i: int) -> int:
        if len(self.stack) >= DEPTH_LIMIT:
            return self._fail(i, "nested too deeply")
        self._note("object" if char == "{" else "array")
        self.stack += char
        self.state = State.FIRST_KEY if char == "{" else State.FIRST_VALUE
        self._out.append("{" if char == "{" else "[")
        return i + 1

    def _close(self) -> None:
        self.state = State.AFTER if self.stack else State.DONE

    def _note(self, kind: str) -> None:
        """The value that is being read has this type."""
        if not self.stack:
            self.kind = kind
        elif len(self.stack) == 1 and self.members:
            self.members[-1] = (self.members[-1][0], kind)

    def _begin(self, kind: str, *, key: bool) -> None:
        """A scalar begins; a key is a string, whatever it looks like."""
        self.in_key = key
        if not key:
            self._note(kind)
        elif self._watch and len(self.stack) == 1:
            self._key = []
        if key or kind == "string":
            self._out.append('"')

    def _say(self, json: str) -> None:
        """Part of a scalar."""
        self._out.append(json)
        if self._key is not None:
            self._key.append(json)

    def _end(self, kind: str) -> None:
        """A scalar ends."""
        if self.in_key or kind == "string":
            self._out.append('"')
        if self._key is not None:
            self.members.append(("".join(self._key), ""))
            self._key = None
        if self.in_key:
            self.state = State.COLON
        else:
            self._close()

    def _fail(self, i: int, error: str) -> int:
        self.state, self.error = State.FAILED, error
        return i

    # Scalars

    def _word(self, text: str, i: int, *, key: bool) -> int:
        words = self.lexicon.words
        found = self.lexicon.word.match(text, i)
        if found is None:
            common = max(k for word in words for k in range(len(word)) if text.startswith(word[:k], i))
            return self._fail(i + common, "expected a key" if key else "expected a value")
        if found.group() not in words:
            return _WAIT
        self._whole(words[found.group()], key=key)
        return found.end()

    def _whole(self, json: str, *, key: bool) -> None:
        """A number or a word that is all there."""
        kind = _KINDS.get(json) or ("integer" if json.lstrip("-").isdigit() else "number")
        self._begin(kind, key=key)
        self._say(json)
        self._end(kind)

    def _bare(self, text: str, i: int, *, key: bool) -> int:
        """Bare text up to what ends it, which tells whether it is a number or a word."""
        lexicon = self.lexicon
        limit = lexicon.bare
        found = (lexicon.bare_key if key else lexicon.bare_value)(text, i, i + limit + 1)
        end = found.end() if found else i
        if end - i > limit:
            return self._fail(i + limit, "bare text is too long")
        if end == len(text) and not (self._final and not self.stack):
            return _WAIT
        raw = text[i:end].rstrip(SPACE)
        if not raw or (not key and self.stack and text[end] not in ",}]"):
            return self._fail(end, "expected a key" if key else "expected a value")
        if not key and (raw in lexicon.words or _json_number(raw)):
            self._whole(lexicon.words.get(raw, raw), key=False)
        else:
            self._begin("string", key=key)
            self._say(encode_basestring(raw)[1:-1])
            self._end("string")
        return i + len(raw)

    def _in_number(self, text: str, i: int) -> int:
        room = NUMBER_LIMIT - self.size
        found = _number_part(text, i, i + max(room, 1))
        part = found.group() if found else ""
        what = "0" if part.isdigit() else part.lower()
        if what == "0" and self.sub in _LEADING:
            digits = part.lstrip("0")
            sub, json = ("integer", digits) if digits else ("zero", "")
        elif (self.sub, what) in _NUMBER:
            sub, before = _NUMBER[self.sub, what]
            json = before + (part if what in "0e" else "")
        else:
            return self._end_number(i)
        if not room:
            return self._fail(i, "a number is too long")
        if sub in _FRACTIONAL and not self.in_key:
            self._note("number")
        self.sub, self.size = sub, self.size + len(part)
        self._say(json)
        return i + len(part)

    def _end_number(self, i: int) -> int:
        if self.sub not in _ENDS:
            return self._fail(i, "not a number")
        self._say(_ENDS[self.sub])
        self._end("number")
        return i

    # Strings

    def _in_string(self, text: str, i: int) -> int:
        marks = self.marks
        found = marks.run(text, i)
        end = found.end() if found else i
        if end > i:
            self._say(encode_basestring(text[i:end])[1:-1])
            return end
        if text[i] == "\\":
            return self._undo_escape(text, i)
        mark = marks.quote.mark
        if not text.startswith(mark, i):
            if mark.startswith(text[i : i + len(mark)]) and not self._final:
                return _WAIT
        else:
            closed = marks.close(text, i + len(mark))
            if closed is not None:
                if closed.group(1) is None and not self._final:
                    return _WAIT
                self._end("string")
                return i + len(mark)
            self.passed.append(i)
        self._say(encode_basestring(text[i])[1:-1])
        return i + 1

    def _between_marks(self, text: str, i: int) -> int:
        mark = self.marks.quote.mark
        end = text.find(mark, i)
        stop = end
        if end < 0:
            cut = self.marks.partial(text, max(i, len(text) - len(mark) + 1))
            stop = cut.start() if cut is not None else len(text)
        if stop > i:
            self._say(encode_basestring(text[i:stop])[1:-1])
            return stop
        if end < 0:
            return _WAIT
        self._end("string")
        return end + len(mark)

    def _undo_escape(self, text: str, i: int) -> int:
        if _cut_escape(text, i) is not None:
            return _WAIT
        found = _escape(text, i)
        json = _json_of(found.group(), self.marks.quote.copied) if found is not None else None
        if found is None or json is None:  # Python has no such escape, and keeps the backslash
            self._say("\\\\")
            return i + 1
        self._say(json)
        return found.end()


def _json_of(escape: str, copied: str) -> str | None:
    """What one of Python's escapes is in a JSON string; ``None`` if it is none."""
    char = escape[1]
    if char == "u" or char in copied:
        return escape
    if char in _PYTHON_ESCAPES:
        return _PYTHON_ESCAPES[char]
    if char not in "xU01234567":
        return None
    base = 16 if char in "xU" else 8
    code = int(escape.lstrip("\\xU"), base)
    if 0xD800 <= code < 0xE000:
        return f"\\u{code:04x}"
    return encode_basestring(chr(code))[1:-1] if code <= 0x10FFFF else None
