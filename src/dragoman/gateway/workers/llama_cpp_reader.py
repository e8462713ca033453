"""Reads the stream of llama.cpp's ``/completion``: ids where all of them come, else text, so that nothing is lost.

llama.cpp sends an event once the text so far is whole UTF-8, with one id: that of the last token. Ids inside of a
character of several tokens never come, which its own count of tokens tells; then the event's text is all that is known
of it. What it does not tell can't be a control token, since the spelling of one is whole. What is asked for is in
`llama_cpp`; all of this was seen on the server that xllamacpp 2026.10 has in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from msgspec import Struct

from ...errors import WorkerFailed
from ...stream.sse import ServerSentEvent
from .order import Alternative, Order, Output, Piece, TokenLogprob, Usage

__all__ = ["LlamaCppEvents"]

FINISHES = {"eos": "stop", "word": "stop", "limit": "length"}
CUT = "\N{REPLACEMENT CHARACTER}"
"""What stands for the bytes of a character that the limit has cut off, as in answers that are not streamed."""


class _Token(Struct):
    """A token that was chosen or might have been."""

    id: int
    token: str = ""
    logprob: float = 0.0
    top_logprobs: list[_Token] = []


class _Timings(Struct, frozen=True):
    cache_n: int | None = None


class _Fault(Struct):
    message: str = "an error"
    code: int | None = None


class _Event(Struct):
    """One event, as far as it is read; the fields are llama.cpp's."""

    content: str = ""
    tokens: list[int] = []
    stop: bool = False
    stop_type: str = ""
    stopping_word: str = ""
    tokens_predicted: int = 0
    tokens_evaluated: int | None = None
    timings: _Timings = _Timings()
    completion_probabilities: list[_Token] = []
    error: _Fault | None = None


_decode = msgspec.json.Decoder(_Event).decode


_Part: TypeAlias = tuple[list[int], str, list[TokenLogprob]]


class LlamaCppEvents:
    """One answer; `control` are the control tokens that the server was asked to spell out.

    With `told_ids` it gives ids, else text alone. A model that goes on behind one of its own stop tokens, since its
    file does not call that an end, is not listened to any more.
    """

    def __init__(self, order: Order, control: Mapping[str, int], *, told_ids: bool, kind: str = "llama.cpp") -> None:
        self._told_ids, self._kind = told_ids, kind
        self._logprobs = order.sampling.logprobs
        self._spelled = {token: text for text, token in control.items()}
        self._stops = {*order.stop_ids, *(control[text] for text in order.stop_texts if text in control)}
        self._exact = told_ids and all(text in control for text in order.stop_texts)
        self._pieces: list[Piece] = []
        self._parts: list[_Part] = []
        self._seen = 0  # tokens
        self._held: _Part | None = None  # a control token that may turn out to be the end
        self._stopped: int | None = None  # by this token of the dialect
        self._usage: Usage | None = None
        self._ended = False

    def read(self, event: ServerSentEvent) -> None:
        """A token, the end, or an error."""
        if self._ended:
            return
        said = _decode(event.data)
        if said.error is not None:
            raise WorkerFailed(self._kind, said.error.message, said.error.code)
        if self._stopped is not None and not said.stop:
            self._finish("stop", self._stopped)
            return
        self._usage = Usage(said.tokens_evaluated, said.tokens_predicted, said.timings.cache_n)
        if said.stop:
            self._last(said)
        else:
            self._partial(said)

    def end(self) -> None:
        """No more events: too early, unless the model had ended its turn."""
        if not self._ended and self._stopped is None:
            raise WorkerFailed(self._kind, "its stream ended before the answer did")
        if not self._ended:
            self._finish("stop", self._stopped)

    def take(self, *, last: bool = False) -> list[Piece]:
        """The pieces since the last time; what can be one `Output` is one."""
        self._gather()
        pieces, self._pieces = self._pieces, []
        return pieces

    def _partial(self, event: _Event) -> None:
        """A token, and those before it that made no whole character."""
        self._release()
        ids, text = event.tokens, event.content
        missing = event.tokens_predicted - self._seen - len(ids)
        self._seen = event.tokens_predicted
        logprobs = [self._logprob(token) for token in event.completion_probabilities]
        spelled = self._spelled.get(ids[-1]) if ids else None
        if spelled is None:
            self._parts.append((ids, text, logprobs) if self._exact and not missing else ([], text, logprobs))
            return
        if text.endswith(spelled) and len(text) > len(spelled):
            self._parts.append(([], text[: -len(spelled)], []))
            text = spelled
        token = ids[-1]
        part: _Part = ([token], text, logprobs)
        if token in self._stops:
            self._stopped = token
            self._parts.append(part)
        else:
            self._held = part

    def _last(self, event: _Event) -> None:
        """The end; the token that the model ends with is not part of its output where the dialect has no such end."""
        met: int | str | None = self._stopped
        if event.stop_type == "word":
            met = event.stopping_word
        elif event.stop_type == "eos" and self._held is not None:
            met, self._held = self._held[0][0], None
        self._release()
        if event.tokens_predicted > self._seen and event.stop_type == "limit":
            self._parts.append(([], CUT, []))
        self._finish(FINISHES.get(event.stop_type, "abort"), met)

    def _release(self) -> None:
        if self._held is not None:
            self._parts.append(self._held)
            self._held = None

    def _finish(self, finish: str, matched: int | str | None) -> None:
        self._gather()
        self._pieces.append(Output(finish=finish, matched=matched, usage=self._usage))
        self._ended = True

    def _gather(self) -> None:
        """Make outputs of the parts so far: one for each stretch in which ids are known, or are not."""
        parts, self._parts = [part for part in self._parts if any(part)], []
        known: bool | None = None
        stretch: list[_Part] = []
        for part in parts:
            has_ids = self._told_ids and bool(part[0])
            if stretch and has_ids != known:
                self._pieces.append(_output(stretch, has_ids=known is True, usage=self._usage))
                stretch = []
            known = has_ids
            stretch.append(part)
        if stretch:
            self._pieces.append(_output(stretch, has_ids=known is True, usage=self._usage))

    def _logprob(self, token: _Token) -> TokenLogprob:
        top = token.top_logprobs[: self._logprobs or 0]
        alternatives = tuple(Alternative(self._name(one), one.logprob) for one in top)
        return TokenLogprob(self._name(token), token.logprob, alternatives)

    def _name(self, token: _Token) -> int | str:
        """What a token is known by to whoever reads the answer."""
        return token.id if self._told_ids else token.token


def _output(parts: list[_Part], *, has_ids: bool, usage: Usage | None) -> Output:
    ids = [token for part in parts for token in part[0]] if has_ids else ()
    logprobs = tuple(logprob for part in parts for logprob in part[2])
    return Output(ids, "".join(part[1] for part in parts), logprobs, usage=usage)
