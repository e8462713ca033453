"""What runs in the child process of `local_llama`: llama.cpp's server, until the parent lets go.

Loading a model holds Python's global lock for as long as it takes, and a failed assertion of llama.cpp ends its
process: so it is not ours. The address is written as a line to stdout; the end of stdin is the end. Nothing is taken
down then but the process: llama.cpp was seen to wait for ever when a server ended that had just begun.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import IO

import msgspec
from msgspec import Struct

__all__ = ["Settings", "main", "serve"]

QUIET = -1


class Settings(Struct, frozen=True):
    """How a model is served: tokens of `context` in all and requests at a time; 0 is what the model has."""

    path: str
    alias: str
    context: int = 0
    slots: int = 4
    threads: int | None = None


def serve(settings: Settings, until: IO[bytes], out: IO[str], leave: Callable[[int], object]) -> None:
    """Serves until there is nothing more to read, then leaves with 0.

    Raises `RuntimeError` for a model that can't be loaded.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings.path
    params.model_alias = {settings.alias}
    params.n_ctx = settings.context * settings.slots
    params.n_parallel = settings.slots
    params.verbosity = QUIET
    if settings.threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings.threads
    server = xllamacpp.Server(params)
    out.write(f"{server.listening_address}\n")
    out.flush()
    until.read()
    leave(0)


def main(arguments: list[str], leave: Callable[[int], object] = os._exit) -> int:
    """Serves what the only argument says, as JSON; 1 if that can't be."""
    try:
        serve(msgspec.json.decode(arguments[0], type=Settings), sys.stdin.buffer, sys.stdout, leave)
    except RuntimeError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
