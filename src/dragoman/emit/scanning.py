"""Reads the text of a `Scan` character by character, by its definition: which word ends here first?

It keeps every word that has begun and not ended, as a person would who reads along; `expand` builds an automaton for
the same question, and the two are compared. Markdown code is followed by `dragoman.grammar.prose` itself.
"""

from __future__ import annotations

from typing import TypeAlias

from ..grammar.prose import Mode, ProseFrame, follow
from .rules import Scan

__all__ = ["Scanner"]

_Begun: TypeAlias = frozenset[str]
_Key: TypeAlias = tuple[_Begun, int, int, int]


class Scanner:
    """The states that a text can be in with regard to the words of one `Scan`; the first of them is 0.

    States are found as they are needed and kept, one for each distinct situation.
    """

    def __init__(self, scan: Scan) -> None:
        self.words = tuple(word for word, _ in scan.words)
        self._code = scan.code
        self._telling = frozenset("".join(self.words) + ("`\n" if scan.code else ""))
        self._other = next(char for char in map(chr, range(0x61, 0x110000)) if char not in self._telling)
        self._states: list[tuple[_Begun, ProseFrame]] = []
        self._numbers: dict[_Key, int] = {}
        self._moves: list[dict[str, int]] = []
        self._number(frozenset(), ProseFrame())

    def move(self, state: int, char: str) -> int:
        """The state behind one more character; if a word ends with it, ``-1`` minus its index."""
        moves = self._moves[state]
        char = char if char in self._telling else self._other
        after = moves.get(char)
        if after is None:
            after = moves[char] = self._moved(state, char)
        return after

    def read(self, state: int, text: str) -> tuple[int, int]:
        """The state behind as much of a text as no word ends before, or the word as in `move`; and how much that is."""
        for k, char in enumerate(text):
            state = self.move(state, char)
            if state < 0:
                return state, k + 1
        return state, len(text)

    def _moved(self, state: int, char: str) -> int:
        begun, frame = self._states[state]
        after = frame.copy()
        if self._code:
            follow(after, char)
        # A backtick opens code and may itself begin a word; what ends code is no longer in it.
        plain = frame.mode == Mode.TEXT or after.mode == Mode.TEXT
        spelled = {part + char for part in (*begun, *(("",) if plain else ()))}
        ended = [k for k, word in enumerate(self.words) if word in spelled]
        if ended:
            return -1 - max(ended, key=lambda k: len(self.words[k]))
        return self._number(frozenset(part for part in spelled if self._begins(part)), after)

    def _begins(self, part: str) -> bool:
        return any(word.startswith(part) for word in self.words)

    def _number(self, begun: _Begun, frame: ProseFrame) -> int:
        key = (begun, frame.mode, frame.size, frame.run)
        if key not in self._numbers:
            self._numbers[key] = len(self._states)
            self._states.append((begun, frame))
            self._moves.append({})
        return self._numbers[key]
