"""``python -m bench.gateway.load``: many clients of a chat at once, in a process of their own.

While answers come in, a client keeps the bytes and looks only for the first text and the end; what was said is put
together and compared afterwards, so that the clients take little from what is measured. The result is one line of JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import perf_counter
from typing import cast
from urllib.parse import urlsplit

import msgspec
import uvloop
from msgspec import Struct

from .script import Script

__all__ = ["Load", "main"]

SPREAD = 1.0
"""Seconds over which the clients of a paced run begin, since people do not come in step."""

LONGEST = 120.0
"""Seconds until a run is given up; streams that have not ended then are lost."""

TEXT_BEGINS = (b'"content":"', b'"reasoning_content":"', b'"content": "', b'"reasoning_content": "')


class Load(Struct):
    """What the clients saw: streams that ended as they should, those that did not and why, and times in seconds."""

    streams: int = 0
    lost: int = 0
    wrong: int = 0
    why: list[str] = []
    tokens: int = 0
    events: int = 0
    seconds: float = 0
    first: list[float] = []
    """Until the first text, for each stream."""
    gaps: list[float] = []
    """The longest time between two reads, for each stream."""


class Answer:
    """One answer as it came."""

    __slots__ = ("began", "first", "gap", "last", "reads")

    def __init__(self, began: float) -> None:
        self.began, self.first, self.last, self.gap = began, 0.0, 0.0, 0.0
        self.reads: list[bytes] = []


class Client(asyncio.Protocol):
    """One connection, kept alive: asks so many times, one after the other."""

    def __init__(self, request: bytes, times: int, done: asyncio.Future[None]) -> None:
        self._request, self._left, self._done, self._tail = request, times, done, b""
        self.answers: list[Answer] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None)

    def _ask(self) -> None:
        self._left, self._tail = self._left - 1, b""
        self.answers.append(Answer(perf_counter()))
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        answer, now = self.answers[-1], perf_counter()
        answer.reads.append(data)
        if answer.last and now - answer.last > answer.gap:
            answer.gap = now - answer.last
        answer.last = now
        if not answer.first and _has_text(data):
            answer.first = now - answer.began
        self._tail = data[-5:] if len(data) >= 5 else (self._tail + data)[-5:]
        if self._tail == b"0\r\n\r\n" or not answer.reads[0].startswith(b"HTTP/1.1 200"):
            if self._left:
                self._ask()
            else:
                self._transport.close()


def _has_text(data: bytes) -> bool:
    """Whether a delta in it has text: a quote that does not close at once."""
    return any(
        (at := data.find(begin)) >= 0 and data[at + len(begin) :][:1] not in (b'"', b"") for begin in TEXT_BEGINS
    )


class _Delta(Struct):
    content: str | None = None
    reasoning_content: str | None = None


class _Choice(Struct):
    delta: _Delta
    finish_reason: str | None = None


class _Chunk(Struct):
    choices: list[_Choice] = []


_decode = msgspec.json.Decoder(_Chunk).decode


def _check(reads: list[bytes], said: Script) -> tuple[int, str]:
    """How many events have text, and what is wrong with the answer, if anything."""
    head, _, body = b"".join(reads).partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        return 0, f"{head[:40]!r} {body[:200]!r}"
    found: dict[str, list[str]] = {"reasoning_content": [], "content": []}
    finish, events, done = None, 0, False
    for event in _dechunked(body).split(b"\n\n"):
        if event.startswith(b"data: [DONE]"):
            done = True
        elif event.startswith(b"data: "):
            for choice in _decode(event[6:]).choices:
                finish = choice.finish_reason or finish
                for field, texts in found.items():
                    if text := getattr(choice.delta, field):
                        if field == "reasoning_content" and found["content"]:
                            return events, "a thought behind the answer"
                        texts.append(text)
                        events += 1
    for field, wanted in (("reasoning_content", said.reasoning), ("content", said.content)):
        if (text := "".join(found[field]).strip()) != wanted:
            return (
                events,
                f"{field} differs: {len(text)} characters, {len(wanted)} expected: {_difference(text, wanted)}",
            )
    return events, "" if finish == "stop" and done else f"finish {finish!r}, done {done}"


def _difference(text: str, wanted: str) -> str:
    at = next((at for at, (left, right) in enumerate(zip(text, wanted, strict=False)) if left != right), -1)
    return f"{text[at : at + 30]!r} for {wanted[at : at + 30]!r} at {at}"


def _dechunked(body: bytes) -> bytes:
    """What a chunked body carries; raises `ValueError` for one that is cut."""
    pieces, at = [], 0
    while size := int(body[at : (end := body.index(b"\r\n", at))], 16):
        pieces.append(body[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(pieces)


async def run(url: str, said: Script, streams: int, times: int, *, paced: bool) -> Load:
    """So many clients that ask so many times each; they begin together, or within a second."""
    loop, target, random = asyncio.get_running_loop(), urlsplit(url), Random(streams)
    content = msgspec.json.encode({
        "model": said.model, "stream": True, "temperature": 1,
        "messages": [{"role": "user", "content": "Tell me how caches work, and what may go wrong with them."}],
    })  # fmt: skip
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {target.netloc}\r\ncontent-type: application/json\r\n"
    request = head.encode() + b"content-length: %d\r\n\r\n" % len(content) + content
    clients: list[Client] = []

    async def client() -> None:
        await asyncio.sleep(random.random() * SPREAD if paced else 0)
        done: asyncio.Future[None] = loop.create_future()
        made = Client(request, times, done)
        clients.append(made)
        transport, _ = await loop.create_connection(lambda: made, target.hostname, target.port)
        try:
            async with asyncio.timeout(LONGEST):
                await done
        except TimeoutError:
            transport.close()

    began = perf_counter()
    made = await asyncio.gather(*(client() for _ in range(streams)), return_exceptions=True)
    load = Load(seconds=perf_counter() - began, why=[repr(each) for each in made if isinstance(each, BaseException)])
    for answer in (answer for each in clients for answer in each.answers):
        _count(load, answer, said)
    load.lost = streams * times - load.streams - load.wrong
    return load


def _count(load: Load, answer: Answer, said: Script) -> None:
    try:
        events, problem = _check(answer.reads, said)
    except (ValueError, msgspec.DecodeError) as error:
        load.why.append(f"cut or no JSON: {error}")
        return
    load.events += events
    if problem:
        load.wrong += 1
        load.why.append(problem)
    else:
        load.streams += 1
        load.tokens += len(said.ids)
        load.first.append(answer.first)
        load.gaps.append(answer.gap)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the clients and print what they saw."""
    parser = argparse.ArgumentParser(prog="python -m bench.gateway.load", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("said", type=Path, help="the script in JSON")
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--paced", action="store_true", help="begin within a second, not together")
    args = parser.parse_args(arguments)
    said = msgspec.json.decode(args.said.read_bytes(), type=Script)
    load = uvloop.run(run(args.url, said, args.streams, args.times, paced=args.paced))
    load.why = load.why[:3]
    sys.stdout.write(msgspec.json.encode(load).decode() + "\n")


if __name__ == "__main__":
    main()
