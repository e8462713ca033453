"""What happens to a chat, stage by stage, from a request that was read to an answer that can be sent.

    Detect      whose model, and so which dialect
    Prepare     the prompt, what may be written, and how
    Select      a worker, and a lease of it for as long as the answer lives
    Acquire     whether that worker can be given this prompt, and in which form
    Build       an order for each choice
    Describe    the answer's id, model and time
    Execute     the worker begins: here the first pieces are there
    Respond     the answer itself (`answers`)

Each takes what the one before gives, by type; all dialects and all workers go the same way. The stages from `Select` to
`Execute` are done again with another worker if one fails before its first piece. Completions and `/generate` have a
`Prepare` and a `Respond` of their own (`plain`), and share the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from random import Random
from typing import Generic, Protocol, TypeVar

from msgspec import Struct, structs

from ..constrain import Constraint
from ..errors import InvalidConversation, Refused, WorkerFailed
from ..parse.parser import toolbox
from ..types import JSON, Tool
from .catalog import Catalog
from .fleet.fleet import Fleet
from .fleet.limits import Retries, is_retryable
from .fleet.policies import Ask
from .fleet.seat import Lease
from .protocol.chat import ChatRequest
from .record import Record
from .served import ServedModel
from .wanted import constraint_of, template_options
from .workers.order import Order, Piece, Prompt, Sampling
from .workers.worker import Capabilities, Speech, Worker

__all__ = [
    "Acquire",
    "Acquired",
    "Build",
    "Built",
    "Describe",
    "Described",
    "Detect",
    "Execute",
    "Executed",
    "Opened",
    "Pipeline",
    "Prepare",
    "Prepared",
    "Request",
    "Select",
    "Selected",
    "Spoken",
    "require_room",
    "together",
]

LARGE = 1 << 16
"""Bytes of a body from which it is prepared in a thread, so that others' tokens do not wait for it."""


class Request(Protocol):
    """What every endpoint's request has."""

    @property
    def model(self) -> str: ...

    @property
    def n(self) -> int | None: ...

    @property
    def sampling(self) -> Sampling: ...

    @property
    def session(self) -> str | None: ...


class Closing(Protocol):
    """What has begun and must be closed."""

    async def close(self) -> None: ...


R = TypeVar("R", bound=Request)
C = TypeVar("C", bound=Closing)


class Spoken(Struct, Generic[R], frozen=True):
    """A request and whom it is for."""

    request: R
    model: ServedModel
    record: Record


class Prepared(Struct, Generic[R], frozen=True, kw_only=True):
    """What a worker is to be asked, whoever it will be.

    `raw` is the request itself, for a worker that lays out chats on its own, ``None`` where there is no chat. `unsaid`
    is why there is no prompt, where only such a worker can be asked.
    """

    spoken: Spoken[R]
    prompt: Prompt
    tools: tuple[Tool, ...] = ()
    constraint: Constraint | None = None
    eager: bool = True
    cuts: tuple[int, ...] = ()
    raw: Mapping[str, JSON] | None = None
    unsaid: InvalidConversation | None = None


class Selected(Struct, Generic[R], frozen=True):
    """The same, and who will do it."""

    prepared: Prepared[R]
    lease: Lease


class Acquired(Struct, Generic[R], frozen=True):
    """The same, and in which form the worker gets it."""

    selected: Selected[R]
    worker: Worker
    speech: Speech


class Built(Struct, Generic[R], frozen=True):
    """The orders, one for each choice."""

    acquired: Acquired[R]
    orders: tuple[Order, ...]


class Described(Struct, Generic[R], frozen=True):
    """The same, and what the answer says of itself."""

    built: Built[R]
    id: str
    model: str
    created: int


class Opened:
    """An output that has begun: its first pieces, what comes, and the name of the worker who gives it."""

    __slots__ = ("first", "rest", "worker")

    def __init__(self, first: Sequence[Piece], rest: AsyncIterator[Sequence[Piece]], worker: str) -> None:
        self.first, self.rest, self.worker = first, rest, worker

    async def close(self) -> None:
        """End the work on it."""
        await _close(self.rest)


class Executed(Struct, Generic[R], frozen=True):
    """What a worker has begun to answer. Whoever has it must `close` it, on every way out."""

    described: Described[R]
    opened: tuple[Opened, ...]

    @property
    def spoken(self) -> Spoken[R]:
        return self.prepared.spoken

    @property
    def prepared(self) -> Prepared[R]:
        return self.selected.prepared

    @property
    def selected(self) -> Selected[R]:
        return self.described.built.acquired.selected

    async def close(self) -> None:
        """End all work on it, and give the worker back."""
        try:
            for opened in self.opened:
                await opened.close()
        finally:
            self.selected.lease.release()


class Detect:
    """Finds the model that a request names."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __call__(self, request: R, record: Record) -> Spoken[R]:
        model = self._catalog[request.model]
        record.model, record.dialect = model.name, model.dialect.name
        record.meet(model.name)
        return Spoken(request, model, record)


class Prepare:
    """Renders the prompt of a chat, and says what the model may write."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit

    async def __call__(self, spoken: Spoken[ChatRequest], size: int) -> Prepared[ChatRequest]:
        if size > LARGE or spoken.request.tools or spoken.request.response_format:
            return await asyncio.to_thread(self._prepared, spoken)
        return self._prepared(spoken)

    def _prepared(self, spoken: Spoken[ChatRequest]) -> Prepared[ChatRequest]:
        request, model = spoken.request, spoken.model
        choice = request.choice
        declared = request.declared
        toolbox(declared)  # a schema that can't be read is refused before a worker has anything to do
        shown = list(request.tools or ()) if choice.mode != "none" else []
        options = template_options(request, model)
        unsaid: InvalidConversation | None = None
        try:
            prompt = model.prompt(request.messages, shown, options, goes_on=bool(request.continue_final_message))
        except InvalidConversation as error:
            if not request.has_media:
                raise
            prompt, unsaid = Prompt(), error
        require_room(prompt, self._limit, "messages")
        eager = choice.mode == "required" or request.is_strict or request.response_format is not None
        return Prepared(
            spoken=spoken,
            prompt=prompt,
            tools=declared if choice.mode != "none" else (),
            constraint=constraint_of(request, model, prompt, declared, eager=eager)
            if prompt.text is not None
            else None,
            eager=eager,
            cuts=tuple(request.stop_token_ids or ()),
            raw=request.raw,
            unsaid=unsaid,
        )


def require_room(prompt: Prompt, limit: int | None, param: str) -> None:
    """Refuse a prompt of more tokens than this gateway takes, as far as they are known."""
    if limit is not None and prompt.ids is not None and len(prompt.ids) > limit:
        message = f"the prompt has {len(prompt.ids)} tokens; this gateway takes up to {limit}"
        raise Refused(400, "context_length_exceeded", message, param=param)


class Select:
    """Takes a worker."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def __call__(self, prepared: Prepared[R], tried: frozenset[str] = frozenset()) -> Selected[R]:
        spoken, prompt = prepared.spoken, prepared.prompt
        weight = len(prompt.ids) if prompt.ids is not None else len(prompt.text or "") // 4
        ask = Ask(
            model=spoken.model.name,
            ids=prompt.ids,
            text=prompt.text,
            session=spoken.request.session,
            tokens=weight + (spoken.request.sampling.max_tokens or 0),
            without=tried,
            unfit=frozenset(
                seat.name for seat in self._fleet.seats() if speech_of(seat.worker.capabilities, prepared) is None
            ),
        )
        lease = self._fleet.lease(ask)
        spoken.record.worker = lease.worker.name
        return Selected(prepared, lease)


def speech_of(can: Capabilities, prepared: Prepared[R]) -> Speech | None:
    """The first form in which a worker can be given a prompt; ``None`` if there is none."""
    for speech in can.speech:
        match speech:
            case Speech.TOKENS if prepared.prompt.ids is not None:
                return speech
            case Speech.TEXT if prepared.prompt.text is not None:
                return speech
            case _ if prepared.raw is not None and (speech is Speech.CHAT or can.lays_out):
                return speech
            case _:
                pass
    return None


class Acquire:
    """Sees in which form the worker can be given the prompt: ids before text before the messages themselves."""

    def __call__(self, selected: Selected[R]) -> Acquired[R]:
        worker, prepared = selected.lease.worker, selected.prepared
        speech = speech_of(worker.capabilities, prepared)
        if speech is not None:
            return Acquired(selected, worker, speech)
        if prepared.unsaid is not None:
            raise prepared.unsaid
        model = prepared.spoken.model
        takes = " or ".join(worker.capabilities.speech)
        message = f"worker {worker.name} takes {takes} only, and this can't be said so for {model.name!r}"
        if model.family is None:
            message += "; its chat template, or its tokenizer's folder, tells how its prompts are written"
        raise Refused(501, "prompt_not_expressible", message, param="model")


class Build:
    """Makes an order for each choice, which differ in their seeds."""

    def __call__(self, acquired: Acquired[R], trace: tuple[tuple[str, str], ...]) -> Built[R]:
        prepared, lease = acquired.selected.prepared, acquired.selected.lease
        spoken = prepared.spoken
        model, sampling = spoken.model, spoken.request.sampling
        count = spoken.request.n or 1
        ends = () if sampling.ignore_eos else model.stop_ids
        first = Order(
            id=spoken.record.id,
            model=lease.model,
            prompt=prepared.prompt,
            sampling=sampling,
            stop_ids=tuple(dict.fromkeys((*ends, *prepared.cuts))),
            stop_texts=model.stop_texts,
            constraint=prepared.constraint,
            eager=prepared.eager,
            control=model.tokenizer.control if model.tokenizer is not None else {},
            chat=prepared.raw,
            headers=trace,
        )
        if count == 1:
            return Built(acquired, (first,))
        orders = [
            structs.replace(
                first, id=f"{first.id}-{index}", sampling=_reseeded(sampling, index), chat=_single(first.chat, index)
            )
            for index in range(count)
        ]
        return Built(acquired, tuple(orders))


def _reseeded(sampling: Sampling, index: int) -> Sampling:
    return structs.replace(sampling, seed=sampling.seed + index) if sampling.seed is not None else sampling


def _single(chat: Mapping[str, JSON] | None, index: int) -> Mapping[str, JSON] | None:
    """A chat that asks for one choice, the same one for the same seed."""
    if chat is None:
        return None
    single = {key: value for key, value in chat.items() if key != "n"}
    seed = single.get("seed")
    return {**single, "seed": seed + index} if isinstance(seed, int) else single


class Describe:
    """Says what the answer says of itself."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now

    def __call__(self, built: Built[R], prefix: str) -> Described[R]:
        spoken = built.acquired.selected.prepared.spoken
        return Described(built, f"{prefix}{spoken.record.id}", spoken.model.name, int(self._now()))


class Execute:
    """Gives the orders to the worker and waits for the first piece of each."""

    async def __call__(self, described: Described[R]) -> Executed[R]:
        worker, orders = described.built.acquired.worker, described.built.orders
        if len(orders) == 1:
            return Executed(described, (await _open(worker, orders[0]),))
        return Executed(described, tuple(await together([_open(worker, order) for order in orders])))


async def together(begins: Sequence[Coroutine[None, None, C]]) -> list[C]:
    """All of these at once; where one fails, or nobody waits for them any more, those that have begun are closed."""
    tasks = [asyncio.ensure_future(begin) for begin in begins]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.shield(_close_all(tasks))  # the client may leave right now
        raise


async def _close_all(tasks: Sequence[asyncio.Future[C]]) -> None:
    for begun in await asyncio.gather(*tasks, return_exceptions=True):
        if not isinstance(begun, BaseException):
            await begun.close()


async def _open(worker: Worker, order: Order) -> Opened:
    stream = worker.generate(order)
    try:
        return Opened(await anext(stream), stream, worker.name)
    except StopAsyncIteration:
        raise WorkerFailed(worker.name, "its answer is empty") from None
    except BaseException:
        await _close(stream)
        raise


async def _close(stream: AsyncIterator[Sequence[Piece]]) -> None:
    closing = getattr(stream, "aclose", None)
    if closing is not None:
        await closing()


class Pipeline:
    """The stages that all endpoints share, and what is done again when a worker fails."""

    def __init__(
        self,
        catalog: Catalog,
        fleet: Fleet,
        *,
        retries: Retries,
        now: Callable[[], float],
        clock: Callable[[], float],
        random: Random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        prompt_limit: int | None = None,
    ) -> None:
        self.detect, self.prepare = Detect(catalog), Prepare(prompt_limit)
        self.select, self.acquire, self.build = Select(fleet), Acquire(), Build()
        self.describe, self.execute = Describe(now), Execute()
        self._retries, self._clock, self._random, self._sleep = retries, clock, random, sleep

    async def chat(
        self, request: ChatRequest, record: Record, size: int, trace: tuple[tuple[str, str], ...] = ()
    ) -> Executed[ChatRequest]:
        """A chat up to where a worker has begun to answer; raises `Refused` and `WorkerFailed`."""
        begun = self._clock()
        prepared = await self.prepare(self.detect(request, record), size)
        record.stages["prepare"] = self._clock() - begun
        return await self.run(prepared, "chatcmpl-", trace)

    async def run(self, prepared: Prepared[R], prefix: str, trace: tuple[tuple[str, str], ...] = ()) -> Executed[R]:
        """The stages from the choice of a worker on, with another worker each time one fails."""
        record = prepared.spoken.record
        tried: frozenset[str] = frozenset()
        attempt = 0
        while True:
            attempt += 1
            begun = self._clock()
            selected = self.select(prepared, tried)
            try:
                described = self.describe(self.build(self.acquire(selected), trace), prefix)
                executed = await self.execute(described)
            except WorkerFailed as error:
                selected.lease.failed(error)
                selected.lease.release()
                if attempt >= self._retries.attempts or not is_retryable(error):
                    raise
                tried |= {selected.lease.seat.name}
                record.retries.append(selected.lease.seat.name)
                await self._sleep(self._retries.pause(attempt, self._random))
            except BaseException:
                selected.lease.release()
                raise
            else:
                record.stages["execute"] = self._clock() - begun
                return executed
