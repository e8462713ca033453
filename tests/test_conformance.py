"""The conformance suite over every dialect: each case of each file, and no scenario left out without a reason."""

from __future__ import annotations

from contextlib import suppress

import pytest

from dragoman import Dialect, dialects, get_dialect
from dragoman.conformance import SCENARIOS, Case, check_case, suite_of
from dragoman.errors import InvalidSuite

ALL = pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)


def cases() -> list[object]:
    """Every case there is, under the name of its dialect and its scenario; a bad file fails in a test of its own."""
    found = []
    for dialect in dialects():
        with suppress(InvalidSuite):
            suite = suite_of(dialect)
            for scenario in SCENARIOS:
                for k, case in enumerate(suite.of(scenario), 1):
                    wrong = [pytest.mark.xfail(reason=case.fails)] if case.fails else []
                    found.append(pytest.param(dialect.name, case, id=f"{dialect.name}-{scenario}-{k}", marks=wrong))
    return found


EACH_CASE = pytest.mark.parametrize(("name", "case"), cases())


@EACH_CASE
def test_a_case_is_read_as_it_says(name: str, case: Case) -> None:
    check_case(get_dialect(name), case)


@pytest.mark.slow
@EACH_CASE
def test_a_case_keeps_every_promise(name: str, case: Case) -> None:
    check_case(get_dialect(name), case, thorough=True)


@ALL
def test_every_scenario_has_a_case_or_a_reason_for_having_none(dialect: Dialect) -> None:
    suite = suite_of(dialect)
    assert [scenario for scenario in SCENARIOS if not suite.of(scenario) and scenario not in suite.lacks] == []
