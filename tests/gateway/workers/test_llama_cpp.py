"""Requests to llama.cpp."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.constrain import constrain
from dragoman.errors import Refused
from dragoman.gateway.workers.llama_cpp import LlamaCpp
from dragoman.gateway.workers.order import Order, Output, Prompt, Sampling
from dragoman.gateway.workers.worker import Capabilities, Wire
from dragoman.registry import get_dialect
from dragoman.types import Tool

CONTROL = {"<s>": 1, "<think>": 5, "<tool_call>": 7, "[TOOL_CALLS]": 9, "<|end|>": 11, "<|reserved_4|>": 12}
TOOL = Tool("ping", "", {"type": "object", "properties": {}})


def asked(capabilities: Capabilities | None = None, **fields: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"id": "one", "model": "tiny", "prompt": Prompt(ids=(1, 2))}
    wire: Wire = LlamaCpp()
    dispatch = wire.build(Order(**(given | fields)), capabilities or Capabilities(kind="llama.cpp"))
    assert (dispatch.method, dispatch.path) == ("POST", "/completion")
    return json.loads(dispatch.body)


def test_ids_go_as_they_are() -> None:
    assert asked() == {
        "cache_prompt": True,
        "preserved_tokens": [],
        "prompt": [1, 2],
        "return_tokens": True,
        "stream": True,
        "model": "tiny",
    }


def test_text_begins_with_its_first_token_so_that_none_is_put_before_it() -> None:
    assert asked(prompt=Prompt(text="<s>Hello <think>"), control=CONTROL)["prompt"] == [1, "Hello <think>"]
    assert asked(prompt=Prompt(text="Hello"), control=CONTROL)["prompt"] == "Hello"


def test_a_prompt_of_nothing_is_refused() -> None:
    with pytest.raises(Refused, match="takes prompts"):
        asked(prompt=Prompt())


def test_sampling_is_said_in_its_words() -> None:
    sampling = Sampling(
        max_tokens=9,
        min_tokens=0,
        temperature=0.5,
        top_p=0.9,
        top_k=-1,
        min_p=0.1,
        presence_penalty=0.2,
        frequency_penalty=0.3,
        repetition_penalty=1.1,
        seed=-1,
        logit_bias={5: -100.0},
        ignore_eos=True,
        logprobs=0,
    )
    said = asked(sampling=sampling)
    assert {name: value for name, value in said.items() if name not in asked()} == {
        "n_predict": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "top_k": -1,
        "min_p": 0.1,
        "presence_penalty": 0.2,
        "frequency_penalty": 0.3,
        "repeat_penalty": 1.1,
        "seed": 0xFFFF_FFFF,
        "logit_bias": [[5, -100.0]],
        "ignore_eos": True,
        "n_probs": 1,
    }


def test_what_it_can_not_do_is_refused() -> None:
    with pytest.raises(Refused, match="no min_tokens") as refused:
        asked(sampling=Sampling(min_tokens=3))
    assert (refused.value.status, refused.value.param) == (400, "min_tokens")


def test_a_callers_own_fields_go_along_but_change_nothing_of_ours() -> None:
    said = asked(
        sampling=Sampling(extra={"dry_multiplier": 0.8, "cache_prompt": False, "stream": False, "prompt": "x"})
    )
    assert said["dry_multiplier"] == 0.8
    assert (said["cache_prompt"], said["stream"], said["prompt"]) == (False, True, [1, 2])


def test_control_tokens_are_to_be_spelled_out_unless_they_only_reserve_a_place() -> None:
    assert asked(control=CONTROL)["preserved_tokens"] == ["<s>", "<think>", "<tool_call>", "[TOOL_CALLS]", "<|end|>"]


def test_without_a_tokenizer_the_servers_control_tokens_count() -> None:
    here = Capabilities(kind="llama.cpp", control={"<think>": 5})
    assert asked(here)["preserved_tokens"] == ["<think>"]


def test_a_stop_that_is_one_token_is_seen_here_another_by_the_server() -> None:
    said = asked(stop_texts=("<|end|>", "\n\nUser:"), stop_ids=(11,), control=CONTROL)
    assert said["stop"] == ["\n\nUser:"]
    assert asked(stop_texts=("<|end|>",))["stop"] == ["<|end|>"]


def test_an_eager_constraint_is_a_grammar() -> None:
    said = asked(constraint=constrain(get_dialect("hermes"), [TOOL], tool_choice="required"), control=CONTROL)
    assert said["grammar"].startswith("root ::=")
    assert "grammar_lazy" not in said
    assert "<tool_call>" in said["preserved_tokens"]


def test_another_constraint_waits_for_its_trigger() -> None:
    said = asked(constraint=constrain(get_dialect("mistral"), [TOOL]), eager=False, control=CONTROL)
    assert said["grammar_lazy"] is True
    assert said["grammar_triggers"] == [{"type": 0, "value": "[TOOL_CALLS]", "token": 9}]


@pytest.mark.parametrize(("begun", "choice"), [("", "required"), ('<tool_call>\n{"name": "', "auto")])
def test_a_constraint_that_can_not_wait_is_left_out(begun: str, choice: str) -> None:
    constraint = constrain(get_dialect("hermes"), [TOOL], tool_choice=choice)
    said = asked(constraint=constraint, eager=False, prompt=Prompt(ids=(1,), begun=begun))
    assert "grammar" not in said


def test_the_answer_to_ids_is_ids_and_to_text_is_text() -> None:
    event = b'data: {"content": "a", "tokens": [4], "tokens_predicted": 1}\n\n'
    for prompt, ids in ((Prompt(ids=(1,)), [4]), (Prompt(text="a"), [])):
        order = Order(id="one", model="tiny", prompt=prompt)
        (output,) = LlamaCpp().reader(order, Capabilities(kind="llama.cpp")).feed(event)
        assert isinstance(output, Output)
        assert (list(output.ids), output.text) == (ids, "a")


def test_headers_go_along() -> None:
    order = Order(id="one", model="tiny", prompt=Prompt(ids=(1,)), headers=(("traceparent", "00-1"),))
    assert LlamaCpp().build(order, Capabilities(kind="llama.cpp")).headers == (("traceparent", "00-1"),)
