"""What the gateway asks of every worker, whether a server somewhere or an engine in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from .order import Order, Piece

__all__ = ["Capabilities", "Dispatch", "Reader", "Speech", "Wire", "Worker"]


class Speech(StrEnum):
    """In what form prompts and outputs go to and fro."""

    TOKENS = "tokens"
    """Token ids both ways."""
    TEXT = "text"
    """Raw text both ways, control tokens spelled out."""
    CHAT = "chat"
    """Messages in, and a stream out that the worker has parsed itself."""


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a worker can do, asked once when it is registered.

    `speech` are the forms that it takes, the best first. `models` are its own names of what it serves. `incremental` is
    whether the ids of a stream are those since the last event. `path` is a folder or file with the model's tokenizer,
    as the worker sees it; `template` its chat template; `context` how many tokens prompt and output may have. One that
    `lays_out` is given chats as they came, and needs no prompt.
    """

    kind: str
    version: str = ""
    speech: tuple[Speech, ...] = (Speech.TEXT,)
    models: tuple[str, ...] = ()
    incremental: bool = True
    context: int | None = None
    path: str | None = None
    template: str | None = None
    control: Mapping[str, int] = {}
    lays_out: bool = False


class Dispatch(Struct, frozen=True):
    """An HTTP request that is ready to be sent."""

    method: str
    path: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Reader(Protocol):
    """Reads the body of one worker's answer, in pieces of any size."""

    def feed(self, data: bytes) -> list[Piece]:
        """What these bytes hold; raises `WorkerFailed` for an error frame and for what is not of the protocol."""
        ...

    def finish(self) -> list[Piece]:
        """The end of the body; raises `WorkerFailed` if it comes before the answer's own end."""
        ...


class Wire(Protocol):
    """How one kind of server is spoken to: no I/O, requests and answers as values."""

    kind: str

    def build(self, order: Order, capabilities: Capabilities) -> Dispatch:
        """The request for an order; raises `Refused` for what this kind of server can't be asked."""
        ...

    def reader(self, order: Order, capabilities: Capabilities) -> Reader:
        """Who reads the answer to it."""
        ...


class Worker(Protocol):
    """A worker that can be given orders."""

    @property
    def name(self) -> str:
        """Its URL, or what else it is known by."""
        ...

    @property
    def capabilities(self) -> Capabilities: ...

    def generate(self, order: Order) -> AsyncIterator[Sequence[Piece]]:
        """The output, as it comes: all that one read from the network holds is one item.

        Raises `WorkerFailed`. Closing the iterator (``aclose``) ends the work on it at once, wherever it is.
        """
        ...

    async def is_well(self) -> bool:
        """Whether it answers at all; never raises."""
        ...

    async def close(self) -> None:
        """Lets go of connections, processes and threads."""
        ...
