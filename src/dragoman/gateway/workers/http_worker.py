"""A worker behind HTTP, whatever it speaks: the wire says what goes over it, the client carries it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from ...errors import WorkerFailed
from ..transport import Client, Response
from .complaints import complaint
from .order import Order, Piece
from .pages import base_of, key_header
from .worker import Capabilities, Reader, Wire

__all__ = ["HttpWorker"]

COMPLAINT_BYTES = 1 << 16
"""Bytes of an error's body that are read."""


class HttpWorker:
    """A server at a URL; `key` is what it wants to see as a bearer's, and `health` where it says that it is well.

    The client is shared by all workers and closed by its owner. Cutting the connection is what ends the work on an
    order: all these servers watch for it.
    """

    def __init__(
        self,
        url: str,
        wire: Wire,
        client: Client,
        capabilities: Capabilities,
        *,
        key: str | None = None,
        health: str = "/health",
        patience: float = 5.0,
    ) -> None:
        self._url = base_of(url)
        self._wire, self._client = wire, client
        self._capabilities = capabilities
        self._key, self._headers = key, key_header(key)
        self._health, self._patience = health, patience

    @property
    def name(self) -> str:
        return self._url

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    async def generate(self, order: Order) -> AsyncGenerator[Sequence[Piece], None]:
        if order.constraint is None:
            dispatch = self._wire.build(order, self._capabilities)
        else:  # a grammar may take a while to be written out
            dispatch = await asyncio.to_thread(self._wire.build, order, self._capabilities)
        reader = self._wire.reader(order, self._capabilities)
        headers = (("content-type", "application/json"), *self._headers, *dispatch.headers)
        response = await self._client.open(dispatch.method, self._url + dispatch.path, headers, dispatch.body)
        try:
            if response.status != 200:
                raise await self._refusal(response)
            while data := await response.read():
                pieces = self._read(reader, data)
                if pieces:
                    yield pieces
            pieces = self._read(reader, None)
            if pieces:
                yield pieces
        finally:
            response.close()

    async def is_well(self) -> bool:
        try:
            got = await self._client.fetch("GET", self._url + self._health, self._headers, seconds=self._patience)
        except WorkerFailed:
            return False
        return got.status == 200

    async def close(self) -> None:
        """Nothing is the worker's own: the client, which many share, has the connections."""

    def _read(self, reader: Reader, data: bytes | None) -> Sequence[Piece]:
        try:
            return reader.finish() if data is None else reader.feed(data)
        except WorkerFailed as error:  # the wire does not know whom it reads
            raise WorkerFailed(self._url, complaint(error.problem.encode(), self._key), error.status) from None

    async def _refusal(self, response: Response) -> WorkerFailed:
        body = await response.collect(COMPLAINT_BYTES)
        if response.status in (401, 403):  # what is said then often has a part of the key
            return WorkerFailed(self._url, "it does not let the gateway in: its key may be wrong", response.status)
        said = complaint(body, self._key)
        return WorkerFailed(self._url, said or "it refused without a word", response.status)
