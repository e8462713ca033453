"""One socket to a worker: requests out, answers in, one after the other, with a watchdog that costs nothing per read.

The protocol of HTTP is httptools' (llhttp's); here is what it can't know: when an answer that has no length ends, when
nothing has come for too long, and whether another request may follow. Pools and retries are `client.py`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from ...errors import WorkerFailed
from .limits import Limits
from .request import Origin
from .response import Response
from .tick import Tick

__all__ = ["Connection"]

AT_ONCE = 8
"""Reads of an answer that follow each other at once: its first words are waited for."""


class Connection(asyncio.Protocol):
    """A connection to a worker; `spare` is called when it is free for another request, `lost` when it is gone.

    Once an answer has begun, it is read at the beats of the `tick`, if there is one.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        origin: Origin,
        limits: Limits,
        spare: Callable[[Connection], None],
        lost: Callable[[Connection], None],
        tick: Tick | None = None,
    ) -> None:
        self._tick = tick
        self.origin = origin
        self.answers = 0
        """How many were begun."""
        self.stale = False
        """Whether it was lost before a byte of the last answer came."""
        self._untouched = True
        self._loop, self._limits = loop, limits
        self._spare, self._lost = spare, lost
        self._transport: asyncio.Transport | None = None
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._response: Response | None = None
        self._headers: dict[str, str] = {}
        self._lengthless = False  # the body ends with the connection
        self._barren = 0  # bytes since the last of a body: heads, trailers, and what is neither
        self._paused = False
        self._reads = 0  # of this answer
        self._stall = limits.stall
        self._deadline = inf
        self._timer: asyncio.TimerHandle | None = None

    # What the client does.

    def send(self, head: bytes, body: bytes, stall: float) -> Response:
        """Sends a request; its answer begins when the worker likes."""
        assert self._transport is not None
        assert self._response is None
        self._response = response = Response(self._loop, self)
        self.answers += 1
        self._untouched = True
        self._headers = {}
        self._lengthless = False
        self._barren = self._reads = 0
        self._stall = stall
        self._watch(stall)
        self._transport.writelines([head, body] if body else [head])
        return response

    def resume(self) -> None:
        if self._paused and self._transport is not None:
            self._paused = False
            self._watch(self._stall)
            self._transport.resume_reading()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    @property
    def usable(self) -> bool:
        """Whether another request may be sent, as far as is known."""
        return self._transport is not None and not self._transport.is_closing()

    # What asyncio does.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        response, parser = self._response, self._parser
        if response is None or parser is None:  # nothing was asked
            self.abort()
            return
        self._untouched = False
        self._barren += len(data)
        if not self._paused:
            self._deadline = self._loop.time() + self._stall
        try:
            parser.feed_data(data)
        except HttpParserUpgrade:
            self._fail("it answered with another protocol than HTTP")
        except HttpParserError as error:
            self._fail(f"what it answered is not HTTP: {str(error) or type(error).__name__}")
        if self._barren > self._limits.head:
            self._fail(f"its answer has headers of more than {self._limits.head} bytes")
        response.wake()
        if response.unread > self._limits.buffer and self._response is response and not self._paused:
            assert self._transport is not None
            self._paused = True
            self._deadline = inf  # the reader is slow, not the worker
            self._transport.pause_reading()
        elif self._tick is not None and self._response is response and response.status:
            self._reads += 1
            if self._reads > AT_ONCE and not self._paused:
                self._rest()

    def eof_received(self) -> None:
        return None  # the transport closes itself

    def connection_lost(self, exc: Exception | None) -> None:
        if self._response is not None:
            if exc is None and self._lengthless and self._response.status:
                self._response.end()
                self._response = None
            else:
                self.stale = self._untouched
                self._fail(self._how_lost(exc))
        self._transport = self._parser = None
        if self._timer is not None:
            self._timer.cancel()
        self._lost(self)

    # What httptools does.

    def on_message_begin(self) -> None:
        if self._response is None:  # more than was asked for
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._response is not None and not self._response.status:
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        status = self._parser.get_status_code()
        if status < 200:  # one that only says to wait
            self._headers = {}
        elif self._response is not None:
            self._lengthless = "content-length" not in self._headers and "transfer-encoding" not in self._headers
            self._response.begin(status, self._headers)

    def on_body(self, body: bytes) -> None:
        self._barren = 0
        if self._response is not None:
            self._response.add(body)

    def on_message_complete(self) -> None:
        response, transport = self._response, self._transport
        if response is None or transport is None or self._parser is None or not response.status:
            return
        self._response = None
        again = self._parser.should_keep_alive() and not transport.get_write_buffer_size()
        response.end()
        if self._paused:
            self._paused = False
            transport.resume_reading()
        if again and not transport.is_closing():
            self._watch(self._limits.idle)
            self._spare(self)
        else:
            transport.abort()

    # What the clock does.

    def _rest(self) -> None:
        """Leaves what comes next to the system for a moment, so that it is read in one go."""
        assert self._transport is not None
        assert self._tick is not None
        self._transport.pause_reading()
        self._tick.wait(self._go_on)

    def _go_on(self) -> None:
        if self._transport is not None and not self._transport.is_closing() and not self._paused:
            self._transport.resume_reading()

    def _watch(self, seconds: float) -> None:
        """Sets the deadline; the timer is only moved when it fires, or where it would fire too late."""
        self._deadline = deadline = self._loop.time() + seconds
        if self._timer is None or self._timer.when() > deadline:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._loop.call_at(deadline, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        self._timer = None
        if self._deadline == inf:
            return  # `resume` watches again
        if self._deadline > now:
            self._timer = self._loop.call_at(self._deadline, self._look)
        elif self._response is None:
            self.abort()
        else:
            self._fail(f"nothing came from it for {self._stall:g} seconds")

    def _fail(self, problem: str) -> None:
        response, self._response = self._response, None
        if response is not None:
            response.fail(WorkerFailed(str(self.origin), problem))
        self.abort()

    def _how_lost(self, exc: Exception | None) -> str:
        assert self._response is not None
        how = (
            f"the connection broke ({str(exc) or type(exc).__name__})"
            if exc is not None
            else "it closed the connection"
        )
        if self._untouched:
            return f"{how} without an answer"
        return f"{how} within the {'body' if self._response.status else 'headers'} of its answer"
