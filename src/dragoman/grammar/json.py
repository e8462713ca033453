"""Incremental JSON (RFC 8259): a scanner that validates text as it passes, and never re-reads or keeps it.

`Scanner` answers one question per chunk: how far is this a JSON value? Its state is a bracket stack and a
number; the text itself goes to the caller, who publishes the very characters that were scanned. Ordinary
characters of strings are skipped by compiled regular expressions, and values that lie in the buffer complete by
the standard library's C scanner. What a short chunk does to a state is learned once and then looked up, since a
model writes from a finite vocabulary: the scanner is an automaton over tokens that builds itself as it runs.

`StringDecoder` undoes the escapes of a JSON string chunk by chunk, for arguments that a model wrote as JSON
inside a JSON string.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json import JSONDecoder, loads

from .raised import UP, has_raised

__all__ = ["DEPTH_LIMIT", "Scanner", "State", "StringDecoder"]

DEPTH_LIMIT = 256
"""Nesting beyond this is refused: no real call comes near it, and consumers recurse on it."""

NUMBER_LIMIT = 1024
"""Characters of one number; longer ones are an attack on whoever converts them."""

WHOLE = 64
"""Characters that must lie ahead before the C scanner is worth its set-up."""

SHORT = 16
"""Characters of the longest chunk whose effect is learned: longer ones hardly ever come twice."""

LEARNED_DEPTH = DEPTH_LIMIT - SHORT
"""Nesting beyond which no effect is used: each bracket must be counted."""

LEARNED_LIMIT = 1024
"""Effects kept for one configuration before they are forgotten, so that no input can make memory grow."""


class State:
    """The scanner's states, as small integers that compare fast."""

    VALUE = 0
    STRING = 1
    KEY = 2
    COLON = 3
    AFTER = 4
    NEXT_KEY = 5
    FIRST_KEY = 6
    FIRST_VALUE = 7
    ESCAPE = 8
    HEX = 9
    NUMBER = 10
    LITERAL = 11
    DONE = 12
    FAILED = 13


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _number(text: str) -> int:
    """Stands for the conversion of a number, which nobody needs."""
    if len(text) > NUMBER_LIMIT:
        raise ValueError(text)
    return 0


_decoder = JSONDecoder(parse_int=_number, parse_float=_number, parse_constant=_refuse)
_scan_whole: Callable[[str, int], tuple[object, int]] = _decoder.scan_once  # type: ignore[attr-defined]

_PLAIN = rf'[^"\\\x00-\x1f{UP}]*+'
_ESCAPED = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_string_run = re.compile(rf"{_PLAIN}(?:{_ESCAPED}{_PLAIN})*+").match
_space_run = re.compile(r"[ \t\n\r]*+").match
_unclean = re.compile(rf'["\\\x00-\x1f{UP}]').search

# The number grammar as an automaton over (start, minus, zero, integer, point, fraction, e, sign, exponent).
_NUMBER_EDGES: dict[str, tuple[tuple[str, str], ...]] = {
    "start": (("-", "minus"), ("0", "zero"), ("123456789", "integer")),
    "minus": (("0", "zero"), ("123456789", "integer")),
    "zero": ((".", "point"), ("eE", "e")),
    "integer": (("0123456789", "integer"), (".", "point"), ("eE", "e")),
    "point": (("0123456789", "fraction"),),
    "fraction": (("0123456789", "fraction"), ("eE", "e")),
    "e": (("+-", "sign"), ("0123456789", "exponent")),
    "sign": (("0123456789", "exponent"),),
    "exponent": (("0123456789", "exponent"),),
}
_NUMBER_STEPS = {
    (state, char): target for state, edges in _NUMBER_EDGES.items() for chars, target in edges for char in chars
}
_NUMBER_ENDS = frozenset(("zero", "integer", "fraction", "exponent"))
_NUMBER_INTEGERS = frozenset(("start", "minus", "zero", "integer"))
_LITERALS = {"t": "true", "f": "false", "n": "null"}
_KINDS = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}


class _Effect:
    """What one chunk does in one configuration; `tail` replaces the innermost brackets, `None` keeps them."""

    __slots__ = ("back", "effects", "left", "plain", "size", "state", "sub", "tail")

    def __init__(self, after: Scanner, tail: str | None) -> None:
        self.state, self.sub, self.back, self.left = after.state, after._sub, after._back, after._left
        self.size, self.tail, self.effects = after._size, tail, after.effects
        self.plain = tail is None and not after._size  # nothing changes but the state


_Effects = dict[str, "_Effect | None"]
_NOTHING_LEARNED: _Effects = {}
_Configuration = tuple[int, str, int, int, str]
_TAIL = 3
_IN_STRING = frozenset([State.STRING, State.ESCAPE, State.HEX])
_learned: dict[_Configuration, _Effects] = {}


def _effects_of(configuration: _Configuration) -> _Effects:
    effects = _learned.get(configuration)
    if effects is None:
        effects = _learned[configuration] = {}
    return effects


class Scanner:
    """Validates one JSON value, fed in pieces; O(1) state per open bracket, each character read once.

    `kind` is its JSON type. `members` lists, for a top-level object, its keys (as written, between the quotes) and
    the type of each value, if `watch` was set.
    """

    __slots__ = (
        "_back",
        "_floor",
        "_last",
        "_left",
        "_size",
        "_stack",
        "_sub",
        "effects",
        "error",
        "kind",
        "members",
        "state",
    )

    def __init__(self, *, watch: bool = False) -> None:
        self.state = State.VALUE
        self.error = ""
        self.members: list[tuple[str, str]] = []
        self.kind = ""
        self._floor = int(watch)  # brackets that learned effects must not touch: at depth 1, members are noted
        self._stack = ""  # the open brackets, outermost first
        self.effects = _NOTHING_LEARNED  # what chunks do in the present configuration, as far as that is known
        self._last: _Effect | None = (
            None  # the last effect, if what it says of the fields below is still to be taken over
        )
        self._back = State.STRING  # the kind of string that is open: the state to return to after an escape
        self._left = 0  # hexadecimal digits still to come
        self._sub = ""  # the key so far, what is left of a literal, or where in a number we are
        self._size = 0  # characters of the number so far

    def copy(self) -> Scanner:
        """An independent scanner in the same state."""
        other = Scanner.__new__(Scanner)
        for slot in Scanner.__slots__:
            setattr(other, slot, getattr(self, slot))
        other.members = self.members.copy()
        return other

    @property
    def done(self) -> bool:
        """Whether the value is complete; a top-level number only is when something else follows it."""
        return self.state == State.DONE

    @property
    def failed(self) -> bool:
        """Whether the text is not JSON; `error` says why."""
        return self.state == State.FAILED

    def scan(self, text: str, start: int) -> int:
        """Read from `start` and return the index behind the last character that belongs to the value."""
        if start == 0:
            effect = self.effects.get(text)
            if effect is not None:
                if effect.plain:
                    self.state, self.effects, self._last, self._size = effect.state, effect.effects, effect, 0
                    return len(text)
                return self._apply(effect, text)
            if self.state == State.STRING and _unclean(text) is None:
                return len(text)
        self._take_over()
        effects = self.effects
        if start == 0 and len(text) <= SHORT and effects is not _NOTHING_LEARNED and text not in effects:
            effect = self._learn(effects, text)
            if effect is not None:
                return self._apply(effect, text)
        i = self._read(text, start)
        self._configure()
        return i

    def _read(self, text: str, i: int) -> int:
        end = len(text)
        tried = end - i < WHOLE
        while i < end and self.state < State.DONE:
            if self.state == State.VALUE and not tried and text[i] in '{["' and len(self._stack) >= self._floor:
                whole = self._whole(text, i)
                if whole:
                    self._note(text[i])
                    self._close()
                    i = whole
                    continue
                tried = True  # once a chunk, so that failing costs at most a second look at it
            i = self._step(text, i)
        return i

    def _apply(self, effect: _Effect, text: str) -> int:
        if effect.size == len(text) and self.state == State.NUMBER:
            self._size += effect.size  # the number goes on from where it was
        else:
            self._size = effect.size
        self.state, self.effects, self._last = effect.state, effect.effects, effect
        if effect.tail is not None:
            keep = max(self._floor, len(self._stack) - _TAIL)
            self._stack = self._stack[:keep] + effect.tail
            if (keep > self._floor and len(effect.tail) < _TAIL) or len(self._stack) > LEARNED_DEPTH:
                self._take_over()
                self._configure()
        elif self._size > NUMBER_LIMIT // 2:
            self.effects = _NOTHING_LEARNED
        return len(text)

    def _take_over(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            self._sub, self._back, self._left = last.sub, last.back, last.left

    def _configure(self) -> None:
        """Find the effects for the present configuration, where chunks act on the innermost brackets alone."""
        stack, state = self._stack, self.state
        inside = len(stack) > self._floor or (state in _IN_STRING and self._back == State.STRING)
        if not inside or state >= State.DONE or self._size > NUMBER_LIMIT // 2 or len(stack) > LEARNED_DEPTH:
            self.effects = _NOTHING_LEARNED
            return
        tail = stack[max(self._floor, len(stack) - _TAIL) :]
        self.effects = _effects_of((self.state, self._sub, self._back, self._left, tail))

    def _learn(self, effects: _Effects, text: str) -> _Effect | None:
        """Work out what a chunk does here by reading it with the innermost brackets alone."""
        if len(effects) >= LEARNED_LIMIT:
            effects.clear()
        trial = self.copy()
        tail = trial._stack = self._stack[max(self._floor, len(self._stack) - _TAIL) :]
        trial._floor, trial._size, trial.members = 0, 0, []
        trial._read(text, 0)
        effect = None
        if trial.state < State.DONE:
            # A state that depends on brackets below the tail shows as `DONE`; all others are the same above them.
            trial._configure()
            effect = _Effect(trial, None if trial._stack == tail else trial._stack)
        effects[text] = effect
        return effect

    def finish(self) -> bool:
        """Whether the value is complete if the input ends here."""
        self._take_over()
        if self.state == State.NUMBER and not self._stack and self._sub in _NUMBER_ENDS:
            self.state = State.DONE
        return self.state == State.DONE

    def _whole(self, text: str, i: int) -> int:
        """The end of the complete value that starts at `i`, 0 if it can't be told at once."""
        try:
            value, end = _scan_whole(text, i)
        except (StopIteration, ValueError, RecursionError):
            return 0
        if not text.isascii() and has_raised(text, i, end) is not None:
            return 0
        room = DEPTH_LIMIT - len(self._stack)
        if text[i] != '"' and text.count("[", i, end) + text.count("{", i, end) > room and _depth(value) > room:
            return 0
        return end

    def _step(self, text: str, i: int) -> int:
        """Take one token, or the part of it that is there."""
        state = self.state
        if state == State.STRING or state == State.KEY:
            return self._in_string(text, i)
        if state >= State.ESCAPE:
            return self._in_token(text, i)
        char = text[i]
        if char in " \t\n\r":
            found = _space_run(text, i)
            return found.end() if found else i
        if state == State.AFTER:
            return self._after(char, i)
        if state == State.COLON:
            return self._expect(char, i, ":", State.VALUE)
        if state == State.NEXT_KEY or (state == State.FIRST_KEY and char != "}"):
            return self._expect(char, i, '"', State.KEY)
        if (state == State.FIRST_KEY and char == "}") or (state == State.FIRST_VALUE and char == "]"):
            return self._pop(i)
        return self._value(char, i)

    def _in_string(self, text: str, i: int) -> int:
        found = _string_run(text, i)
        end = found.end() if found else i
        watched = self._floor and self.state == State.KEY and len(self._stack) == 1
        if watched:
            self._sub += text[i:end]
        if end == len(text):
            return end
        char = text[end]
        if char == '"':
            if self.state == State.KEY:
                if watched:
                    self.members.append((self._sub, ""))
                self.state = State.COLON
            else:
                self._close()
            return end + 1
        if char != "\\":
            return self._fail(end, "a control character in a string")
        if watched:
            self._sub += char
        self._back, self.state = self.state, State.ESCAPE
        return end + 1

    def _in_token(self, text: str, i: int) -> int:
        state = self.state
        if state == State.NUMBER:
            return self._in_number(text, i)
        char = text[i]
        if state == State.LITERAL:
            if char != self._sub[0]:
                return self._fail(i, f"expected {self._sub!r}")
            self._sub = self._sub[1:]
            if not self._sub:
                self._close()
            return i + 1
        if self._floor and self._back == State.KEY and len(self._stack) == 1:
            self._sub += char
        if state == State.HEX:
            if char not in "0123456789abcdefABCDEF":
                return self._fail(i, "expected four hexadecimal digits")
            self._left -= 1
            if self._left == 0:
                self.state = self._back
        elif char == "u":
            self.state, self._left = State.HEX, 4
        elif char in '"\\/bfnrt':
            self.state = self._back
        else:
            return self._fail(i, f"no such escape: \\{char}")
        return i + 1

    def _in_number(self, text: str, i: int) -> int:
        sub, start = self._sub, i
        for i in range(start, min(len(text), start + NUMBER_LIMIT + 1)):
            target = _NUMBER_STEPS.get((sub, text[i]))
            if target is None:
                self._sub = sub
                if sub not in _NUMBER_ENDS:
                    return self._fail(i, "not a number")
                self._close()
                return i
            if target not in _NUMBER_INTEGERS and self.members and len(self._stack) == 1:
                self.members[-1] = (self.members[-1][0], "number")
            sub = target
            self._size += 1
            if self._size > NUMBER_LIMIT:
                return self._fail(i, "a number is too long")
        self._sub = sub
        return len(text)

    def _value(self, char: str, i: int) -> int:
        self._note(char)
        if char == '"':
            self.state = self._back = State.STRING
        elif char == "{" or char == "[":
            if len(self._stack) >= DEPTH_LIMIT:
                return self._fail(i, "nested too deeply")
            self._stack += char
            self.state = State.FIRST_KEY if char == "{" else State.FIRST_VALUE
        elif char in _LITERALS:
            self.state, self._sub = State.LITERAL, _LITERALS[char][1:]
        elif char in "-0123456789":
            self.state, self._sub, self._size = State.NUMBER, "start", 0
            return i
        else:
            return self._fail(i, "expected a value")
        return i + 1

    def _after(self, char: str, i: int) -> int:
        top = self._stack[-1]
        if char == ",":
            self._sub = ""
            self.state = State.NEXT_KEY if top == "{" else State.VALUE
            return i + 1
        if char == ("}" if top == "{" else "]"):
            return self._pop(i)
        return self._fail(i, f"expected ',' or the end of the {_KINDS[top]}")

    def _expect(self, char: str, i: int, wanted: str, state: int) -> int:
        if char != wanted:
            return self._fail(i, f"expected {wanted!r}")
        self.state, self._sub = state, ""
        return i + 1

    def _pop(self, i: int) -> int:
        self._stack = self._stack[:-1]
        self._close()
        return i + 1

    def _close(self) -> None:
        self._sub, self._size = "", 0
        self.state = State.AFTER if self._stack else State.DONE

    def _note(self, char: str) -> None:
        if not self._stack:
            self.kind = _KINDS.get(char, "integer")
        elif self._floor and len(self._stack) == 1 and self.members:
            self.members[-1] = (self.members[-1][0], _KINDS.get(char, "integer"))

    def _fail(self, i: int, error: str) -> int:
        self.state, self.error = State.FAILED, error
        return i


_BOXES = frozenset([dict, list])


def _depth(value: object) -> int:
    """The nesting of a decoded value, without recursion."""
    depth = 0
    level = [value] if type(value) in _BOXES else []
    while level:
        depth += 1
        level = [
            item
            for box in level
            for item in (box.values() if isinstance(box, dict) else box if isinstance(box, list) else ())
            if type(item) in _BOXES
        ]
    return depth


class StringDecoder:
    """Undoes the escapes of a JSON string, fed in pieces without its quotes; holds at most one escape pair."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held = ""

    def copy(self) -> StringDecoder:
        """An independent decoder in the same state."""
        other = StringDecoder()
        other.held = self.held
        return other

    def feed(self, piece: str) -> str:
        """The decoded text of what has come; a cut escape or a lone high surrogate waits for the rest."""
        text = self.held + piece
        found = _string_run(text)
        end = found.end() if found else 0
        if _ends_in_high_surrogate(text, end):
            end -= 6
        self.held = text[end:]
        return _unescape(text[:end])

    def finish(self) -> str:
        """The decoded rest; an escape that was cut is kept as it is written."""
        held, self.held = self.held, ""
        found = _string_run(held)
        end = found.end() if found else 0
        return _unescape(held[:end]) + held[end:]


def _ends_in_high_surrogate(text: str, end: int) -> bool:
    # An escaped backslash before "ud83d" makes it plain text: count the backslashes.
    tail = text[max(0, end - 6) : end]
    if len(tail) < 6 or tail[:2] != "\\u" or not "d800" <= tail[2:].lower() <= "dbff":
        return False
    before = text[: end - 6]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    value = loads(f'"{text}"')
    assert isinstance(value, str)
    if not value.isascii() and has_raised(value) is not None:  # half a character, which stays as it is written
        return "".join([f"\\u{ord(char):x}" if has_raised(char) else char for char in value])
    return value
