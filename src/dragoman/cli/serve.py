"""``dragoman serve``: the gateway, for any client of OpenAI's API, in front of workers or of the bundled recordings.

The flags are those of the settings (`dragoman.gateway.config`), one for each; the gateway itself is imported only when
it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace
from rich.text import Text

from ..errors import InvalidConfig
from ..gateway.config import Settings, WorkerEntry
from ..gateway.leaves import Leaf, element, leaves
from ..gateway.sources import read_settings
from ..gateway.toml import written
from .output import open_console

if TYPE_CHECKING:
    import socket

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman serve                                                    recorded answers: needs no model
  dragoman serve --model qwen3 --worker http://127.0.0.1:30000      in front of SGLang, vLLM or llama.cpp
  dragoman serve --gguf model.gguf                                  llama.cpp in this process
  dragoman serve --config gateway.toml --print-config               what the settings come to

Each setting is a flag, a variable (DRAGOMAN_SERVER__PORT) and a key of the file (server.port); flags go before
variables, variables before the file. exit codes: 0 stopped, 1 could not start, 2 a mistake in the settings
"""

_RECORDED = "harmony"
"""A dialect that the bundled recordings have."""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "serve",
        help="serve models to clients of OpenAI's API",
        description="Serve models to clients of OpenAI's API, whatever their dialect and whoever runs them.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        usage="dragoman serve [--model NAME] [--worker URL] [--config FILE] [--port N] [--SETTING VALUE ...]",
    )
    add = parser.add_argument
    add("--config", type=Path, default=None, metavar="FILE", help="a TOML file with settings")
    add("--gguf", metavar="FILE", help="short for --worker FILE: llama.cpp in this process")
    add("--print-config", action="store_true", default=False, help="write the settings as TOML, and end")
    add("--json", action="store_true", default=False, help="tell the URL as a line of JSON once it can be asked")
    sections: dict[str, argparse._ArgumentGroup] = {}
    for leaf in leaves():
        title = leaf.path[0] if len(leaf.path) > 1 else "models and workers"
        group = sections.get(title) or sections.setdefault(title, parser.add_argument_group(title))
        _declare(group, leaf)
    parser.set_defaults(run=_run)


def _declare(group: argparse._ArgumentGroup, leaf: Leaf) -> None:
    choices = f": {leaf.expected}" if leaf.expected.startswith("one of") else ""
    default = f" ({leaf.default})" if leaf.default not in (None, ()) else ""
    about = f"{leaf.about}{choices}{default}".replace("`", "").replace("%", "%%")
    if leaf.kind is bool:
        group.add_argument(leaf.flag, dest=leaf.key, action=argparse.BooleanOptionalAction, help=about)
    elif element(leaf.kind) is not None:
        group.add_argument(leaf.flag, dest=leaf.key, action="append", metavar="X", help=f"{about}; may be repeated")
    else:
        group.add_argument(leaf.flag, dest=leaf.key, metavar=_metavar(leaf), help=about)


def _metavar(leaf: Leaf) -> str:
    return "N" if leaf.kind in (int, float) else leaf.path[-1].upper()


def _run(args: argparse.Namespace) -> int:
    settings = _settings(args)
    if args.print_config:
        sys.stdout.write(written(settings))
        return 0
    try:
        from ..gateway.serving import run
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("httptools", "prometheus_client", "starlette", "uvicorn"):
            raise
        raise InvalidConfig("the installation", "one with pip install 'dragoman[cli,gateway]'", "none") from None
    return run(settings, lambda listener: _tell(settings, listener, as_json=args.json))


def _settings(args: argparse.Namespace) -> Settings:
    given = vars(args)
    flags = {leaf.key: given[leaf.key] for leaf in leaves() if leaf.key in given}
    if "gguf" in given:
        flags["workers"] = [*flags.get("workers", ()), f"{{gguf = {msgspec.json.encode(given['gguf']).decode()}}}"]
    settings = read_settings(args.config, os.environ, flags)
    return settings if settings.workers else replace(settings, workers=(WorkerEntry(kind="replay"),))


def _tell(settings: Settings, listener: socket.socket, *, as_json: bool) -> None:
    """Say where the gateway is, and how it is asked."""
    from ..gateway.server import url_of

    url = url_of(listener)
    if as_json:
        sys.stdout.write(msgspec.json.encode({"url": url, "pid": os.getpid()}).decode() + "\n")
        sys.stdout.flush()
        return
    console = open_console()
    console.print(Text.assemble("dragoman listens at ", (url, "bold cyan")), soft_wrap=True)
    console.print(Text.assemble(("try: ", "dim"), _curl(settings, url)), soft_wrap=True)
    console.file.flush()


def _curl(settings: Settings, url: str) -> str:
    named = {"model": model} if (model := _a_model(settings)) else {}
    body = {**named, "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
    key = "-H 'authorization: Bearer KEY' " if settings.keys.api else ""
    return f"curl -N {url}/v1/chat/completions {key}-d '{msgspec.json.encode(body).decode()}'"


def _a_model(settings: Settings) -> str | None:
    """A model that is served; what workers have is not known yet, and who has one only is asked without its name."""
    if settings.models:
        return settings.models[0].name
    return _RECORDED if any(worker.kind == "replay" for worker in settings.workers) else None
