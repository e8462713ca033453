"""Proving a dialect: its examples, messages made up in it, and what comes of both when markers move about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from random import Random
from typing import TypeVar

from msgspec import Struct

from ..dialect import Dialect, Example
from ..errors import Inexpressible
from ..grammar.nodes import Grammar, Literal
from ..made_up import made_up_message, mutations
from ..parse.assemble import assemble
from .promises import PROMISES, Promise
from .trial import Broken, Trial, read

__all__ = ["Report", "Result", "check_dialect", "made_up_trial", "markers", "trials"]


class Result(Struct, frozen=True):
    """How one promise or scenario fared: ``passed`` or ``failed``, with the counter-example and the number of inputs.

    Scenarios of the suite may also be ``known`` to fail, or be what a dialect ``lacks``; the detail says why.
    """

    name: str
    status: str
    detail: str
    cases: int


class Report(Struct, frozen=True):
    """How a dialect fared."""

    dialect: str
    results: tuple[Result, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(result.status != "failed" for result in self.results)


def markers(dialect: Dialect) -> tuple[str, ...]:
    """Every literal of the dialect's grammar that looks like a marker."""
    return tuple(sorted(_words(dialect.grammar) | set(dialect.stops)))


@lru_cache(maxsize=256)
def _words(grammar: Grammar) -> frozenset[str]:
    return frozenset(node.text for node in grammar.walk() if isinstance(node, Literal) and len(node.text) > 2)


PREFIXES = 60
"""About as many beginnings of each example are tried; at random, so that in the end it is all of them."""


def trials(dialect: Dialect, random: Random, count: int) -> Iterator[Trial]:
    """The examples, beginnings of them, messages made up, and mutations of all of them."""
    marks = markers(dialect)
    for example in dialect.examples:
        whole = Trial(dialect, example.text, example.tools, example.start, example.reason)
        yield whole
        step = 1 + len(example.text) // PREFIXES
        for cut in range(random.randrange(step), len(example.text), step):
            yield Trial(dialect, example.text[:cut], example.tools, example.start)
        for text in mutations(example.text, marks, random):
            yield Trial(dialect, text, example.tools, example.start, random.choice((None, "stop", "length")))
    for _ in range(count):
        trial = made_up_trial(dialect, random)
        yield trial
        cut = random.randint(0, len(trial.text))
        yield Trial(dialect, trial.text[cut:], trial.tools, prefill=trial.text[:cut])
        mutated = random.choice(list(mutations(trial.text, marks, random)))
        yield Trial(dialect, mutated, trial.tools, random.choice(dialect.starts))


def made_up_trial(dialect: Dialect, random: Random) -> Trial:
    """A made-up message, as the dialect writes it; an empty one if it could express none of a hundred."""
    for _ in range(100):
        message, tools = made_up_message(dialect, random)
        try:
            return Trial(dialect, dialect.render(message), tools, message=message)
        except Inexpressible:
            continue
    return Trial(dialect, "")


def _check_example(dialect: Dialect, example: Example) -> None:
    trial = Trial(dialect, example.text, example.tools, example.start, example.reason)
    found = assemble(read(trial, [trial.text]))
    if found != example.message:
        raise trial.fail(f"read as\n  {found}\n  not\n  {example.message}")


def check_dialect(
    dialect: Dialect, *, max_examples: int = 60, seed: int = 0, progress: Callable[[float], None] | None = None
) -> Report:
    """Prove a dialect: its examples, then every promise over `max_examples` made-up messages and what comes of them.

    `progress` is called with the share that is done. Raises nothing that the dialect's author could have caused but
    `GrammarError`, for a grammar that can't be run or streamed.
    """
    random = Random(seed)
    dialect.program().report.require_streamable()
    results = [_proved("examples", partial(_check_example, dialect), dialect.examples)]
    inputs: list[Trial] = []
    try:
        inputs.extend(trials(dialect, random, max_examples))
    except Exception as error:  # the author's writer, whatever it did
        results.append(Result("renders", "failed", f"{type(error).__name__}: {error}", len(inputs)))
    for k, (name, promise) in enumerate(PROMISES.items()):
        results.append(_proved(name, _with(promise, random), inputs))
        if progress is not None:
            progress((k + 1) / len(PROMISES))
    wrote = any(trial.message is not None for trial in inputs)
    if not wrote and all(result.name != "renders" for result in results):
        results.append(Result("renders", "failed", "not one made-up message could be written", 0))
    return Report(dialect.name, tuple(results))


def _with(promise: Promise, random: Random) -> Callable[[Trial], None]:
    return lambda trial: promise(trial, random)


_Input = TypeVar("_Input")


def _proved(name: str, promise: Callable[[_Input], None], inputs: Sequence[_Input]) -> Result:
    for k, value in enumerate(inputs):
        try:
            promise(value)
        except Broken as broken:
            return Result(name, "failed", str(broken), k + 1)
        except Exception as error:  # the promise "total" is broken, whichever was being tried
            text = value.text if isinstance(value, (Trial, Example)) else ""
            return Result(name, "failed", f"{type(error).__name__}: {error}\n  input {text!r}", k + 1)
    return Result(name, "passed", "", len(inputs))
