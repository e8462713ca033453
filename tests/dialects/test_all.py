"""The contract, as properties over every dialect there is; a new file under `dialects/` is tested by being there."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Dialect, dialects, get_dialect
from dragoman.grammar import nodes as n
from dragoman.testing import PROMISES, Trial, check_dialect, made_up_trial, mutations, trials
from tests.kinds import ALL, CORE, FEW

OF_ANY_INPUT = [promise for name, promise in PROMISES.items() if name not in ("two-way", "one source")]

AT_LENGTH = settings(max_examples=max(6, settings().max_examples // 3), derandomize=True)
"""Of each of so many dialects: a third of what other properties get, and the same each time; `make fuzz` looks on."""

FRAGMENTS = (
    *('{"name": "f", "arguments": {"a": 1}}', '{"arguments": "{\\"a\\": [1]}", "name": "g"}', '"parameters": '),
    *("functions.f:0", "to=functions.f", "json", "code", " ", "\n", "\n\n", "{", "}", "[", "]", '"', "```\n", "`"),
    *("\\", "\\u12", "-1.5e", "nul"),
    *("word", "naïve 日本 🙂", "\u2028", "\ud800", "\0", "<", "<|", "</", "<｜", "a < b", ";", ",", ": "),
)


def markers(dialect: Dialect) -> list[str]:
    """The dialect's literals, and beginnings of them."""
    whole = {node.text for node in dialect.grammar.walk() if isinstance(node, n.Literal) and len(node.text) > 1}
    return sorted(whole | {text[: len(text) // 2] for text in whole} | {text[:-1] for text in whole})


def soup(dialect: Dialect) -> st.SearchStrategy[Trial]:
    """Markers, pieces of markers, JSON and prose in any order."""
    text = st.lists(st.sampled_from((*markers(dialect), *FRAGMENTS)), max_size=14).map("".join)
    starts, reasons = st.sampled_from(dialect.starts), st.sampled_from((None, "stop", "length"))
    return st.builds(lambda text, start, reason: Trial(dialect, text, (), start, reason), text, starts, reasons)


@FEW
@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=1)
def test_a_few_inputs_keep_every_promise(dialect: Dialect, seed: int) -> None:
    """What the slow tests below do at length, for all dialects."""
    random = Random(seed)
    made_up = made_up_trial(dialect, random)
    cut = random.randint(0, len(made_up.text))
    spoilt = random.choice(list(mutations(made_up.text, markers(dialect), random)))
    stirred = "".join(random.choices((*markers(dialect), *FRAGMENTS), k=random.randint(0, 14)))
    reason = random.choice((None, "stop", "length"))
    inputs = (
        made_up,
        Trial(dialect, spoilt, made_up.tools, random.choice(dialect.starts)),
        Trial(dialect, made_up.text[cut:], made_up.tools, prefill=made_up.text[:cut]),
        Trial(dialect, stirred, (), random.choice(dialect.starts), reason),
    )
    for promise in PROMISES.values():
        for trial in inputs:
            promise(trial, random)


@pytest.mark.slow
@ALL
@AT_LENGTH
@given(data=st.data(), seed=st.integers(0, 1 << 32))
def test_any_input_keeps_every_promise(dialect: Dialect, data: st.DataObject, seed: int) -> None:
    trial, random = data.draw(soup(dialect)), Random(seed)
    for promise in OF_ANY_INPUT:
        promise(trial, random)


@pytest.mark.slow
@ALL
@AT_LENGTH
@given(seed=st.integers(0, 1 << 32))
def test_messages_made_up_and_spoilt_keep_every_promise(dialect: Dialect, seed: int) -> None:
    random = Random(seed)
    trial = made_up_trial(dialect, random)
    spoilt = [
        Trial(dialect, text, trial.tools, random.choice(dialect.starts))
        for text in mutations(trial.text, markers(dialect)[:4], random)
    ]
    for promise in PROMISES.values():
        for each in (trial, *spoilt):
            promise(each, random)


@pytest.mark.slow
@ALL
@AT_LENGTH
@given(seed=st.integers(0, 1 << 32))
def test_what_the_prompt_has_begun_keeps_every_promise(dialect: Dialect, seed: int) -> None:
    random = Random(seed)
    trial = made_up_trial(dialect, random)
    over = [trial.text.find(stop) for stop in dialect.stops if stop in trial.text]
    cut = random.randint(
        0, min(over, default=len(trial.text))
    )  # a prompt does not hold the end of the turn that it begins
    rest = random.choice([trial.text[cut:], *mutations(trial.text[cut:], markers(dialect)[:4], random)])
    for promise in OF_ANY_INPUT:
        promise(Trial(dialect, rest, trial.tools, prefill=trial.text[:cut]), random)


@pytest.mark.slow
@ALL
def test_the_kit_proves_the_dialect(dialect: Dialect) -> None:
    """Its examples, that is, and what they begin with; those that are made up are tried above."""
    report = check_dialect(dialect, max_examples=2, seed=7)
    assert report.ok, [result for result in report.results if result.status != "passed"]


def test_the_core_suite_has_a_dialect_of_each_kind() -> None:
    assert {dialect.kind for dialect in dialects()} == {get_dialect(name).kind for name in CORE}


@ALL
def test_it_is_streamable_with_a_small_bound(dialect: Dialect) -> None:
    assert dialect.hold_bound < 5000


@ALL
def test_its_examples_are_among_what_the_kit_tries(dialect: Dialect) -> None:
    tried = {trial.text for trial in trials(dialect, Random(0), 1)}
    assert {example.text for example in dialect.examples} <= tried
