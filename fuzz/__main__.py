"""``python -m fuzz``: break a promise if you can, for a bounded time; exit code 1 if one is broken."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from random import Random, randrange
from time import monotonic

from msgspec import Struct, structs
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from dragoman import dialects

from .bytewise import bytes_of, judge_bytes
from .case import Broken, Case
from .growth import judge_growth, repetition
from .promises import judge
from .shrink import shorten, shrink
from .soup import case_of

__all__ = ["Finding", "fuzz", "main"]

BYTES_EVERY, GROWTH_EVERY = 8, 200
"""Every so many inputs, one is fed as bytes, and one is repeated to see how the time grows."""


class Finding(Struct, frozen=True):
    """A broken promise, with a small input that breaks it."""

    dialect: str
    number: int
    case: str
    broken: Broken


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="how long to try (30)")
    parser.add_argument("--dialect", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same inputs")
    args = parser.parse_args(arguments)
    names = args.dialect or [dialect.name for dialect in dialects()]
    seed = randrange(10**6) if args.seed is None else args.seed
    print(f"seed {seed}: {', '.join(names)}", flush=True)
    findings, inputs = fuzz(names, seed, args.seconds)
    print(f"{inputs} inputs, {len(findings)} kinds of failure")
    return 1 if findings else 0


def fuzz(names: Sequence[str], seed: int, seconds: float) -> tuple[list[Finding], int]:
    """Try inputs of each dialect in turn until the time is over; each kind of failure counts once a dialect."""
    began, number, findings = monotonic(), 0, list[Finding]()
    seen: set[tuple[str, str, str]] = set()
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as progress:
        task = progress.add_task("", total=seconds)
        while (spent := monotonic() - began) < seconds:
            name = names[number % len(names)]
            progress.update(task, completed=spent, description=f"{number} inputs, {len(findings)} failures")
            found = _try(seed, number // len(names), name, seen)
            if found is not None:
                findings.append(found)
                _show(found, seed)
            number += 1
    return findings, number


def _try(seed: int, number: int, name: str, seen: set[tuple[str, str, str]]) -> Finding | None:
    """Judge the input of this number; a failure of a kind not `seen` is made small."""
    case, random = case_of(seed, number, name), Random(f"{seed}/{name}/{number}/more")
    if broken := _new(seen, name, judge(case)):
        return _small(name, number, case, broken)
    if number % BYTES_EVERY == 0:
        raw = bytes_of(case.text, random)
        if broken := _new(seen, name, judge_bytes(case, raw)):
            return _small_bytes(name, number, case, raw, broken)
    if number % GROWTH_EVERY == GROWTH_EVERY - 1:
        opening, unit = repetition(random, name)
        if broken := _new(seen, name, judge_growth(opening, unit)):
            return Finding(name, number, f"{opening} + {unit!r} * n", broken)
    return None


def _new(seen: set[tuple[str, str, str]], name: str, broken: Broken | None) -> Broken | None:
    """The failure, if its kind was not seen before in this dialect."""
    if broken is None or (name, *broken.key) in seen:
        return None
    seen.add((name, *broken.key))
    return broken


def _small(name: str, number: int, case: Case, broken: Broken) -> Finding:
    case = shrink(case, lambda each: _alike(judge(each), broken))
    return Finding(name, number, str(case), judge(case) or broken)


def _small_bytes(name: str, number: int, case: Case, raw: bytes, broken: Broken) -> Finding:
    raw = shorten(raw, lambda each: _alike(judge_bytes(case, each), broken), monotonic() + 10)
    return Finding(name, number, f"{structs.replace(case, text='')}: {raw!r}", judge_bytes(case, raw) or broken)


def _alike(ours: Broken | None, theirs: Broken) -> bool:
    return ours is not None and ours.key == theirs.key


def _show(found: Finding, seed: int) -> None:
    print(f"\n{found.broken.promise}: {found.broken.sign}  (seed {seed}, {found.dialect}, input {found.number})")
    print(f"  {found.case}\n  {found.broken.detail[:1500]}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
