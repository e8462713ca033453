"""Where the peers disagree, what we decided: section 10 of our study of the peers, row by row."""

from __future__ import annotations

import pytest

from tests.regressions.reading import DIALECTS, Read, answered, call, called, read, text, think, tool, unread

JSON_DIALECTS = tuple(name for name in DIALECTS if name != "qwen3_coder")
each_json = pytest.mark.parametrize("dialect", JSON_DIALECTS)
CODER = "<tool_call>\n<function=f>\n<parameter=x>\n{}\n</parameter>\n</function>\n</tool_call>"


def identity(dialect: str) -> str | None:
    return "functions.f:0" if dialect == "kimi_k2" else None


# Adjacent thoughts


def test_two_thoughts_in_a_row_are_two_thoughts() -> None:
    """The markers between them keep them apart; no character of either is lost."""
    expected = Read((think("ash"), think("elm"), text("oak")))
    assert read("kimi_k2", "<think>ash</think><think>elm</think>oak") == expected


def test_two_analysis_messages_are_two_thoughts() -> None:
    output = (
        "<|channel|>analysis<|message|>ash<|end|><|start|>assistant<|channel|>analysis<|message|>elm<|end|>"
        "<|start|>assistant<|channel|>final<|message|>oak<|return|>"
    )
    assert read("harmony", output) == Read((think("ash"), think("elm"), text("oak")))


# A call that the end of the input cuts off


def test_a_call_whose_name_is_cut_is_reported_with_its_characters() -> None:
    output = 'Go.\n<tool_call>\n{"name": "f'
    raw = '\n<tool_call>\n{"name": "f'
    assert read("hermes", output, reason="length") == Read((text("Go."), unread(raw)), (("incomplete", raw),), "length")


def test_an_opener_alone_at_the_end_is_text() -> None:
    """It is no call before its brace."""
    assert read("hermes", "Go. <tool_call>", reason="length") == Read((text("Go. <tool_call>"),), (), "length")


def test_a_cut_call_keeps_the_complete_one_before_it() -> None:
    whole, cut = called("hermes", "f", "{}"), '<tool_call>\n{"name": "g", "arguments": {"a'
    found = read("hermes", f"{whole}\n{cut}", reason="length")
    assert found == Read((call("f", "{}"), unread(cut, "g")), (("incomplete", cut),), "length")


# A missing closer


@pytest.mark.parametrize("dialect", ["hermes", "generic"])
def test_the_next_opener_closes_a_call_that_is_complete(dialect: str) -> None:
    output = (
        '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'
    )
    expected = Read((call("f", '{"n": 1}'), call("g", "{}")), (("implicit_close", ""),), "tool_calls")
    assert read(dialect, output) == expected


def test_the_next_control_token_closes_a_call_that_is_complete() -> None:
    output = (
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"n": 1}'
        "<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )
    expected = Read((call("f", '{"n": 1}'), call("g", "{}")), (("implicit_close", ""),), "tool_calls")
    assert read("deepseek_v31", output) == expected


def test_the_next_tag_closes_a_function_that_is_complete() -> None:
    output = (
        "<tool_call>\n<function=f>\n<parameter=n>\n1\n</parameter>\n</tool_call>\n"
        "<tool_call>\n<function=g>\n</function>\n</tool_call>"
    )
    expected = Read((call("f", '{"n": "1"}'), call("g", "{}")), (("implicit_close", ""),), "tool_calls")
    assert read("qwen3_coder", output) == expected


@pytest.mark.parametrize(
    ("dialect", "stop"),
    [("hermes", "<|im_end|>"), ("kimi_k2", "<|im_end|>"), ("deepseek_v31", "<｜end▁of▁sentence｜>")],
)
def test_a_stop_marker_closes_a_call_that_is_complete(dialect: str, stop: str) -> None:
    """The marker itself says that the model stopped, whatever the engine knows."""
    output = {
        "hermes": '<tool_call>\n{"name": "f", "arguments": {}}\n',
        "kimi_k2": "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}",
        "deepseek_v31": "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}",
    }[dialect]
    expected = Read((call("f", "{}", identity(dialect)),), (("implicit_close", ""),), "tool_calls")
    assert read(dialect, output + stop, reason=None) == expected


def test_a_stop_marker_does_not_complete_a_string() -> None:
    """A control token's spelling in a string is data: the call is still open when the input ends."""
    output = '<tool_call>\n{"name": "f", "arguments": {"s": "a<|im_end|>'
    assert read("hermes", output) == Read((unread(output, "f"),), (("incomplete", output),), "stop")


# Malformed bodies


def test_a_malformed_call_is_reported_whole_and_the_next_two_are_read() -> None:
    broken = '<tool_call>\n{"name": "f", "arguments": {"n": 1,,}}\n</tool_call>'
    output = f"{broken}\n{called('hermes', 'g', '{}')}\n{called('hermes', 'h', '{}')}"
    found = read("hermes", output)
    assert [part for part in found.parts if part != text("\n")] == [
        unread(broken, "f"),
        call("g", "{}"),
        call("h", "{}"),
    ]
    assert (found.problems, found.stop) == ((("malformed", broken),), "tool_calls")


def test_an_opener_without_a_call_is_text() -> None:
    """Markup in prose is structure only if it begins a call; its closer is left over."""
    found = read("hermes", "Use <tool_call> tags.")
    assert found == Read((text("Use <tool_call> tags."),))


def test_a_call_without_a_name_is_reported_whole() -> None:
    """The tag may hold further calls, so its closer is no part of this one."""
    broken = '<tool_call>\n{"arguments": {"n": 1}}'
    assert read("hermes", f"{broken}\n</tool_call>") == Read((unread(broken),), (("malformed", broken),))


# Raw text that holds its closer


def test_the_last_closer_that_something_legal_follows_ends_a_value_and_the_others_are_noted() -> None:
    output = CODER.format("a</parameter>b</parameter>\nc")
    found = read("qwen3_coder", output)
    assert found.parts == (call("f", r'{"x": "a</parameter>b</parameter>\nc"}'),)
    assert found.problems == (("ambiguous_close", "</parameter>"), ("ambiguous_close", "</parameter>"))


# Null, types, and what is unknown


def test_null_for_a_string_is_the_string_null() -> None:
    assert read("qwen3_coder", CODER.format("null"), tools=[tool("f", x="string")]).parts == (
        call("f", '{"x": "null"}'),
    )


@each_json
def test_null_in_a_json_dialect_is_null_and_noted(dialect: str) -> None:
    found = read(dialect, called(dialect, "f", '{"x": null}'), tools=[tool("f", x="string")])
    expected = Read((call("f", '{"x": null}', identity(dialect)),), (("wrong_type", "x"),), "tool_calls")
    assert found == expected


def test_a_raw_value_of_the_wrong_type_stays_a_string_and_is_noted() -> None:
    found = read("qwen3_coder", CODER.format("seven"), tools=[tool("f", x="integer")])
    assert found == Read((call("f", '{"x": "seven"}'),), (("wrong_type", "x"),), "tool_calls")


@each_json
def test_an_unknown_argument_is_kept_and_noted(dialect: str) -> None:
    found = read(dialect, called(dialect, "f", '{"x": 1, "y": 2}'), tools=[tool("f", x="integer")])
    expected = Read((call("f", '{"x": 1, "y": 2}', identity(dialect)),), (("unknown_argument", "y"),), "tool_calls")
    assert found == expected


@each_json
def test_an_argument_given_twice_is_left_as_it_is_and_noted(dialect: str) -> None:
    found = read(dialect, called(dialect, "f", '{"x": 1, "x": 2}'), tools=[tool("f", x="integer")])
    expected = Read((call("f", '{"x": 1, "x": 2}', identity(dialect)),), (("repeated_argument", "x"),), "tool_calls")
    assert found == expected


@each_json
def test_a_lone_surrogate_stays_an_escape(dialect: str) -> None:
    found = read(dialect, called(dialect, "f", r'{"x": "\udc00 \ud83d"}'))
    assert found == Read((call("f", r'{"x": "\udc00 \ud83d"}', identity(dialect)),), (), "tool_calls")


# Built-in recipients


@pytest.mark.parametrize("recipient", ["browser.search", "browser.open", "python", "container.exec"])
def test_a_built_in_recipient_is_a_call_with_its_whole_name(recipient: str) -> None:
    output = f'<|channel|>analysis to={recipient} code<|message|>{{"query": "elm"}}<|call|>'
    (found,) = read("harmony", output).parts
    assert found == call(recipient, '{"query": "elm"}')


# Whitespace between blocks


def test_whitespace_that_the_template_did_not_write_is_text() -> None:
    output = f"<think>\na\n</think>\n\n  \n\n b {called('hermes', 'f', '{}')}\n\n\nc"
    found = read("hermes", output)
    assert found == Read((think("a"), text("  \n\n b "), call("f", "{}"), text("\n\nc")), (), "tool_calls")


@pytest.mark.parametrize("between", ["", "\n"])
def test_the_newline_between_two_calls_is_layout(between: str) -> None:
    output = called("hermes", "f", "{}") + between + called("hermes", "g", "{}")
    assert read("hermes", output) == Read((call("f", "{}"), call("g", "{}")), (), "tool_calls")


# Why it ended


@pytest.mark.parametrize(
    ("reason", "expected"),
    [("stop", "tool_calls"), ("tool_calls", "tool_calls"), (None, "tool_calls"), ("length", "length")],
)
def test_the_reason_is_tool_calls_once_a_call_was_read_unless_the_input_was_cut(
    reason: str | None, expected: str
) -> None:
    assert read("hermes", called("hermes", "f", "{}"), reason=reason).stop == expected


@pytest.mark.parametrize("reason", ["stop", "length", "content_filter", None])
def test_the_reason_is_the_engines_where_there_is_no_call(reason: str | None) -> None:
    assert read("hermes", answered("hermes", "Hi."), reason=reason).stop == reason


def test_the_reason_is_not_tool_calls_where_the_only_call_is_broken() -> None:
    assert read("hermes", '<tool_call>\n{"name": "f", "arguments": oops}\n</tool_call>').stop == "stop"
