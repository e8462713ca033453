"""Requests of HTTP/1.1 as bytes: the head, from a method, a URL and headers; nothing is sent here.

What would let a value become a line of its own is refused, and so are headers that say where a body ends: those are
this client's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ...errors import InvalidConfig, Refused

__all__ = ["Origin", "Target", "head_of", "target_of"]

PORTS = {"http": 80, "https": 443, "http+unix": 0}
"""The schemes that there are, with their ports."""

OURS = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "te", "transfer-encoding", "upgrade"}
)
"""Headers that are this client's own."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
_URL = re.compile(r"[\x21-\x7e]+")


class Origin(Struct, frozen=True):
    """Where a server listens; the host is a socket's path for ``http+unix``."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" if self.port else f"{self.scheme}:{self.host}"

    @property
    def authority(self) -> str:
        """The value of the ``host`` header."""
        if self.scheme == "http+unix":
            return "localhost"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


class Target(Struct, frozen=True):
    """A URL, taken apart; `path` includes the query."""

    origin: Origin
    path: str


def target_of(url: str) -> Target:
    """Takes a URL apart; raises `InvalidConfig` for what is none, or has a password in it.

    A Unix socket is ``http+unix://%2Frun%2Fworker.sock/path``.
    """
    if not _URL.fullmatch(url):
        raise InvalidConfig("url", "printable ASCII without spaces", repr(url))
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidConfig("url", "a URL", f"{url!r}: {error}") from None
    if parts.scheme not in PORTS or not host:
        raise InvalidConfig("url", f"one of {', '.join(PORTS)} with a host", repr(url))
    if parts.username is not None or parts.password is not None:
        raise InvalidConfig("url", "without a user and a password, as it is shown in logs", "one with them")
    if parts.scheme == "http+unix":
        host = unquote(parts.netloc)  # `hostname` is in lower case, and a path is not
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(Origin(parts.scheme, host, port or PORTS[parts.scheme]), path)


def head_of(method: str, target: Target, headers: Iterable[tuple[str, str]], length: int) -> bytes:
    """The head of a request with a body of this length.

    Raises `Refused` for a header that could break out of its line, or that is the client's own.
    """
    lines = [f"{method} {target.path} HTTP/1.1", f"host: {target.origin.authority}", "accept-encoding: identity"]
    if length or method not in ("GET", "DELETE"):
        lines.append(f"content-length: {length}")
    for name, value in headers:
        if not _TOKEN.fullmatch(name) or name.lower() in OURS:
            raise Refused(400, "invalid_header", f"the header {name[:60]!r} can't be sent to a worker")
        if not _VALUE.fullmatch(value):
            raise Refused(400, "invalid_header", f"the value of the header {name!r} has a control character")
        lines.append(f"{name}: {value}")
    try:
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    except UnicodeEncodeError:
        raise Refused(400, "invalid_header", "a header has characters that are not of Latin-1") from None
