"""The tree itself: sane defaults, and what can't be together."""

from __future__ import annotations

import pytest

from dragoman.errors import InvalidConfig
from dragoman.gateway.config import Keys, ModelEntry, Server, Settings, WorkerEntry
from dragoman.gateway.secret import Secret


def test_without_a_word_the_gateway_listens_to_this_machine_alone() -> None:
    assert Settings().server.host == "127.0.0.1"


def test_a_name_is_of_one_model() -> None:
    with pytest.raises(InvalidConfig, match="'b' twice"):
        Settings(models=(ModelEntry(name="a", aliases=("b",)), ModelEntry(name="b")))


def test_a_worker_is_one_thing() -> None:
    for wrong in ({}, {"kind": "sglang"}, {"url": "http://a", "gguf": "b"}, {"url": "http://a", "kind": "replay"}):
        with pytest.raises(ValueError, match="one of url, gguf and kind"):
            WorkerEntry(**wrong)


@pytest.mark.parametrize(
    ("word", "entry"),
    [
        ("replay", WorkerEntry(kind="replay")),
        ("m/Q.GGUF", WorkerEntry(gguf="m/Q.GGUF")),
        ("http://a:1", WorkerEntry(url="http://a:1")),
    ],
)
def test_a_word_says_which_worker_is_meant(word: str, entry: WorkerEntry) -> None:
    assert WorkerEntry(**WorkerEntry.of_word(word)) == entry


def test_a_model_in_this_process_is_not_loaded_several_times() -> None:
    with pytest.raises(InvalidConfig, match=r"server\.processes should be 1 with a GGUF file"):
        Settings(server=Server(processes=2), workers=(WorkerEntry(gguf="a.gguf"),))


def test_keys_are_not_in_what_is_printed_of_settings() -> None:
    key = Secret.of("hunter2", {})
    settings = Settings(keys=Keys(api=(key,), admin=(key,)), workers=(WorkerEntry(url="http://a", key=key),))
    assert "hunter2" not in repr(settings)
