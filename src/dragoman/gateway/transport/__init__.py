"""A lean HTTP/1.1 client for workers: keep-alive, streaming, timeouts, and nothing that a gateway does not need.

`Client` opens requests and `Response` reads their answers. No redirects, cookies, compression or proxies: a worker is
where its URL says.
"""

from __future__ import annotations

from .client import Client
from .limits import Limits
from .response import Response

__all__ = ["Client", "Limits", "Response"]
