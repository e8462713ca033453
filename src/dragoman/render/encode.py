"""Segments to token ids, each of which knows whose it is.

Text between two control tokens is encoded in one go, as the tokenizer of a chat template's whole text would, so that
ids are those that the model was trained on; but never across the place where the model began to write, since it did
not see what it would write. A token that lies in two segments belongs to the one in which it begins.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct

from ..errors import ControlText
from ..segments import NOBODY, Kind, Segment
from ..tokenizers import Tokenizer, control_pattern

__all__ = ["Encoder", "Span"]

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

    __slots__ = ("_cache", "_find", "_lengths", "_refuses", "tokenizer")

    def __init__(self, tokenizer: Tokenizer, *, refuses: bool = False) -> None:
        self.tokenizer = tokenizer
        self._find = re.compile(f"({control_pattern(tokenizer).pattern})")
        self._lengths = _Lengths(tokenizer)
        self._refuses = refuses
        self._cache: dict[str, tuple[int, ...]] = {}

    def encode(self, segments: Sequence[Segment]) -> tuple[list[int], list[Span]]:
        """The ids of all segments, and the spans that tile them; raises `ControlText` where it refuses.

        O(n) in the text and its tokens.
        """
        ids: list[int] = []
        spans: list[Span] = []
        run: list[tuple[str, Segment]] = []
        control, split = self.tokenizer.control, self._find.split
        for segment in segments:
            if segment.apart and run:
                self._flush(run, ids, spans)
            if not segment.control:
                if self._refuses:
                    self._refuse(segment)
                run.append((segment.text, segment))
                continue
            for k, text in enumerate(split(segment.text)):
                if k % 2:
                    if run:
                        self._flush(run, ids, spans)
                    ids.append(control[text])
                    _extend(spans, len(ids), segment)
                elif text:
                    run.append((text, segment))
        if run:
            self._flush(run, ids, spans)
        return ids, spans

    def _refuse(self, segment: Segment) -> None:
        found = self._find.search(segment.text)
        if found is not None:
            raise ControlText(segment.message, segment.part, found.group(), found.start())

    def _flush(self, run: list[tuple[str, Segment]], ids: list[int], spans: list[Span]) -> None:
        """Encode a run of ordinary text, and tell whose its tokens are."""
        if len(run) == 1:
            text, segment = run[0]
            ids += self._encoded(text)
            _extend(spans, len(ids), segment)
            run.clear()
            return
        begin = len(ids)
        tokens = list(self._encoded("".join([text for text, _ in run])))
        ids += tokens
        for end, (_, segment) in zip(self._ends(run, tokens), run, strict=True):
            _extend(spans, max(begin + end, spans[-1].end if spans else 0), segment)
        run.clear()

    def _ends(self, run: list[tuple[str, Segment]], tokens: list[int]) -> list[int]:
        """Where each piece of a run ends among its tokens: behind the last one that begins in it."""
        sizes = [len(self.tokenizer.normalize(text).encode("utf-8", "surrogatepass")) for text, _ in run]
        total, length = sum(sizes), self._lengths.__getitem__
        bounds = list(accumulate(sizes[:-1]))
        front = [bound for bound in bounds if bound * 2 <= total]
        # No token is empty, so a bound lies among as many tokens from its side as there are bytes.
        shift = self._shift(run[0][0], tokens)
        ahead = list(accumulate(map(length, tokens[: front[-1] + shift]))) if front else []
        ends = [bisect_left(ahead, bound + shift) + 1 for bound in front]
        back = [total - bound for bound in bounds[len(front) :]]
        behind = list(accumulate(map(length, reversed(tokens[-back[0] :])))) if back else []
        ends += [len(tokens) - bisect_right(behind, bytes_left) for bytes_left in back]
        return [*ends, len(tokens)]

    def _shift(self, text: str, tokens: list[int]) -> int:
        """The bytes that the tokenizer puts before a text: sentencepiece's space."""
        first = self.tokenizer.token_bytes(tokens[0])
        return 1 if first[:1] == b" " and text[:1] != " " else 0

    def _encoded(self, text: str) -> Sequence[int]:
        if len(text) > CACHED_LENGTH:
            return self.tokenizer.encode(text)
        known = self._cache.get(text)
        if known is None:
            known = tuple(self.tokenizer.encode(text))
            if len(self._cache) >= CACHED:
                self._cache.clear()
            self._cache[text] = known
        return known


class _Lengths(dict[int, int]):
    """The bytes of each token, counted when first asked for."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._bytes = tokenizer.token_bytes

    def __missing__(self, token: int) -> int:
        length = self[token] = len(self._bytes(token))
        return length


def _extend(spans: list[Span], end: int, segment: Segment) -> None:
    """The ids up to here are this segment's: a new span, or more of the last one."""
    last = spans[-1] if spans else None
    start = last.end if last is not None else 0
    if end == start:
        return
    whose = (segment.kind, segment.message, segment.part, segment.sampled)
    if last is not None and whose == (last.kind, last.message, last.part, last.sampled):
        spans.pop()
        start = last.start
    spans.append(Span(start, end, *whose))
