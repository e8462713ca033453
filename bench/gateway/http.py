"""The fake worker's HTTP server: as little of HTTP/1.1 as gateways need, so that it costs next to nothing."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import msgspec

from .pace import Pace
from .script import Script
from .sse import HEAD, chat_pieces, generate_pieces

__all__ = ["HTTPWorker"]


class HTTPWorker:
    """What all connections share: the answers."""

    def __init__(self, script: Script, pace: Pace | None, folder: str) -> None:
        self.pace = pace
        self.streams = {"/generate": generate_pieces(script), "/v1/chat/completions": chat_pieces(script)}
        self.wholes = {path: b"".join(pieces) for path, pieces in self.streams.items()}
        self.pages = {path: msgspec.json.encode(value) for path, value in _pages(script, folder).items()}

    def __call__(self) -> asyncio.Protocol:
        return Connection(self)


def _pages(script: Script, folder: str) -> dict[str, Any]:
    """What SGLang says of itself."""
    model = {"model_path": folder, "tokenizer_path": folder, "is_generation": True, "served_model_name": script.model}
    server = {
        "model_path": folder, "tokenizer_path": folder, "served_model_name": script.model, "version": "0.5.23",
        "incremental_streaming_output": True, "stream_output": True, "skip_tokenizer_init": False,
        "context_length": 131_072, "max_total_num_tokens": 1_000_000, "max_req_input_len": 131_000, "dp_size": 1,
    }  # fmt: skip
    card = {
        "id": script.model, "object": "model", "created": 1_790_000_000, "owned_by": "sglang",
        "root": script.model, "max_model_len": 131_072,
    }  # fmt: skip
    return {
        "/health": {}, "/health_generate": {}, "/model_info": model, "/get_model_info": model, "/server_info": server,
        "/get_server_info": server, "/v1/models": {"object": "list", "data": [card]},
        "/v1/loads": {"loads": [], "version": "0.5.23"}, "/get_load": [],
    }  # fmt: skip


class Connection(asyncio.Protocol):
    """One connection, kept alive, one request at a time."""

    def __init__(self, worker: HTTPWorker) -> None:
        self._worker, self._held = worker, b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, parted, behind = self._held.partition(b"\r\n\r\n")
        if not parted:
            return
        length = _length(head)
        if len(behind) >= length:
            self._held = behind[length:]
            self._answer(head.split(b" ", 2)[1].partition(b"?")[0].decode())

    def _answer(self, path: str) -> None:
        worker = self._worker
        assert self._transport is not None
        if path not in worker.streams:
            page = worker.pages.get(path)
            line = b"404 Not Found" if page is None else b"200 OK"
            head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
            self._transport.write(head % (line, len(page or b"{}")) + (page or b"{}"))
        elif worker.pace is None:
            self._transport.write(HEAD + worker.wholes[path])
        else:
            self._transport.write(HEAD)
            worker.pace.add(self._steps(worker.streams[path]))

    def _steps(self, pieces: list[bytes]) -> Any:
        """Writes one token a call; the last with the end."""
        rest = iter([*pieces[:-2], pieces[-2] + pieces[-1]])

        def step() -> bool:
            piece = next(rest, None)
            if piece is None or self._transport is None:
                return False
            self._transport.write(piece)
            return True

        return step


def _length(head: bytes) -> int:
    _, found, value = head.lower().partition(b"\r\ncontent-length:")
    return int(value.split(b"\r\n", 1)[0]) if found else 0
