"""llama.cpp on this machine, from a GGUF file: a child process of ours, spoken to over loopback as any other server.

It needs the extra ``llamacpp``. The child ends when we do, however that is, since its stdin ends then. What it is asked
is `llama_cpp`'s, what runs in it is `llama_child`.
"""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import msgspec

from ...errors import InvalidConfig, WorkerFailed
from ..transport import Client
from .http_worker import HttpWorker
from .llama_child import Settings
from .llama_cpp import LlamaCpp
from .llama_cpp_props import ask
from .order import Order, Piece
from .worker import Capabilities

__all__ = ["LocalLlama"]

CHILD = "import sys; from dragoman.gateway.workers.llama_child import main; sys.exit(main(sys.argv[1:]))"
"""What the child runs."""

MAGIC = b"GGUF"

LOADING = 600.0
"""Seconds in which a model is loaded: large ones come from slow disks."""

ENDING = 5.0
"""Seconds after which a child that does not end is killed."""

LINES = 1000
"""Lines of a child's stdout in which its address is."""


class LocalLlama:
    """A worker that is a llama.cpp of our own; made by `start`."""

    def __init__(self, process: Process, worker: HttpWorker) -> None:
        self._process, self._worker = process, worker

    @classmethod
    async def start(
        cls, path: str | Path, client: Client, *, context: int = 0, slots: int = 4, threads: int | None = None
    ) -> LocalLlama:
        """Loads a model, which may take long; the event loop goes on meanwhile.

        `context` is that of each of `slots` requests at a time, 0 what the model was made for. Raises `InvalidConfig`
        for a file that is no model and a package that is missing, `WorkerFailed` for a server that does not come up.
        """
        file = Path(path)
        _require(file)
        settings = Settings(str(file), file.stem, context, slots, threads)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, msgspec.json.encode(settings), stdin=PIPE, stdout=PIPE, stderr=DEVNULL
        )
        try:
            url = await _address(process, file)
            found = await ask(url, client)
            if found is None:
                raise WorkerFailed(url, "it does not say what it can do")
        except BaseException:
            await _end(process)
            raise
        return cls(process, HttpWorker(url, LlamaCpp(), client, found))

    @property
    def name(self) -> str:
        """Its address on loopback."""
        return self._worker.name

    @property
    def capabilities(self) -> Capabilities:
        """Those of the server; its model has the file's name."""
        return self._worker.capabilities

    def generate(self, order: Order) -> AsyncIterator[Sequence[Piece]]:
        """The output, as it comes."""
        return self._worker.generate(order)

    async def is_well(self) -> bool:
        """Whether the process lives and answers."""
        return self._process.returncode is None and await self._worker.is_well()

    async def close(self) -> None:
        """Ends the process; what it is working on is lost."""
        await self._worker.close()
        await _end(self._process)


def _require(file: Path) -> None:
    """What can be said before anything is started."""
    if find_spec("xllamacpp") is None:
        raise InvalidConfig("llama.cpp", "there: pip install 'dragoman[llamacpp]'", "no package xllamacpp")
    try:
        with file.open("rb") as opened:
            begins = opened.read(len(MAGIC))
    except OSError as error:
        raise InvalidConfig("model", "a GGUF file", f"{file}: {error.strerror}") from None
    if begins != MAGIC:
        raise InvalidConfig("model", "a GGUF file", f"{file}, which is another kind of file")


async def _address(process: Process, file: Path) -> str:
    """The line in which the child tells where it listens."""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LOADING):
            for _ in range(LINES):
                line = (await process.stdout.readline()).decode("utf-8", "replace").strip()
                if line.startswith("http://"):
                    return line
                if not line and process.stdout.at_eof():
                    break
    except TimeoutError:
        raise WorkerFailed(str(file), f"llama.cpp has not loaded it within {LOADING:g} seconds") from None
    raise InvalidConfig("model", "one that llama.cpp can load into this machine's memory", str(file))


async def _end(process: Process) -> None:
    """Lets the child go, or kills it."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(ENDING):
            while await process.stdout.read(1 << 16):
                pass
            await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
