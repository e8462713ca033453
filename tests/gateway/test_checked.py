"""A wrong value is refused with its place and with what it should be; a right one becomes the setting."""

from __future__ import annotations

import datetime
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConfig
from dragoman.gateway.checked import checked, found, spelled, unknown
from dragoman.gateway.config import ModelEntry, WorkerEntry
from dragoman.gateway.leaves import Leaf, leaves

NAMED = {leaf.key: leaf for leaf in leaves()}


def said(key: str, value: object) -> str:
    with pytest.raises(InvalidConfig) as caught:
        checked(value, NAMED[key], "here", {})
    return str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("server.port", 65536, "here should be a whole number from 0 to 65535, found 65536"),
        ("server.port", "80", "here should be a whole number from 0 to 65535, found '80'"),
        ("server.port", True, "here should be a whole number from 0 to 65535, found true"),
        ("server.host", "", "here should be text that is not empty, found ''"),
        ("server.host", "a\udcff", "here should be text that is not empty, found 'a\\udcff'"),
        ("server.drain_seconds", float("nan"), "here should be a number above 0, at most 86400, found nan"),
        ("limits.queue_seconds", float("inf"), "here should be a number above 0, at most 86400, found inf"),
        ("log.level", "loud", "here should be one of debug, info, warning, error, found 'loud'"),
        ("metrics.enabled", 1, "here should be true or false, found 1"),
        ("models", "a", "here should be a list, found 'a'"),
        ("models", [1], "here[0] should be a word, or a table, found 1"),
        ("models", [{}], "here[0] should be a table with name, found one with nothing"),
        ("models", [{"name": 1}], "here[0].name should be text that is not empty, found 1"),
        ("models", [{"name": "a", "options": []}], "here[0].options should be a table, found []"),
        ("models", [{"name": "a", "aliases": [""]}], "here[0].aliases[0] should be text that is not empty, found ''"),
        ("workers", ["a:1"], "here[0].url should be http://HOST:PORT, found 'a:1'"),
        ("keys.api", "hunter2", "here should be a list, found something else"),
        ("keys.api", [2], "here[0] should be a key, env:NAME or file:PATH, found something else"),
        ("keys.api", ["env:X"], "here[0] should be a variable X in the environment, found none"),
    ],
)
def test_a_mistake_is_said_in_one_sentence(key: str, value: object, sentence: str) -> None:
    assert said(key, value) == sentence


def test_a_field_that_there_is_not_is_named_with_the_one_that_was_meant() -> None:
    sentence = said("workers", [{"ulr": "http://a"}])
    assert sentence == "here[0] should be one of url, gguf, kind, models, key, found 'ulr'; did you mean 'url'?"


def test_nothing_is_guessed_for_a_name_that_is_like_none() -> None:
    assert unknown("here", "zzz", ["a", "b"]).found == "'zzz'"


def test_a_date_is_no_option_of_a_template() -> None:
    options = {"day": datetime.date(2026, 1, 1)}
    assert "a table of what JSON can say" in said("models", [{"name": "a", "options": options}])


def test_a_table_becomes_an_entry() -> None:
    value = [{"name": "a", "options": {"x": [1, 2.5, {"y": True}]}}, "b"]
    assert checked(value, NAMED["models"], "here", {}) == (
        ModelEntry(name="a", options={"x": [1, 2.5, {"y": True}]}),
        ModelEntry(name="b"),
    )


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("server.port", " 80 ", 80),
        ("server.port", "8O", "8O"),
        ("server.drain_seconds", "1e2", 100.0),
        ("server.host", " a", " a"),
        ("metrics.enabled", "Off", False),
        ("metrics.enabled", "maybe", "maybe"),
        ("keys.api", "a, b,", ["a", "b"]),
        ("keys.api", '["a,b", "c"]', ["a,b", "c"]),
        ("models", '{name = "a", aliases = ["b", "c"]}', [{"name": "a", "aliases": ["b", "c"]}]),
        ("models", "[broken", ["[broken"]),
        ("workers", "{broken", ["{broken"]),
    ],
)
def test_a_text_says_a_value(key: str, text: str, value: object) -> None:
    assert spelled(text, NAMED[key]) == value


def test_a_password_in_a_url_is_not_repeated() -> None:
    assert "secret" not in said("workers", ["http://me:secret@host"])


def test_a_long_value_is_shortened() -> None:
    assert len(found("x" * 1000)) == 60


@given(st.sampled_from(leaves()), st.text(max_size=30))
def test_any_text_is_a_value_or_a_mistake(leaf: Leaf, text: str) -> None:
    with suppress(InvalidConfig):
        checked(spelled(text, leaf), leaf, "here", {})


def test_a_worker_keeps_its_key_to_itself() -> None:
    (worker,) = checked([{"url": "http://a", "key": "hunter2"}], NAMED["workers"], "here", {})  # type: ignore[misc]
    assert isinstance(worker, WorkerEntry)
    assert worker.key is not None
    assert worker.key.reveal() == "hunter2"
