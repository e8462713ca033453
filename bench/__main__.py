"""``python -m bench``: how long does a chunk take, and does it stay that way?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from .constraints import constraints
from .families import families
from .hostile import HOSTILE, slope
from .peer import peer
from .profiling import costs, hot
from .streaming import SIZES, stream
from .tables import Results, as_json, grids, notes, profile_grids, show
from .whole import against_find, against_json, new_parser, short_answers
from .workloads import WORKLOADS, workload

__all__ = ["main", "measure"]

OTHERS = ("whole", "hostile", "peer", "families", "constraints")
"""What can be asked for with --only beside the workloads."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0 whatever was measured."""
    args = _arguments(arguments)
    console = Console(highlight=False, markup=False, emoji=False)
    if args.profile:
        work = workload(args.profile)
        show(console, profile_grids(work.title, costs(work, 8 if args.quick else 30), hot(work)))
        return 0
    results = measure(args.only or [*(work.name for work in WORKLOADS), *OTHERS], quick=args.quick)
    if args.json:
        console.file.write(as_json(results) + "\n")
    else:
        show(console, grids(results), notes(results), markdown=args.markdown)
    return 0


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [work.name for work in WORKLOADS]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, no 32k: rough numbers in seconds")
    which = f"one of {', '.join((*names, *OTHERS))}; may be repeated"
    parser.add_argument("--only", action="append", choices=[*names, *OTHERS], metavar="NAME", help=which)
    parser.add_argument("--json", action="store_true", help="all numbers as JSON")
    parser.add_argument("--markdown", action="store_true", help="the tables as in docs/performance.md")
    parser.add_argument("--profile", choices=names, metavar="NAME", help="where the time of this workload goes")
    return parser.parse_args(arguments)


def measure(names: Sequence[str], *, quick: bool) -> Results:
    """Measure what is asked for, with a bar to watch in a terminal."""
    works = [work for work in WORKLOADS if work.name in names]
    rounds, sizes = (5, SIZES[:2]) if quick else (30, SIZES)
    hostiles = [(each, chunk) for each in HOSTILE for chunk in (None, 4)] if "hostile" in names else []
    results, console = Results(), Console(stderr=True)
    columns = (TextColumn("{task.description:>10}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=len(works) * rounds + len(hostiles))
        for work in works:
            progress.update(task, description=work.name)
            results.streams.append(stream(work, rounds, sizes, lambda: progress.advance(task)))
        if "whole" in names:
            progress.update(task, description="whole")
            results.comparisons += [against_find(rounds), against_json(rounds), new_parser(rounds)]
            results.comparisons += short_answers(rounds * 10)
        for each, chunk in hostiles:
            progress.update(task, description="hostile")
            results.slopes.append(slope(each, chunk, 1 if quick else 3))
            progress.advance(task)
        if "families" in names:
            progress.update(task, description="families")
            results.families += families(2 if quick else 5)
        if "peer" in names:
            results.peer = peer(rounds)
        if "constraints" in names:
            progress.update(task, description="constraints")
            results.constraints += constraints((5,) if quick else (1, 10, 50))
    return results


if __name__ == "__main__":
    sys.exit(main())
