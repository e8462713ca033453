"""What the bodies of completions and of ``/generate`` may hold, and what is said where they may not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from dragoman.errors import Refused
from dragoman.gateway.protocol.completions import read_completion, read_generate


def completion(**fields: Any) -> bytes:
    return msgspec.json.encode({"model": "m", "prompt": "Once", **fields})


def refused(read: Callable[[bytes], object], given: bytes) -> tuple[int, str, str | None]:
    with pytest.raises(Refused) as caught:
        read(given)
    return caught.value.status, caught.value.code, caught.value.param


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("Once", ["Once"]),
        ([1, 2], [[1, 2]]),
        (["Once", "Twice"], ["Once", "Twice"]),
        ([[1], "Twice"], [[1], "Twice"]),
        ("", [""]),
    ],
)
def test_a_prompt_is_a_text_or_ids_or_a_list_of_such(prompt: Any, prompts: list[Any]) -> None:
    assert read_completion(completion(prompt=prompt)).prompts == prompts


def test_a_completion_has_sixteen_tokens_unless_more_are_asked_for() -> None:
    assert read_completion(completion()).sampling.max_tokens == 16
    assert read_completion(completion(max_tokens=7)).sampling.max_tokens == 7


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"prompt": []}, "invalid_value", "prompt"),
        ({"prompt": [[]]}, "invalid_type", "prompt[0]"),
        ({"prompt": ["a", 1]}, "invalid_type", "prompt[1]"),
        ({"prompt": [True, False]}, "invalid_type", "prompt[0]"),
        ({"prompt": [[True]]}, "invalid_type", "prompt[0]"),
        ({"prompt": ["a"] * 65}, "invalid_value", "prompt"),
        ({"prompt": ["a"] * 64, "n": 3}, "invalid_value", "n"),
        ({"n": 129}, "invalid_value", "n"),
        ({"best_of": 2}, "unsupported_value", "best_of"),
        ({"suffix": "b"}, "invalid_value", "suffix"),
        ({"logprobs": 21}, "invalid_value", "logprobs"),
        ({"logprobs": 1, "echo": True}, "invalid_value", "echo"),
        ({"stop": ["a"] * 17}, "invalid_value", "stop"),
        ({"stop": ""}, "invalid_value", "stop"),
        ({"stop": "a" * 1025}, "invalid_value", "stop"),
        ({"max_tokens": 0}, "invalid_value", "max_tokens"),
        ({"stream_options": {}}, "invalid_value", "stream_options"),
    ],
)
def test_what_a_completion_may_not_have_is_named(fields: Any, code: str, param: str) -> None:
    assert refused(read_completion, completion(**fields)) == (400, code, param)


def generate(**params: Any) -> bytes:
    return msgspec.json.encode({"text": "Once", "sampling_params": params})


def test_generate_is_asked_in_sglangs_words() -> None:
    request = read_generate(generate(n=2, max_new_tokens=5, stop=["a"], stop_token_ids=[7], min_new_tokens=1, top_k=3))
    assert (request.n, request.stops, request.stop_token_ids) == (2, ("a",), (7,))
    assert (request.sampling.max_tokens, request.sampling.min_tokens, request.sampling.top_k) == (5, 1, 3)


@pytest.mark.parametrize(
    "params",
    [
        {"stop": 5},
        {"stop": [5]},
        {"stop": ["a"] * 17},
        {"stop_token_ids": 5},
        {"n": "2"},
        {"n": True},
        {"n": 0},
        {"n": 129},
        {"max_new_tokens": True},
        {"max_new_tokens": 0},
        {"temperature": "hot"},
    ],
)
def test_what_generate_may_not_have_is_refused(params: Any) -> None:
    assert refused(read_generate, generate(**params))[0] == 400


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"text": "a", "input_ids": [1]},
        {"input_ids": []},
        {"text": "a", "return_logprob": True, "top_logprobs_num": 99},
    ],
)
def test_generate_needs_one_prompt_and_not_too_many_alternatives(fields: Any) -> None:
    assert refused(read_generate, msgspec.json.encode(fields))[0] == 400
