"""Every setting has a flag, a variable and a key of its own, and says what it is for and what it should be."""

from __future__ import annotations

import re

import pytest

from dragoman.gateway.config import ModelEntry, Settings, WorkerEntry
from dragoman.gateway.leaves import Leaf, element, fields, is_table, leaves

ALL = [*leaves(), *fields(ModelEntry), *fields(WorkerEntry)]
NAMED = {leaf.key: leaf for leaf in leaves()}


def test_no_two_settings_share_a_flag_or_a_variable() -> None:
    for names in ([leaf.flag for leaf in leaves()], [leaf.variable for leaf in leaves()]):
        assert len(set(names)) == len(names)


def test_the_names_of_a_setting_are_made_of_its_place() -> None:
    port, queue, models = NAMED["server.port"], NAMED["limits.queue_seconds"], NAMED["models"]
    assert (port.flag, port.variable) == ("--port", "DRAGOMAN_SERVER__PORT")
    assert (queue.flag, queue.variable) == ("--limits-queue-seconds", "DRAGOMAN_LIMITS__QUEUE_SECONDS")
    assert (models.flag, models.variable) == ("--model", "DRAGOMAN_MODELS")


def test_every_section_of_the_tree_is_walked() -> None:
    assert {leaf.path[0] for leaf in leaves()} == {leaf.key for leaf in fields(Settings)}
    assert not any(is_table(leaf.kind) for leaf in leaves())


@pytest.mark.parametrize("leaf", ALL, ids=lambda leaf: leaf.key)
def test_a_setting_says_what_it_is_for(leaf: Leaf) -> None:
    assert leaf.about
    assert leaf.expected
    assert re.fullmatch(r"--[a-z]+(-[a-z]+)*", leaf.flag)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("server.port", "a whole number from 0 to 65535"),
        ("server.host", "text that is not empty"),
        ("limits.concurrent", "a whole number from 1 up"),
        ("limits.stall_seconds", "a number above 0, at most 86400"),
        ("metrics.enabled", "true or false"),
        ("log.format", "one of text, json"),
        ("models", "a list"),
    ],
)
def test_what_a_setting_should_be_is_said_in_words(key: str, expected: str) -> None:
    assert NAMED[key].expected == expected


def test_a_list_of_tables_knows_their_type() -> None:
    assert element(NAMED["workers"].kind) is WorkerEntry
    assert element(NAMED["server.port"].kind) is None
