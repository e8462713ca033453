"""What is kept is bounded, and safe where several threads make the same things."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from dragoman.kept import keep


def test_the_oldest_is_let_go_beyond_the_limit() -> None:
    known: dict[int, str] = {}
    for key in range(5):
        keep(known, key, str(key), 3)
    assert known == {2: "2", 3: "3", 4: "4"}


def test_who_comes_second_is_given_what_the_first_has_made() -> None:
    known = {"a": 1}
    assert keep(known, "a", 2, 3) == 1
    assert known == {"a": 1}


def test_many_threads_that_keep_at_once_break_nothing() -> None:
    known: dict[int, int] = {}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            kept = list(threads.map(lambda key: keep(known, key % 50, key % 50, 4), range(20_000)))
    finally:
        sys.setswitchinterval(interval)
    assert kept == [key % 50 for key in range(20_000)]
    assert len(known) <= 4
