"""Reading token ids, one at a time and all at once, beside whoever else is installed.

The floor is that of all parsers here: a call for each token that makes one event. All run in turn, block by block as
in `clock`; what can't be cut into blocks is long enough to be interrupted, so its time is the processor's. Those who
take much longer run less often.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time_ns
from typing import Any

from msgspec import Struct

from dragoman import Parser
from dragoman.tokenizers import Tokenizer, control_pattern

from .clock import BLOCK, Best, Floor, fresh, quiet, timed
from .peers import PARSERS, Feed, installed, why
from .vocabularies import FAMILIES, tokenizer
from .workloads import workload

__all__ = ["Reading", "ids_of", "readings"]

READ = {"gpt_oss": ("harmony", "harmony"), "qwen3": ("think", "hermes")}
"""The workload, and its dialect, that is read for each family."""

LIMIT = 4.0
"""Floors that a token of Harmony may cost."""

SELDOM = 5
"""A peer that wants all ids at once takes part in every fifth round."""


class Reading(Struct, frozen=True):
    """Times per token for each size, in microseconds and, of the longest, in floors; or why there are none."""

    family: str
    name: str
    tokens: tuple[int, ...] = ()
    us_per_token: tuple[float, ...] = ()
    ratio: float = 0.0
    growth: float = 0.0
    limit: float | None = None
    note: str = ""

    @property
    def missed(self) -> tuple[str, ...]:
        """The limit, if it was not kept."""
        over = self.limit is not None and self.ratio > self.limit
        return (f"ratio {self.ratio:.1f} > {self.limit:g}",) if over else ()


class Reader(Struct):
    """Someone who reads: `start` makes what is fed with the `units` of an output."""

    name: str
    start: Callable[[], Feed]
    units: Callable[[list[int]], Sequence[Any]]
    every: int = 1
    limit: float | None = None
    note: str = ""
    best: list[Best] = []

    def read(self, size: int, ids: list[int]) -> None:
        """One output, the one of this number."""
        feed, units = self.start(), self.units(ids)
        with quiet():
            if len(units) > 1:
                times = [timed(feed, units[at : at + BLOCK]) for at in range(0, len(units), BLOCK)]
            else:
                began = process_time_ns()
                feed(units[0])
                times = [process_time_ns() - began]
        self.best[size].take(times)


def readings(rounds: int, sizes: Sequence[int]) -> Iterator[Reading]:
    """Everybody on outputs of nearly so many tokens."""
    for family in FAMILIES:
        try:
            known = tokenizer(family)
        except Exception as error:  # a vocabulary, or the package that reads it, is missing
            yield Reading(family, "", note=why(error))
            continue
        name, dialect = READ[family]
        outputs = [ids_of(known, workload(name).write(size).text) for size in sizes]
        readers = [*_ours(dialect, known, LIMIT if family == "gpt_oss" else None), *_peers(family)]
        for reader in readers:
            reader.best = [Best() for _ in outputs]
        for number in range(rounds):
            for size, ids in enumerate(outputs):
                for reader in readers:
                    if not reader.note and number % reader.every == 0:
                        try:
                            reader.read(size, ids)
                        except Exception as error:  # whatever foreign code raises
                            reader.note = why(error)
        yield from _measured(family, readers, tuple(map(len, outputs)))


def _measured(family: str, readers: Sequence[Reader], tokens: tuple[int, ...]) -> Iterator[Reading]:
    floor = readers[0].best[-1].total
    for each in readers:
        if each.note:
            yield Reading(family, each.name, note=each.note)
            continue
        us = tuple(best.total / 1000 / count for best, count in zip(each.best, tokens, strict=True))
        yield Reading(family, each.name, tokens, us, each.best[-1].total / floor, us[-1] / us[0], each.limit)


def _ours(dialect: str, known: Tokenizer, limit: float | None) -> Iterator[Reader]:
    def pieces(ids: list[int]) -> list[str]:
        return fresh([known.token_bytes(token).decode("utf-8", "replace") for token in ids])

    yield Reader("the floor", lambda: Floor().feed, pieces)
    token_by_token = lambda ids: [[token] for token in ids]  # noqa: E731
    start = lambda: Parser(dialect, tokenizer=known).feed_tokens  # noqa: E731
    yield Reader("dragoman, token by token", start, token_by_token, limit=limit)
    yield Reader("dragoman, whole", lambda: partial(_whole, dialect, known), lambda ids: [ids])


def _whole(dialect: str, known: Tokenizer, ids: list[int]) -> None:
    parser = Parser(dialect, tokenizer=known)
    parser.feed_tokens(ids)
    parser.finish()


def _peers(family: str) -> Iterator[Reader]:
    for package, how, make in PARSERS:
        version = installed(package)
        try:
            start = make(family) if version else None
        except NotImplementedError:
            continue
        except Exception as error:  # whatever foreign code raises
            yield Reader(f"{package} {version}, {how}", _nothing, list, note=why(error))
            continue
        if start is None:
            yield Reader(f"{package}, {how}", _nothing, list, note="not installed")
        else:
            streams = how == "token by token"
            units: Callable[[list[int]], list[Any]] = list if streams else lambda ids: [ids]
            yield Reader(f"{package} {version}, {how}", start, units, 1 if streams else SELDOM)


def _nothing() -> Feed:
    raise AssertionError("nobody reads")


def ids_of(known: Tokenizer, text: str) -> list[int]:
    """The ids of an output, its control tokens as such."""
    ids: list[int] = []
    for k, piece in enumerate(re.split(f"({control_pattern(known).pattern})", text)):
        ids += [known.control[piece]] if k % 2 else known.encode(piece)
    return ids
