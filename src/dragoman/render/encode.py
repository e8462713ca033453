"""Segments to token ids, each of which knows whose it is.

Text between two control tokens is encoded in one go, as the tokenizer of a chat template's whole text would, so that
ids are those that the model was trained on; but never across the place where the model began to write, since it did
not see what it would write. A token that lies in two segments belongs to the one in which it begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from ..errors import ControlText
from ..segments import NOBODY, Kind, Segment
from ..tokenizers import Tokenizer, control_pattern

__all__ = ["Encoder", "Span"]

V = TypeVar("V")

CACHED_LENGTH, CACHED = 64, 4096
"""Texts up to so many characters are kept encoded, so many of them: headers come again and again."""


class Span(Struct, frozen=True, gc=False):
    """Token ids ``[start, end)`` and whose they are; see `Segment`."""

    start: int
    end: int
    kind: Kind
    message: int = NOBODY
    part: int = NOBODY
    sampled: bool = False


class Encoder:
    """Encodes segments with a tokenizer; `refuses` text that spells a control token instead of quoting it."""

    __slots__ = ("_bytes", "_find", "_known", "_marks", "_refuses", "_sizes", "tokenizer")

    def __init__(self, tokenizer: Tokenizer, *, refuses: bool = False) -> None:
        self.tokenizer = tokenizer
        self._find = re.compile(f"({control_pattern(tokenizer).pattern})")
        self._refuses = refuses
        self._known = _Kept(tokenizer.encode)
        self._marks = _Kept(self._split)
        self._sizes = _Kept(self._size)
        self._bytes = _Written(tokenizer)

    def encode(self, segments: Sequence[Segment]) -> tuple[list[int], list[Span]]:
        """The ids of all segments, and the spans that tile them; raises `ControlText` where it refuses.

        O(n) in the text and its tokens.
        """
        ids: list[int] = []
        ends: list[int] = []  # where the ids of each owner end
        owners: list[Segment] = []
        run: list[str] = []  # ordinary text that is encoded in one go
        whose: list[Segment] = []
        marks, refuses = self._marks, self._refuses
        for segment in segments:
            if segment.apart and run:
                self._flush(run, whose, ids, ends, owners)
            if not segment.control:
                if refuses:
                    self._refuse(segment)
                run.append(segment.text)
                whose.append(segment)
                continue
            for piece in marks[segment.text]:
                if isinstance(piece, str):
                    run.append(piece)
                    whose.append(segment)
                    continue
                if run:
                    self._flush(run, whose, ids, ends, owners)
                ids.append(piece)
                ends.append(len(ids))
                owners.append(segment)
        if run:
            self._flush(run, whose, ids, ends, owners)
        return ids, _spans(ends, owners)

    def _split(self, text: str) -> list[str | int]:
        """A text of the format: its control tokens as ids, and what is between them."""
        control = self.tokenizer.control
        pieces = self._find.split(text)
        return [control[piece] if k % 2 else piece for k, piece in enumerate(pieces) if piece]

    def _refuse(self, segment: Segment) -> None:
        found = self._find.search(segment.text)
        if found is not None:
            raise ControlText(segment.message, segment.part, found.group(), found.start())

    def _flush(
        self, run: list[str], whose: list[Segment], ids: list[int], ends: list[int], owners: list[Segment]
    ) -> None:
        """Encode a run of ordinary text, and tell whose its tokens are."""
        if len(run) == 1:
            ids += self._known[run[0]]
            ends.append(len(ids))
        else:
            tokens = self._known["".join(run)]
            ends += self._ends(run, tokens, len(ids))
            ids += tokens
        owners += whose
        run.clear()
        whose.clear()

    def _ends(self, texts: list[str], tokens: Sequence[int], begin: int) -> list[int]:
        """Where each text ends among the tokens of all, from `begin` on: behind the last token that begins in it.

        The longest is not measured: what is before it is found from the front, what is behind it from the back.
        """
        if not tokens:
            return [begin] * len(texts)
        written, sizes = self._bytes, self._sizes
        lengths = [len(text) for text in texts]
        longest = lengths.index(max(lengths))
        ends: list[int] = []
        count, at, bound = 0, 0, _shift(texts[0], written[tokens[0]])
        for text in texts[:longest]:
            bound += sizes[text]
            while at < bound and count < len(tokens):
                at += len(written[tokens[count]])
                count += 1
            ends.append(begin + count)
        behind: list[int] = [begin + len(tokens)]
        count, at, bound = len(tokens) - 1, len(written[tokens[-1]]), 0
        for text in texts[:longest:-1]:
            bound += sizes[text]
            while count >= 0 and at <= bound:
                count -= 1
                at += len(written[tokens[count]])
            behind.append(begin + count + 1)
        return ends + behind[::-1]

    def _size(self, text: str) -> int:
        """The bytes of a text as the tokenizer has it."""
        text = self.tokenizer.normalize(text)
        return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class _Kept(dict[str, V]):
    """What a function makes of texts, kept of the short ones."""

    def __init__(self, make: Callable[[str], V]) -> None:
        super().__init__()
        self._make: Callable[[str], V] = make

    def __missing__(self, text: str) -> V:
        made = self._make(text)
        if len(text) <= CACHED_LENGTH:
            if len(self) >= CACHED:
                self.clear()
            self[text] = made
        return made


class _Written(dict[int, bytes]):
    """What each token stands for, found when it is first met."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__()
        self._bytes = tokenizer.token_bytes

    def __missing__(self, token: int) -> bytes:
        written = self[token] = self._bytes(token)
        return written


def _shift(text: str, first: bytes) -> int:
    """The bytes that the tokenizer puts before a text, by its first token: sentencepiece's space."""
    return 1 if first[:1] == b" " and text[:1] != " " else 0


def _spans(ends: Sequence[int], owners: Sequence[Segment]) -> list[Span]:
    """The ids up to each end are its owner's; neighbours of one owner become one span."""
    spans: list[Span] = []
    start, at = 0, 0
    last: Segment | None = None
    for end, owner in zip(ends, owners, strict=True):
        if end <= at:
            continue
        if last is not None and not (
            owner.message == last.message
            and owner.kind is last.kind
            and owner.part == last.part
            and owner.sampled is last.sampled
        ):
            spans.append(Span(start, at, last.kind, last.message, last.part, last.sampled))
            start = at
        last, at = owner, end
    if last is not None:
        spans.append(Span(start, at, last.kind, last.message, last.part, last.sampled))
    return spans
