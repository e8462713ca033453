"""What is measured: ours and the other gateway in its two modes, and the worker alone as the floor."""

from __future__ import annotations

import os
import socket
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import msgspec
from msgspec import Struct

from .processes import Tree, spawn
from .script import SCRIPTS

__all__ = ["NAMES", "Site", "System", "start"]

NAMES = {
    "direct": "the worker itself, chat chunks made beforehand",
    "ours": "dragoman serve, SGLang's /generate, token ids",
    "smg": "smg over gRPC, --parser symphony",
    "smg-http": "smg over HTTP, the worker's chat passed through",
}
"""The systems, the floor first."""

PATIENCE = 90.0
"""Seconds that a system has to answer its first request."""


class Site(Struct, frozen=True):
    """Where things are: vocabularies and logs, the packages of the other gateway, and ours if not the installed one."""

    folder: Path
    gateways: Path
    source: Path


class System(Struct, frozen=True):
    """A system that answers chats at its URL; `tree` is what costs."""

    name: str
    url: str
    tree: Tree


def start(name: str, script: str, tokens: int, period: float, site: Site, stack: ExitStack) -> System:
    """Start it with a worker of its own, ready to be asked; the stack ends both."""
    model = SCRIPTS[script]
    folder = site.folder / model
    worker, (http, grpc) = _worker(script, tokens, period, folder, site)
    stack.callback(worker.end)
    if name == "direct":
        return System(name, f"http://127.0.0.1:{http}", worker)
    port, log = _free(), site.folder / f"{name}-{script}.log"
    url = f"http://127.0.0.1:{port}"
    if name == "ours":
        tree = spawn(_ours(port, model, folder, http, site), log, {"PYTHONPATH": str(site.source)})
    else:
        mode = ["--worker-urls", f"http://127.0.0.1:{http}"]
        if name == "smg":
            mode = ["--worker-urls", f"grpc://127.0.0.1:{grpc}", "--parser", "symphony"]
            mode += ["--model-path", str(folder), "--tokenizer-path", str(folder)]
        found = {"PYTHONPATH": str(site.gateways), "TIKTOKEN_ENCODINGS_BASE": str(site.folder)}
        tree = spawn([sys.executable, "-m", "smg.launch_router", *_smg(port), *mode], log, found)
    stack.callback(tree.end)
    _await(url, model, tree)
    return System(name, url, tree)


def _worker(script: str, tokens: int, period: float, folder: Path, site: Site) -> tuple[Tree, tuple[int, int]]:
    said = ("--script", script, "--tokens", str(tokens), "--period", str(period), "--folder", str(folder))
    command = [sys.executable, "-m", "bench.gateway.worker", *said]
    paths = os.pathsep.join((str(site.source), str(site.gateways)))
    tree = spawn(command, site.folder / "worker.log", {"PYTHONPATH": paths}, piped=True)
    assert tree.process.stdout is not None
    ports = tree.process.stdout.readline().split()
    if len(ports) != 2:
        raise RuntimeError(f"the worker did not start: {tree.log.read_text()[-2000:]}")
    return tree, (int(ports[0]), int(ports[1]))


def _ours(port: int, model: str, folder: Path, worker: int, site: Site) -> list[str]:
    """As it is by default, but for the words that each request would write; one worker needs no choice."""
    known = f'tokenizer = "{folder}"\ndialect = "hermes"\nfamily = "qwen3"'
    if model.startswith("gpt-oss"):
        known = 'tokenizer = "o200k_harmony"'
    file = site.folder / f"{model}.toml"
    file.write_text(
        f'[server]\nport = {port}\n[log]\nlevel = "warning"\n[routing]\npolicy = "round_robin"\n'
        f'[[models]]\nname = "{model}"\n{known}\n'
        f'[[workers]]\nurl = "http://127.0.0.1:{worker}"\nkind = "sglang"\n'
    )
    return [sys.executable, "-m", "dragoman.cli", "serve", "--config", str(file)]


def _smg(port: int) -> list[str]:
    """As ours."""
    where = ["--host", "127.0.0.1", "--port", str(port), "--prometheus-host", "127.0.0.1"]
    return [*where, "--prometheus-port", str(_free()), "--policy", "round_robin", "--log-level", "warn"]


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _await(url: str, model: str, tree: Tree) -> None:
    """Wait until a whole answer comes back."""
    question: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "hello"}], "stream": True}
    headers = {"content-type": "application/json"}
    asked = Request(f"{url}/v1/chat/completions", msgspec.json.encode(question), headers)
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            with urlopen(asked, timeout=PATIENCE) as answer:
                answer.read()
                return
        except (URLError, OSError) as error:
            if tree.process.poll() is not None or time.monotonic() > ends:
                raise RuntimeError(f"{error}: {tree.log.read_text(errors='replace')[-2000:]}") from error
            time.sleep(0.25)
