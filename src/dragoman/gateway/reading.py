"""What a worker gives, as events: one reading of one output, whatever the worker speaks.

Token ids and raw text are read by the dialect's parser, chunks of a chat by the normaliser, and the output of a plain
completion by nobody: it is text. What an answer says beside the events is here too: why the worker stopped, what it
used, and the tokens of the visible text where they are asked for.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import zip_longest
from typing import Protocol

import msgspec

from ..dialect import Dialect
from ..events import ContentDelta, Event, ReasoningDelta
from ..parse.parser import Parser
from ..stream.chat_chunks import TokenEntry
from ..stream.chat_reader import ChatReader
from ..tokenizers import TokenDecoder, Tokenizer
from ..types import Tool
from .tokens import Attribution
from .workers.order import Chunk, Output, Piece, Prompt, Usage

__all__ = ["ChatReading", "ParsedReading", "PlainReading", "Reading"]


class Reading(Protocol):
    """Reads one output; `feed` takes what came, `finish` comes once, at the end.

    `ended` is set when the model's turn is over, whatever the worker still sends. `reason` is the worker's reason for
    the end, `usage` what it says it used, and `tokens` are those of visible text that were not taken yet.
    """

    ended: bool
    reason: str | None
    tokens: list[TokenEntry]
    matched: int | str | None

    def feed(self, pieces: Sequence[Piece]) -> list[Event]: ...

    def finish(self) -> list[Event]: ...

    def counts(self) -> tuple[int, int]:
        """Tokens of the output, and how many of them were thoughts; as far as that can be known."""
        ...

    @property
    def usage(self) -> Usage | None: ...

    @property
    def residue(self) -> int:
        """Places where visible text has what looks like markup."""
        ...


class ParsedReading:
    """Token ids, or raw text, read by the dialect's parser.

    With a `tokenizer`, ids are read where a piece has them, and text stands for ordinary text; without one, all is text
    that spells its markers. A token in `cuts` ends the output and is no part of it: the caller has asked to stop there.
    With `by_spelling`, ids too are read by the text that they spell, for constraints that speak of text: under such a
    one, a model may spell a marker in ordinary tokens.
    """

    residue = 0

    def __init__(
        self,
        dialect: Dialect,
        tools: Sequence[Tool],
        prompt: Prompt,
        tokenizer: Tokenizer | None,
        *,
        cuts: frozenset[int] = frozenset(),
        logprobs: bool = False,
        by_spelling: bool = False,
    ) -> None:
        self._cuts = cuts
        self._spelling = tokenizer if by_spelling else None
        known = None if by_spelling else tokenizer
        self._parser = Parser(dialect, tools or None, prefill=prompt.begun, tokenizer=known)
        self._by_ids = known is not None
        self._ends: list[int] = []  # of tokens, where the parser is given what they spell
        self._attribution = Attribution(tokenizer) if logprobs else None
        self._thoughts: list[list[int]] = []  # where in the output they stand
        self._given = 0  # pieces of text, or ids
        self._is_cut = False
        self.ended = False
        self.reason: str | None = None
        self.matched: int | str | None = None
        self.usage: Usage | None = None
        self.tokens: list[TokenEntry] = []

    def feed(self, pieces: Sequence[Piece]) -> list[Event]:
        events: list[Event] = []
        for piece in pieces:
            assert type(piece) is Output
            if not self._is_cut and (piece.ids or piece.text):
                events += self._read(piece)
            if piece.usage is not None:
                self.usage = piece.usage
            if piece.finish is not None and self.reason is None:
                self.reason, self.matched = piece.finish, piece.matched
        return events

    def finish(self) -> list[Event]:
        events = self._parser.finish(self.reason)
        self._note(events)
        if self._attribution is not None:
            self.tokens += self._attribution.finish(events)
        return events

    def counts(self) -> tuple[int, int]:
        said = self.usage.completion if self.usage is not None else None
        total = self._given if said is None else said
        if not self._thoughts:
            return total, 0
        ends = self._parser.token_ends() if self._by_ids else self._ends
        inside = sum(bisect_right(ends, end) - bisect_right(ends, start) for start, end in self._thoughts)
        return total, min(inside, total)

    def _read(self, piece: Output) -> list[Event]:
        parser = self._parser
        if self._spelling is not None:
            events = self._spelled(piece, self._spelling)
        elif not self._by_ids or not piece.ids:
            self._given += len(piece.ids) or 1
            events = parser.feed(piece.text) if piece.text else []
            if self._attribution is not None:
                self._attribution.push_texts(piece.logprobs, parser.position)
        else:
            ids = self._cut(piece.ids)
            self._given += len(ids)
            if self._attribution is None or not piece.logprobs:
                events = parser.feed_tokens(ids)
            else:
                events = []
                for token, entry in zip(ids, piece.logprobs, strict=False):
                    events += parser.feed_tokens([token])
                    self._attribution.push(entry, parser.position)
                events += parser.feed_tokens(ids[len(piece.logprobs) :])  # some workers leave some of them out
        self._note(events)
        if self._attribution is not None:
            self.tokens += self._attribution.settle(events)
        self.ended = self.ended or parser.stopped
        return events

    def _spelled(self, piece: Output, tokenizer: Tokenizer) -> list[Event]:
        """The events of what is spelled, token by token: a character may be cut between them."""
        parser, attribution = self._parser, self._attribution
        if not piece.ids:
            self._given += 1
            events = parser.feed_bytes(piece.text.encode("utf-8", "replace"))
            if attribution is not None:
                attribution.push_texts(piece.logprobs, parser.position)
            return events
        events = []
        ids = self._cut(piece.ids)
        self._given += len(ids)
        for token, entry in zip_longest(ids, piece.logprobs[: len(ids)]):
            events += parser.feed_bytes(tokenizer.token_bytes(token))
            self._ends.append(parser.position)
            if attribution is not None and entry is not None:
                attribution.push(entry, parser.position)
        return events

    def _cut(self, ids: Sequence[int]) -> Sequence[int]:
        """The ids before one at which the caller wants the output to end."""
        if self._cuts and not self._cuts.isdisjoint(ids):
            at = next(k for k, token in enumerate(ids) if token in self._cuts)
            self.ended = self._is_cut = True
            self.reason, self.matched = "stop", ids[at]
            return ids[:at]
        return ids

    def _note(self, events: Sequence[Event]) -> None:
        """Remember where thoughts stand."""
        for event in events:
            if type(event) is ReasoningDelta:
                if self._thoughts and self._thoughts[-1][1] == event.start:
                    self._thoughts[-1][1] = event.end
                else:
                    self._thoughts.append([event.start, event.end])


class ChatReading:
    """Chunks of a chat that a worker has parsed, whose parser may leak."""

    def __init__(self, dialect: Dialect, tools: Sequence[Tool]) -> None:
        self._reader = ChatReader(dialect, tools or None)
        self.ended = False
        self.reason: str | None = None
        self.matched: int | str | None = None
        self.tokens: list[TokenEntry] = []
        self._chunks = 0

    @property
    def usage(self) -> Usage | None:
        said = self._reader.usage
        if not isinstance(said, dict):
            return None
        details = said.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        numbers = (said.get("prompt_tokens"), said.get("completion_tokens"), cached)
        return Usage(*(number if isinstance(number, int) else None for number in numbers))

    @property
    def residue(self) -> int:
        return sum(self._reader.residue.values())

    def feed(self, pieces: Sequence[Piece]) -> list[Event]:
        events: list[Event] = []
        for piece in pieces:
            assert type(piece) is Chunk
            self._chunks += 1
            events += self._reader.feed(piece.value)
            self.tokens += _entries(piece)
        return events

    def finish(self) -> list[Event]:
        events = self._reader.finish()
        self.reason = self._reader.reason
        return events

    def counts(self) -> tuple[int, int]:
        usage = self.usage
        said = usage.completion if usage is not None else None
        details = (self._reader.usage or {}).get("completion_tokens_details")
        thoughts = details.get("reasoning_tokens") if isinstance(details, dict) else None
        return self._chunks if said is None else said, thoughts if isinstance(thoughts, int) else 0


def _entries(piece: Chunk) -> list[TokenEntry]:
    """The tokens with log probabilities that a chunk has."""
    match piece.value:
        case {"choices": [{"logprobs": {"content": list(content)}}, *_]}:
            try:
                return msgspec.convert(content, list[TokenEntry])
            except msgspec.ValidationError:
                return []
    return []


class PlainReading:
    """The output of a completion: text as it is, without the token that ended it."""

    residue = 0

    def __init__(
        self,
        tokenizer: Tokenizer | None,
        *,
        ends: frozenset[int] = frozenset(),
        with_special: bool = False,
        logprobs: bool = False,
    ) -> None:
        self._tokenizer = tokenizer
        self._decoder = TokenDecoder(tokenizer) if tokenizer is not None else None
        control = frozenset(tokenizer.control.values()) if tokenizer is not None else frozenset()
        self._ends, self._hidden = ends, frozenset() if with_special else control
        self._position, self._given = 0, 0
        self._attribution = Attribution(tokenizer) if logprobs else None
        self.ids: list[int] = []
        self.ended = False
        self.reason: str | None = None
        self.matched: int | str | None = None
        self.usage: Usage | None = None
        self.tokens: list[TokenEntry] = []

    def feed(self, pieces: Sequence[Piece]) -> list[Event]:
        texts: list[str] = []
        for piece in pieces:
            assert type(piece) is Output
            if not self.ended and (piece.ids or piece.text):
                texts.append(self._read(piece))
            if piece.usage is not None:
                self.usage = piece.usage
            if piece.finish is not None and self.reason is None:
                self.reason, self.matched = piece.finish, piece.matched
        return self._said("".join(texts))

    def finish(self) -> list[Event]:
        return self._said(self._decoder.finish() if self._decoder is not None else "")

    def counts(self) -> tuple[int, int]:
        said = self.usage.completion if self.usage is not None else None
        return self._given if said is None else said, 0

    def _said(self, text: str) -> list[Event]:
        if not text:
            return []
        start, self._position = self._position, self._position + len(text)
        return [ContentDelta(text, start, self._position)]

    def _read(self, piece: Output) -> str:
        self._given += len(piece.ids) or 1
        self.ids += piece.ids
        if self._decoder is None or not piece.ids:
            cut_off = self._decoder.finish() if self._decoder is not None else ""
            if self._attribution is not None:
                self.tokens += self._attribution.named(piece.logprobs)
            return cut_off + piece.text
        ids = piece.ids
        if not self._ends.isdisjoint(ids):
            at = next(k for k, token in enumerate(ids) if token in self._ends)
            self.ended, self.reason, self.matched = True, "stop", ids[at]
            ids = ids[:at]
        if self._attribution is not None:
            self.tokens += self._attribution.named(piece.logprobs[: len(ids)])
        if not self._hidden.isdisjoint(ids):
            ids = [token for token in ids if token not in self._hidden]
        return self._decoder.feed(ids)
