"""What the parsers that we measured ourselves against read wrongly: "Behaviour seen" in our study of their numbers."""

from __future__ import annotations

import pytest

from tests.regressions.reading import DIALECTS, Read, call, called, read, text, think, tool, unread

JSON_DIALECTS = tuple(name for name in DIALECTS if name != "qwen3_coder")


def test_text_and_an_opener_in_one_chunk_are_both_kept() -> None:
    """SGLang qwen: the text before the marker is lost."""
    output = 'Let me look.\n<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
    assert read("hermes", output) == Read((text("Let me look."), call("f", '{"x": 1}')), (), "tool_calls")


@pytest.mark.parametrize("dialect", JSON_DIALECTS)
def test_a_short_call_in_one_or_two_chunks_is_whole(dialect: str) -> None:
    """vLLM deepseek_v31: arguments empty, or the call lost."""
    (found,) = read(dialect, called(dialect, "f", '{"a":1}')).parts
    assert (getattr(found, "name", ""), getattr(found, "arguments", "")) == ("f", '{"a":1}')


def test_two_short_calls_in_one_chunk_are_both_whole() -> None:
    """SGLang: a second call in the same delta stays lost."""
    output = called("deepseek_v31", "f", '{"a":1}').replace("<｜tool▁calls▁end｜>", "")
    output += called("deepseek_v31", "g", '{"b":2}').replace("<｜tool▁calls▁begin｜>", "")
    assert read("deepseek_v31", output) == Read((call("f", '{"a":1}'), call("g", '{"b":2}')), (), "tool_calls")


def test_a_closer_in_a_string_is_data() -> None:
    """vLLM hermes: arguments cut in the middle; tinker: no call; transformers: ValueError."""
    arguments = '{"doc": "ends with </tool_call>\\n</tool_call>"}'
    assert read("hermes", called("hermes", "f", arguments)) == Read((call("f", arguments),), (), "tool_calls")


@pytest.mark.parametrize(
    ("dialect", "output"),
    [
        ("hermes", '<tool_call>\n{"arguments": {"a": [1, "}"]}, "name": "f"}\n</tool_call>'),
        ("generic", '<tool_call>\n{"id": 7, "arguments": {"a": [1, "}"]}, "name": "f"}\n</tool_call>'),
        ("mistral", '[TOOL_CALLS][{"arguments": {"a": [1, "}"]}, "name": "f"}]'),
        ("llama3_json", '<|python_tag|>{"parameters": {"a": [1, "}"]}, "name": "f"}'),
    ],
)
def test_arguments_before_the_name_are_the_same_call(dialect: str, output: str) -> None:
    """vLLM hermes: the name leaks into the arguments; SGLang: arguments missing in larger chunks."""
    assert read(dialect, output) == Read((call("f", '{"a": [1, "}"]}'),), (), "tool_calls")


@pytest.mark.parametrize("dialect", ["hermes", "generic", "mistral", "deepseek_v31", "deepseek_r1", "kimi_k2"])
def test_text_behind_a_call_is_kept(dialect: str) -> None:
    """vLLM hermes, SGLang, renderers: dropped."""
    assert read(dialect, called(dialect, "f", "{}") + "That was it.").parts[-1] == text("That was it.")


def test_a_call_cut_by_the_limit_keeps_the_turn() -> None:
    """transformers: ValueError, the turn is lost; tinker: the call becomes text."""
    cut = '<tool_call>\n{"name": "f", "arguments": {"a": "lo'
    output = f"<think>\nWhy not.\n</think>\n\nNow.\n{cut}"
    expected = Read((think("Why not."), text("Now."), unread("\n" + cut, "f")), (("incomplete", "\n" + cut),), "length")
    assert read("hermes", output, reason="length") == expected


def test_a_recipient_in_the_role_is_a_call() -> None:
    """SGLang: call not found."""
    output = '<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{"x": 1}<|call|>'
    assert read("harmony", output) == Read((call("f", '{"x": 1}'),), (), "tool_calls")


def test_blanks_at_the_end_of_a_raw_value_are_kept() -> None:
    """renderers, tinker, smg: stripped, so that a file's content changes."""
    output = "<tool_call>\n<function=f>\n<parameter=body>\nx = 1  \n\t \n\n</parameter>\n</function>\n</tool_call>"
    expected = Read((call("f", r'{"body": "x = 1  \n\t \n"}'),), (), "tool_calls")
    assert read("qwen3_coder", output, tools=[tool("f", body="string")]) == expected


def test_a_thought_that_is_cut_is_a_thought() -> None:
    """tinker: comes out as content with the raw tag."""
    assert read("hermes", "<think>\nHm, so", reason="length") == Read(
        (think("Hm, so"),), (("unclosed_reasoning", ""),), "length"
    )


@pytest.mark.parametrize("said", ["First <think> and then speak.", "Write `<think>`.", "It is <think>."])
def test_an_opener_that_the_answer_names_is_text(said: str) -> None:
    """transformers: read as reasoning again."""
    output = f"<think>\nHm.\n</think>\n\n{said}"
    assert read("hermes", output) == Read((think("Hm."), text(said)))
