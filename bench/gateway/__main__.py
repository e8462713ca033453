"""``python -m bench.gateway``: what does a token cost that passes through the gateway, ours and another?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from ..tables import show
from .report import GatewayResults, gateway_grids, gateway_json, gateway_notes
from .rounds import Pattern, measure, soak
from .script import SCRIPTS
from .systems import NAMES, Site
from .vocabulary import write_vocabularies

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[2]

PATTERNS = (Pattern(64, 8, False), Pattern(256, 2, False), Pattern(64, 2, True), Pattern(256, 1, True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0 whatever was measured."""
    args = _arguments(arguments)
    site = Site(args.folder.resolve(), args.gateways.resolve(), args.source.resolve())
    write_vocabularies(site.folder)
    patterns = [pattern for pattern in PATTERNS if not args.quick or pattern.streams == 64]
    if args.only:
        patterns = [pattern for pattern in patterns if pattern.title.startswith(tuple(args.only))]
    systems, results = args.system or list(NAMES), GatewayResults()
    rounds = args.rounds or (3 if args.quick else 7)
    for script in args.script or list(SCRIPTS)[: 1 if args.quick else None]:
        if not args.soak:
            results.rows += measure(script, args.tokens, systems, patterns, rounds, site, _say)
        else:
            names = (name for name in systems if name != "direct")
            results.soaks += [soak(script, args.tokens, name, args.soak, site, _say) for name in names]
    if args.json:
        sys.stdout.write(gateway_json(results) + "\n")
    else:
        console = Console(highlight=False, markup=False, emoji=False)
        show(console, gateway_grids(results), gateway_notes(results), markdown=args.markdown)
    return 0


def _say(what: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{what}")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.gateway", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one script, 64 streams, fewer rounds")
    parser.add_argument("--system", action="append", choices=NAMES, help="measure only this; may be repeated")
    parser.add_argument("--script", action="append", choices=SCRIPTS, help="only this script; may be repeated")
    parser.add_argument("--only", action="append", choices=("burst", "paced"), help="only loads of this kind")
    parser.add_argument("--rounds", type=int, help="how often each is measured")
    parser.add_argument("--tokens", type=int, default=256, help="about so many tokens an answer")
    parser.add_argument("--soak", type=int, metavar="TOKENS", help="memory over so many tokens instead")
    parser.add_argument("--json", action="store_true", help="all numbers as JSON")
    parser.add_argument("--markdown", action="store_true", help="the tables as in docs/performance.md")
    place = ROOT / ".venv"
    parser.add_argument("--folder", type=Path, default=place / "gateway-bench", help="for vocabularies and logs")
    parser.add_argument("--gateways", type=Path, default=place / "gateways", help="where smg and hpack are installed")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="our package, to compare versions of it")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
