"""What the doubles of all servers have in common: they answer GETs with what they are, and POSTs as scripted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from .raw import Asked, RawServer
from .script import Script, play

__all__ = ["Call", "Double", "json_answer"]

Json = Mapping[str, Any]


class Call(msgspec.Struct):
    """A path that answers: what a request has to be, and the data of the events for it."""

    shape: type[msgspec.Struct]
    events: Callable[[Any, Script], Iterator[bytes]]


class Double(RawServer):
    """``async with SomeDouble(script) as server``: a worker that speaks a real protocol over real HTTP.

    `script` is one for all requests, or a function from the decoded body to one. `requests` are the bodies so far,
    decoded, `headers` theirs; `refused` what was said about those that the real server would have refused. What `pages`
    has is answered to GETs; a page that is ``None`` is 404. With a `key`, requests without it are 401.
    """

    error: Callable[[str], Json] = staticmethod(lambda message: {"error": {"message": message, "code": 500}})
    """An event that tells of an error."""

    def __init__(
        self,
        script: Script | Callable[[Json], Script] | None = None,
        *,
        pages: Mapping[str, Json | None] | None = None,
        calls: Mapping[str, Call] | None = None,
        key: str | None = None,
    ) -> None:
        super().__init__(self._serve)
        self.script = script or Script()
        self.pages: dict[str, Json | None] = {"/health": {}, **(pages or {})}
        self.calls = dict(calls or {})
        self.key = key
        self.requests: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.refused: list[str] = []

    def body(self, path: str, request: bytes, script: Script) -> bytes:
        """The body of the answer to a request; raises `msgspec.MsgspecError` where the server would refuse."""
        call = self.calls[path]
        events = call.events(msgspec.json.decode(request, type=call.shape), script)
        return b"".join(b"data: %b\n\n" % data for data in events)

    async def _serve(self, asked: Asked) -> None:
        path = asked.path.partition("?")[0]
        if self.key is not None and asked.headers.get("authorization") != f"Bearer {self.key}":
            await asked.write(json_answer(401, {"error": {"message": "Unauthorized"}}))
        elif asked.method == "GET" and self.pages.get(path) is not None:
            await asked.write(json_answer(200, self.pages[path]))
        elif asked.method == "POST" and path in self.calls:
            await self._answer_call(asked, self.calls[path])
        else:
            await asked.write(json_answer(404, {"detail": "Not Found"}))

    async def _answer_call(self, asked: Asked, call: Call) -> None:
        try:
            body = msgspec.json.decode(asked.body)
            request = msgspec.convert(body, call.shape)
        except (msgspec.MsgspecError, ValueError) as error:
            self.refused.append(str(error))
            await asked.write(
                json_answer(400, {"error": {"message": str(error), "type": "BadRequestError", "code": 400}})
            )
            return
        self.requests.append(body)
        self.headers.append(asked.headers)
        script = self.script if isinstance(self.script, Script) else self.script(body)
        await asyncio.sleep(script.delay)
        if script.status != 200:
            said = {"error": {"message": script.message, "type": "Error", "code": script.status}}
            await asked.write(json_answer(script.status, said))
            return
        await play(asked, script, call.events(request, script), msgspec.json.encode(self.error(script.message)))


def json_answer(status: int, value: object) -> bytes:
    """A whole answer."""
    body = msgspec.json.encode(value)
    return b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        status,
        len(body),
        body,
    )
