"""One row of a batch under a constraint: free up to a trigger, then read along by an engine's matcher, then ended.

It knows nothing of masks and tensors: who makes those asks the row's reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Generic, Protocol, Self, TypeVar

from .triggers import GAP, Trigger, TriggerKind, pieces

__all__ = ["Reader", "Row", "Watch"]


class Reader(Protocol):
    """An engine's matcher, which reads along what is written; of no use any more once it has refused something."""

    def accept(self, token: int) -> bool:
        """Read a token; whether the grammar lets it through."""
        ...

    def accept_bytes(self, text: bytes) -> bool:
        """Read a part of a token's text; whether the grammar lets it through."""
        ...

    def copy(self) -> Self:
        """Another that stands where this one stands."""
        ...


R = TypeVar("R", bound=Reader)


class Watch:
    """Looks for triggers in what is written freely."""

    def __init__(self, triggers: Iterable[Trigger], spelling: Callable[[int], bytes]) -> None:
        triggers = list(triggers)
        words = [each.text for each in triggers if each.kind is TriggerKind.WORD]
        self.spelling = spelling
        self.tokens = frozenset(each.token for each in triggers if each.token is not None)
        self.patterns = [re.compile(each.text.encode()) for each in triggers if each.kind is TriggerKind.PATTERN]
        self.reach = max((len(word.encode()) + GAP * len(pieces(word)) for word in words), default=1)

    def found(self, tokens: Sequence[int]) -> tuple[bytes, Sequence[int]] | None:
        """What is written from the first trigger on that the last token completes: the end of one token, and tokens."""
        if tokens[-1] in self.tokens:
            return b"", tokens[-1:]
        spelled = [self.spelling(token) for token in tokens]
        text = b"".join(spelled)
        old = len(text) - len(spelled[-1])
        begins = [found.start(1) for one in self.patterns for found in one.finditer(text) if found.end() > old]
        if not begins:
            return None
        at, k = 0, 0
        while at + len(spelled[k]) <= min(begins):
            at += len(spelled[k])
            k += 1
        cut = min(begins) - at
        return (spelled[k][cut:], tokens[k + 1 :]) if cut else (b"", tokens[k:])

    def within_reach(self, tokens: Sequence[int]) -> Sequence[int]:
        """The last tokens, in which a trigger may have begun."""
        size = 0
        for k in range(len(tokens), 0, -1):
            if size >= self.reach:
                return tokens[k:]
            size += len(self.spelling(tokens[k - 1]))
        return tokens


class Row(Generic[R]):
    """What has been written in a row, as far as it matters."""

    def __init__(self, begin: Callable[[], R], stops: Collection[int], watch: Watch | None = None) -> None:
        self.begin, self.stops, self.watch = begin, stops, watch
        self.reader: R | None = begin() if watch is None else None
        self.recent: Sequence[int] = ()
        self.ended = self.lost = False

    @property
    def bound(self) -> R | None:
        """What constrains the next token; none in free text, and behind the end."""
        return None if self.ended else self.reader

    def read(self, token: int) -> None:
        """Go on by a token; with one that the constraint refuses, the row is lost and can but end."""
        if self.ended:
            return  # what pads a row that is shorter than others
        self.ended = token in self.stops
        if self.reader is None:
            if not self.ended:
                self._watch(token)
        elif not self.lost and not self.reader.accept(token):
            self.lost = True  # a beam of no probability, or some other processor had the last word

    def copy(self) -> Row[R]:
        """Another row that has the same written."""
        other: Row[R] = Row.__new__(Row)
        other.begin, other.stops, other.watch = self.begin, self.stops, self.watch
        other.reader = self.reader.copy() if self.reader is not None else None
        other.recent, other.ended, other.lost = self.recent, self.ended, self.lost
        return other

    def _watch(self, token: int) -> None:
        """Begin to constrain at a trigger, if what came in the same token as its end may follow it."""
        assert self.watch is not None
        self.recent = (*self.watch.within_reach(self.recent), token)
        found = self.watch.found(self.recent)
        if found is not None:
            reader, (cut, tokens) = self.begin(), found
            if (not cut or reader.accept_bytes(cut)) and all(map(reader.accept, tokens)):
                self.reader = reader
