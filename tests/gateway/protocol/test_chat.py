"""What a chat's body may hold, and what is said where it may not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from dragoman.constrain import ToolChoice
from dragoman.errors import Refused
from dragoman.gateway.protocol.chat import read_chat

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
MESSAGES = [{"role": "user", "content": "Hi"}]


def body(**fields: Any) -> bytes:
    return msgspec.json.encode({"model": "m", "messages": MESSAGES, **fields})


def refused(given: bytes) -> tuple[int, str, str | None]:
    with pytest.raises(Refused) as caught:
        read_chat(given)
    return caught.value.status, caught.value.code, caught.value.param


def test_a_request_is_read_with_its_sampling() -> None:
    request = read_chat(body(temperature=0.5, max_completion_tokens=7, seed=3, top_k=40, stop="x", tools=[TOOL]))
    sampling = request.sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.seed, sampling.top_k) == (0.5, 7, 3, 40)
    assert (request.stops, request.choice) == (("x",), ToolChoice("auto"))


def test_without_tools_there_are_no_calls() -> None:
    assert read_chat(body()).choice == ToolChoice("none")


def test_what_workers_understand_is_passed_on_and_what_nobody_does_is_named() -> None:
    request = read_chat(body(priority=2, frobnicate=1, metadata={}, guided_regex="a+"))
    assert request.sampling.extra == {"priority": 2, "guided_regex": "a+"}
    assert request.ignored == ("frobnicate",)


def test_who_asks_that_something_be_not_done_is_told_that_it_is() -> None:
    assert read_chat(body(separate_reasoning=False, include_reasoning=True)).ignored == ("separate_reasoning",)
    assert read_chat(body(add_generation_prompt=False)).ignored == ("add_generation_prompt",)
    ending = [*MESSAGES, {"role": "assistant", "content": "Well,"}]
    going_on = {"messages": ending, "continue_final_message": True, "add_generation_prompt": False}
    assert read_chat(body(**going_on)).ignored == ()


def test_hosts_of_other_workers_are_not_a_clients_to_name() -> None:
    request = read_chat(body(bootstrap_host="10.0.0.1", kv_transfer_params={}))
    assert request.sampling.extra == {}
    assert "bootstrap_host" not in request.raw
    assert request.ignored == ("bootstrap_host", "kv_transfer_params")


def test_the_least_number_of_tokens_has_two_names() -> None:
    assert read_chat(body(min_new_tokens=3)).sampling.min_tokens == 3


@pytest.mark.parametrize(
    ("fields", "code", "param"),
    [
        ({"messages": []}, "empty_array", "messages"),
        ({"messages": "Hi"}, "invalid_type", "messages"),
        ({"messages": ["Hi"]}, "invalid_type", "messages[0]"),
        ({"n": 0}, "invalid_value", "n"),
        ({"stop": ["x" * 600, "y" * 600]}, "invalid_value", "stop"),
        ({"logit_bias": {"9" * 5000: 1}}, "invalid_value", "logit_bias"),
        ({"logit_bias": {str(token): 1 for token in range(5000)}}, "invalid_value", "logit_bias"),
        ({"tools": [TOOL] * 1025}, "invalid_value", "tools"),
        ({"messages": MESSAGES * 65537}, "invalid_value", "messages"),
        ({"functions": [{"name": "f"}]}, "unsupported_parameter", "functions"),
        ({"function_call": "auto"}, "unsupported_parameter", "function_call"),
        ({"n": "2"}, "invalid_type", "n"),
        ({"temperature": 2.5}, "decimal_above_max_value", "temperature"),
        ({"top_p": -0.1}, "decimal_below_min_value", "top_p"),
        ({"top_k": -5}, "invalid_value", "top_k"),
        ({"max_tokens": 0}, "integer_below_min_value", "max_tokens"),
        ({"max_tokens": 2, "min_tokens": 3}, "invalid_value", "min_tokens"),
        ({"logit_bias": {"a": 1}}, "invalid_value", "logit_bias"),
        ({"logit_bias": {"5": 101}}, "invalid_value", "logit_bias.5"),
        ({"stop": [""]}, "invalid_value", "stop"),
        ({"stop": ["x"] * 17}, "invalid_value", "stop"),
        ({"top_logprobs": 2}, "invalid_value", "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "invalid_value", "top_logprobs"),
        ({"stream_options": {"include_usage": True}}, "invalid_value", "stream_options"),
        ({"response_format": {"type": "xml"}}, "invalid_type", "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "invalid_value", "response_format.json_schema"),
        ({"tools": [{"type": "web_search"}]}, "invalid_value", "tools[0].type"),
        ({"tool_choice": "required"}, "invalid_value", "tool_choice"),
        ({"tools": [TOOL], "tool_choice": "sometimes"}, "invalid_value", "tool_choice"),
        (
            {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "g"}}},
            "invalid_value",
            "tool_choice",
        ),
        ({"continue_final_message": True}, "invalid_value", "continue_final_message"),
        ({"reasoning_effort": "enormous"}, "invalid_type", "reasoning_effort"),
    ],
)
def test_a_field_that_is_wrong_is_named(fields: dict[str, Any], code: str, param: str) -> None:
    assert refused(body(**fields)) == (400, code, param)


@pytest.mark.parametrize("given", [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_refused(given: bytes) -> None:
    status, code, _ = refused(given)
    assert (status, code) in {(400, "invalid_json"), (400, "invalid_type")}


def test_what_is_missing_is_named() -> None:
    assert refused(b'{"model": "m"}') == (400, "missing_required_parameter", "messages")
