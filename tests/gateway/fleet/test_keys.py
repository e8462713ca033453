from __future__ import annotations

import pytest

from dragoman.errors import InvalidConfig
from dragoman.gateway.fleet.keys import Access, Keys

KEYS = Keys.of(["sk-one", "sk-two"])


@pytest.mark.parametrize("header", ["Bearer sk-one", "bearer sk-two", "BEARER  sk-one "])
def test_a_known_key_is_allowed(header: str) -> None:
    assert KEYS.allows(header)


@pytest.mark.parametrize(
    "header",
    [None, "", "sk-one", "Basic sk-one", "Bearer", "Bearer ", "Bearer sk-three", "Bearer sk-on", "Bearer \ud800"],
)
def test_anything_else_is_not(header: str | None) -> None:
    assert not KEYS.allows(header)


def test_a_bare_key_can_be_asked_for() -> None:
    assert KEYS.knows("sk-two")
    assert not KEYS.knows("Bearer sk-two")


def test_keys_are_neither_shown_nor_kept() -> None:
    assert repr(KEYS) == str(KEYS) == "<Keys: 2>"
    assert "sk-one" not in repr(Access(KEYS, KEYS))
    assert all("sk-one" not in repr(getattr(KEYS, slot)) for slot in KEYS.__slots__)


@pytest.mark.parametrize("key", ["", " ", "sk one", "schlüssel", "a\n"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidConfig, match=r"words of ASCII characters, found one that is empty or is not$"):
        Keys.of(["sk-one", key])


def test_without_keys_anyone_may_ask_but_nobody_may_administer() -> None:
    access = Access(Keys.of([]), Keys.of([]))
    assert access.may_ask(None)
    assert not access.may_administer(None)
    assert not access.may_administer("Bearer ")


def test_callers_and_administrators_have_their_own_keys() -> None:
    access = Access(Keys.of(["caller"]), Keys.of(["admin"]))
    assert [access.may_ask(f"Bearer {key}") for key in ("caller", "admin", "nobody")] == [True, False, False]
    assert [access.may_administer(f"Bearer {key}") for key in ("caller", "admin", "nobody")] == [False, True, False]
