"""What is asked of a worker and what it gives, whatever its protocol: plain values between the stages and the wire.

An `Order` is one continuation of one prompt. A worker answers it with `Output`s, as they come: token ids or raw text
for a parser to read, or chunks of a chat that the worker has parsed already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from ...constrain import Constraint
from ...types import JSON

__all__ = ["Alternative", "Chunk", "Order", "Output", "Piece", "Prompt", "Sampling", "TokenLogprob", "Usage"]


class Prompt(Struct, frozen=True):
    """A conversation as a model is given it: token ids, the text that they spell, or only what the caller sent.

    `ids` are ``None`` where the gateway has no tokenizer of the model, `text` where it knows no layout for it. In the
    text, user text never spells a control token. `begun` is the part of the assistant's turn that the prompt ends with.
    """

    ids: tuple[int, ...] | None = None
    text: str | None = None
    begun: str = ""


class Sampling(Struct, frozen=True, kw_only=True):
    """How the next token is chosen, in OpenAI's and vLLM's words; what is ``None`` was not asked for.

    `logprobs` is how many alternatives are wanted beside each token: 0 is the token's own only, ``None`` nothing.
    `extra` are fields by which the caller speaks to the worker itself; they are passed on as they are.
    """

    max_tokens: int | None = None
    min_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    seed: int | None = None
    logit_bias: Mapping[int, float] | None = None
    ignore_eos: bool | None = None
    logprobs: int | None = None
    extra: Mapping[str, JSON] = {}


class Order(Struct, frozen=True, kw_only=True):
    """One output that is wanted of a worker.

    `model` is the worker's own name of the model. `chat` is the caller's request, for workers that parse themselves; a
    completion has none. `stop_ids` are the tokens that end the model's turn, `stop_texts` the same spelled out for
    workers that are told texts: both belong to the dialect, what the caller gave as ``stop`` is the gateway's business.
    `constraint` says what may be written; one that is `eager` must hold from the first token on, another one only
    from where a call begins, and is left out where a worker can't wait for that. `headers` are sent along.
    """

    id: str
    model: str
    prompt: Prompt
    sampling: Sampling = Sampling()
    stop_ids: tuple[int, ...] = ()
    stop_texts: tuple[str, ...] = ()
    constraint: Constraint | None = None
    eager: bool = True
    control: Mapping[str, int] = {}
    chat: Mapping[str, JSON] | None = None
    headers: tuple[tuple[str, str], ...] = ()


class Alternative(Struct, frozen=True, gc=False):
    """A token that might have been chosen; `token` is its id or, where only that is known, its text."""

    token: int | str
    logprob: float


class TokenLogprob(Struct, frozen=True):
    """The log probability of a token that was chosen, and the likeliest ones in its place."""

    token: int | str
    logprob: float
    top: tuple[Alternative, ...] = ()


class Usage(Struct, frozen=True, gc=False):
    """Tokens so far, as the worker counts them; ``None`` where it does not."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


class Output(Struct, frozen=True):
    """A piece of raw output: token ids where the worker tells them, else text, control tokens spelled out.

    A piece may have both; who has the model's tokenizer then reads the ids alone. `finish` is the worker's reason for
    an end, in OpenAI's words (``stop``, ``length``, ``abort``, ...), ``None`` before the end; `matched` the stop token
    or text that it met. `usage` counts from the beginning, not this piece.
    """

    ids: Sequence[int] = ()
    text: str = ""
    logprobs: tuple[TokenLogprob, ...] = ()
    finish: str | None = None
    matched: int | str | None = None
    usage: Usage | None = None


class Chunk(Struct, frozen=True):
    """A chunk of a chat that the worker has parsed itself: a ``chat.completion.chunk``, decoded."""

    value: Mapping[str, JSON]


Piece: TypeAlias = Output | Chunk
