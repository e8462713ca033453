"""The fake worker's gRPC server: as little of HTTP/2 as gateways need, so that it costs next to nothing.

grpcio's own server takes 60 us and more for each message, which would be the limit of whatever is measured. Here the
frames of an answer are made once; for each request only its stream's number and its id are put in.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import cast

from hpack import Decoder

from .pace import Pace
from .protobuf import model_info, number, request_id, response, server_info, token_messages
from .script import Script

__all__ = ["GRPCWorker"]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 0x20
WINDOW = 65_535
"""What may be sent before the reader says that there is room for more."""

STREAM_MARK = b"\x7e\xed\xbe\xef"
"""Stands for a stream's number in frames that are made beforehand."""

BEGIN = b"\x88" + b"\x0f\x10\x10application/grpc"  # :status 200, content-type
TRAILERS = b"\x00\x0bgrpc-status\x010"


def frame(kind: int, flags: int, stream: bytes, content: bytes) -> bytes:
    """A frame of HTTP/2."""
    return len(content).to_bytes(3, "big") + bytes((kind, flags)) + stream + content


def message(content: bytes, stream: bytes) -> bytes:
    """A message of gRPC in a frame of its own."""
    return frame(DATA, 0, stream, b"\0" + len(content).to_bytes(4, "big") + content)


class GRPCWorker:
    """What all connections share: the answers."""

    def __init__(self, script: Script, pace: Pace | None, folder: str) -> None:
        self.pace, self._messages = pace, token_messages(script)
        self._frames: dict[int, tuple[bytes, list[int]]] = {}
        healthy, info = number(1, 1), model_info(script, folder)
        self.pages = {"HealthCheck": healthy, "GetModelInfo": info, "GetServerInfo": server_info(), "Abort": healthy}

    def __call__(self) -> asyncio.Protocol:
        return Connection(self)

    def frames(self, stream: int, request: bytes) -> list[bytes]:
        """The messages for a request, each in a frame."""
        if len(request) not in self._frames:
            pieces = [message(response(b"\x01" * len(request), each), STREAM_MARK) for each in self._messages]
            whole = b"".join(pieces)
            if whole.count(STREAM_MARK) != len(pieces) or whole.count(b"\x01" * len(request)) != len(pieces):
                raise ValueError("a mark is found in the messages themselves")
            self._frames[len(request)] = whole, [len(piece) for piece in pieces]
        whole, lengths = self._frames[len(request)]
        whole = whole.replace(STREAM_MARK, stream.to_bytes(4, "big")).replace(b"\x01" * len(request), request)
        found, at = [], 0
        for length in lengths:
            found.append(whole[at : at + length])
            at += length
        return found


class Stream:
    """An answer that is under way: frames that wait for room, and how much there is."""

    def __init__(self, number_: int, room: int) -> None:
        self.number, self.room = number_.to_bytes(4, "big"), room
        self.path, self.received = "", bytearray()
        self.waiting: deque[bytes] = deque()
        self.complete = False


class Connection(asyncio.Protocol):
    """One connection: reads frames, answers requests, sends no more than there is room for."""

    def __init__(self, worker: GRPCWorker) -> None:
        self._worker, self._held, self._decoder = worker, b"", Decoder()
        self._streams: dict[int, Stream] = {}
        self._room, self._stream_room = WINDOW, WINDOW
        self._greeted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(frame(SETTINGS, 0, bytes(4), b"\0\3\0\0\x10\0"))  # 4096 streams at once

    def connection_lost(self, exc: Exception | None) -> None:
        self._streams.clear()

    def data_received(self, data: bytes) -> None:
        held, at = self._held + data, 0
        if not self._greeted:
            if len(held) < len(PREFACE):
                self._held = held
                return
            self._greeted, at = True, len(PREFACE)
        while len(held) >= at + 9:
            length = int.from_bytes(held[at : at + 3], "big")
            if len(held) < at + 9 + length:
                break
            stream = int.from_bytes(held[at + 5 : at + 9], "big")
            self._read(held[at + 3], held[at + 4], stream, held[at + 9 : at + 9 + length])
            at += 9 + length
        self._held = held[at:]

    def _read(self, kind: int, flags: int, number_: int, content: bytes) -> None:
        match kind:
            case _ if kind == HEADERS:
                self._headers(flags, number_, content)
            case _ if kind == DATA and number_ in self._streams:
                if content:
                    self._transport.write(frame(WINDOW_UPDATE, 0, bytes(4), len(content).to_bytes(4, "big")))
                self._streams[number_].received += content
                if flags & END_STREAM:
                    self._answer(number_, self._streams[number_])
            case _ if kind == WINDOW_UPDATE:
                self._more_room(number_, int.from_bytes(content, "big"))
            case _ if kind == SETTINGS and not flags & 1:
                self._settings(content)
            case _ if kind == PING and not flags & 1:
                self._transport.write(frame(PING, 1, bytes(4), content))
            case _ if kind == RST_STREAM:
                self._streams.pop(number_, None)
            case _ if kind == CONTINUATION:
                raise ValueError("headers in several frames")
            case _:
                pass

    def _headers(self, flags: int, number_: int, content: bytes) -> None:
        if flags & PADDED:
            content = content[1 : -content[0] or None]
        if flags & PRIORITY:
            content = content[5:]
        fields = dict(self._decoder.decode(content))
        stream = self._streams[number_] = Stream(number_, self._stream_room)
        stream.path = str(fields[":path"]).rpartition("/")[2]
        if flags & END_STREAM:
            self._answer(number_, stream)

    def _settings(self, content: bytes) -> None:
        for at in range(0, len(content), 6):
            if content[at : at + 2] == b"\0\4":
                room = int.from_bytes(content[at + 2 : at + 6], "big")
                for stream in self._streams.values():
                    stream.room += room - self._stream_room
                self._stream_room = room
        self._transport.write(frame(SETTINGS, 1, bytes(4), b""))

    def _more_room(self, number_: int, room: int) -> None:
        if not number_:
            self._room += room
            for each in tuple(self._streams.values()):
                self._send(each)
        elif stream := self._streams.get(number_):
            stream.room += room
            self._send(stream)

    def _answer(self, number_: int, stream: Stream) -> None:
        begin = frame(HEADERS, END_HEADERS, stream.number, BEGIN)
        if stream.path != "Generate":
            page = self._worker.pages.get(stream.path)
            status = TRAILERS if page is not None else b"\x00\x0bgrpc-status\x0212"
            stream.waiting.append(begin + (message(page, stream.number) if page is not None else b""))
            end = frame(HEADERS, END_HEADERS | END_STREAM, stream.number, status)
            self._transport.write(stream.waiting.pop() + end)
            del self._streams[number_]
            return
        frames = self._worker.frames(number_, request_id(bytes(stream.received[5:])))
        self._transport.write(begin)
        if self._worker.pace is None:
            stream.waiting.extend(frames)
            stream.complete = True
            self._send(stream)
        else:
            self._worker.pace.add(self._steps(number_, stream, frames))

    def _steps(self, number_: int, stream: Stream, frames: list[bytes]) -> Callable[[], bool]:
        """Sends one token a call; the last with what completes the answer."""
        at, last = 0, len(frames) - 2

        def step() -> bool:
            nonlocal at
            if number_ not in self._streams:
                return False
            stream.waiting.append(frames[at])
            if at == last:
                stream.waiting.append(frames[at + 1])
                stream.complete = True
            at += 1
            self._send(stream)
            return at <= last

        return step

    def _send(self, stream: Stream) -> None:
        """Send what there is room for, and the end behind the last."""
        ready = []
        while stream.waiting:
            size = len(stream.waiting[0]) - 9
            if size > self._room or size > stream.room:
                break
            self._room -= size
            stream.room -= size
            ready.append(stream.waiting.popleft())
        if stream.complete and not stream.waiting:
            ready.append(frame(HEADERS, END_HEADERS | END_STREAM, stream.number, TRAILERS))
            self._streams.pop(int.from_bytes(stream.number, "big"), None)
        if ready:
            self._transport.write(b"".join(ready))
