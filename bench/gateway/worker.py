"""``python -m bench.gateway.worker``: a worker without a model that says one script over HTTP and gRPC."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

import uvloop

from .http import HTTPWorker
from .pace import Pace
from .script import SCRIPTS, script

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until killed; the ports are printed when they are open."""
    parser = argparse.ArgumentParser(prog="python -m bench.gateway.worker", description=__doc__)
    parser.add_argument("--script", choices=SCRIPTS, default="harmony")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--period", type=float, default=0, help="seconds from token to token; 0 is all at once")
    parser.add_argument("--folder", default="", help="where the model's tokenizer is said to be")
    parser.add_argument("--no-grpc", action="store_true", help="HTTP only")
    uvloop.run(_serve(parser.parse_args(arguments)))


async def _serve(args: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    said = script(args.script, args.tokens)
    pace = Pace(loop, args.period) if args.period else None
    served = [await loop.create_server(HTTPWorker(said, pace, args.folder), "127.0.0.1", 0, backlog=2048)]
    if not args.no_grpc:
        from .http2 import GRPCWorker

        served.append(await loop.create_server(GRPCWorker(said, pace, args.folder), "127.0.0.1", 0, backlog=2048))
    ports = (server.sockets[0].getsockname()[1] for server in served)
    sys.stdout.write(" ".join(map(str, ports)) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    main()
