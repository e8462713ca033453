"""Log probabilities of the tokens of visible text: which tokens those are, and how an answer shows them.

A token is shown with the text that it is a part of, as soon as it is decided what that text is; tokens of markers,
thoughts and calls are not shown, as in OpenAI's API.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import msgspec

from ..events import ContentDelta, Event
from ..stream.chat_chunks import TokenEntry
from ..tokenizers import Tokenizer
from .workers.order import Alternative, TokenLogprob

__all__ = ["Attribution"]


class Attribution:
    """Holds tokens back until events tell what their characters are; linear in tokens and events."""

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self._tokenizer = tokenizer
        self._waiting: deque[tuple[TokenLogprob, int]] = deque()
        self._visible: deque[tuple[int, int]] = deque()
        self._decided = 0

    def push(self, token: TokenLogprob, end: int) -> None:
        """A token whose characters end there in the output."""
        self._waiting.append((token, end))

    def push_texts(self, tokens: Sequence[TokenLogprob], end: int) -> None:
        """Tokens of which only the texts are known, the last of which ends there."""
        ends = []
        for token in reversed(tokens):
            ends.append(end)
            end -= len(self._text(token.token).decode("utf-8", "replace"))
        for token, at in zip(tokens, reversed(ends), strict=True):
            self._waiting.append((token, at))

    def settle(self, events: Iterable[Event]) -> list[TokenEntry]:
        """The tokens of the visible text among these events, and those before that waited."""
        for event in events:
            end = event.end
            if end > self._decided:
                self._decided = end
                if type(event) is ContentDelta:
                    self._visible.append((event.start, end))
        found = []
        while self._waiting and self._waiting[0][1] <= self._decided:
            token, end = self._waiting.popleft()
            while self._visible and self._visible[0][1] < end:
                self._visible.popleft()
            if self._visible and self._visible[0][0] < end:
                found.append(self.entry(token))
        return found

    def finish(self, events: Iterable[Event]) -> list[TokenEntry]:
        """The last of them."""
        return self.settle(events)

    def named(self, tokens: Iterable[TokenLogprob]) -> list[TokenEntry]:
        """These tokens, as an answer shows them."""
        return [self.entry(token) for token in tokens]

    def entry(self, token: TokenLogprob) -> TokenEntry:
        """A token as an answer shows it."""
        top = [self._shown(one) for one in token.top]
        shown = self._shown(token)
        return msgspec.structs.replace(shown, top_logprobs=top)

    def _shown(self, token: TokenLogprob | Alternative) -> TokenEntry:
        written = self._text(token.token)
        return TokenEntry(written.decode("utf-8", "replace"), token.logprob, list(written))

    def _text(self, token: int | str) -> bytes:
        if isinstance(token, str):
            return token.encode("utf-8", "replace")
        return self._tokenizer.token_bytes(token) if self._tokenizer is not None else str(token).encode()
