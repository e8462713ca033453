"""Outputs that shipped parsers read wrongly, row by row: part C of our study of gglib and Shepherd."""

from __future__ import annotations

from itertools import groupby

import pytest

from dragoman import Parser, Policy
from dragoman.events import Problem, ReasoningDelta, merge
from dragoman.parse import fences
from dragoman.parse.fences import CodeBegin, CodeDelta, CodeEnd, Fences
from tests.regressions.reading import (
    DIALECTS,
    Read,
    answered,
    call,
    called,
    chunkings,
    closer,
    events_of,
    read,
    text,
    think,
    tool,
    unread,
)

JSON_DIALECTS = tuple(name for name in DIALECTS if name != "qwen3_coder")
TAGGED = ("hermes", "generic", "qwen3_coder", "deepseek_r1", "deepseek_v31", "kimi_k2")
"""Dialects whose thoughts stand between <think> and </think>."""

each = pytest.mark.parametrize("dialect", DIALECTS)
each_json = pytest.mark.parametrize("dialect", JSON_DIALECTS)
each_tagged = pytest.mark.parametrize("dialect", TAGGED)

IDS = {"kimi_k2": "functions.{}:0"}


def made(dialect: str, name: str, arguments: str) -> object:
    """The call that `called` writes, with the id that the dialect gives it."""
    return call(name, arguments, IDS[dialect].format(name) if dialect in IDS else None)


# Row 1


@each
def test_html_in_an_answer_is_kept_whole(dialect: str) -> None:
    """Corpus row 1."""
    said = "Press <b>Start</b>, then </wait> for <i>two</i> beeps."
    assert read(dialect, answered(dialect, said)) == Read((text(said),))


@each
def test_comparison_signs_in_an_answer_are_kept_whole(dialect: str) -> None:
    """Corpus row 1."""
    said = "while (lo <hi && <-ch || a<b) { x <<= 1; }"
    assert read(dialect, answered(dialect, said)) == Read((text(said),))


# Row 2


@each_tagged
def test_a_closing_tag_of_nothing_is_taken_out_and_reported(dialect: str) -> None:
    """Corpus row 2: in every chunking, also one that cuts the tag."""
    problems = (("orphan_marker", "</think>"),)
    assert read(dialect, "ash</think>birch") == Read((text("ashbirch"),), problems)


@each_tagged
def test_a_closing_tag_of_a_thought_that_the_prompt_opened_ends_it(dialect: str) -> None:
    """Corpus row 2."""
    assert read(dialect, "ash</think>birch", start="reasoning") == Read((think("ash"), text("birch")))


# Row 3


@pytest.mark.parametrize("dialect", ["hermes", "generic", "kimi_k2", "deepseek_v31", "deepseek_r1", "mistral"])
def test_text_before_and_after_a_call_stays_where_it_was(dialect: str) -> None:
    """Corpus row 3."""
    output = f'One.{called(dialect, "dial", """{"n": 7}""")}Two.'
    assert read(dialect, output) == Read(
        (text("One."), made(dialect, "dial", '{"n": 7}'), text("Two.")), (), "tool_calls"
    )


def test_text_before_and_after_a_tagged_function_stays_where_it_was() -> None:
    """Corpus row 3."""
    output = "One.<tool_call><function=dial><parameter=n>7</parameter></function></tool_call>Two."
    assert read("qwen3_coder", output) == Read(
        (text("One."), call("dial", '{"n": "7"}'), text("Two.")), (), "tool_calls"
    )


def test_text_before_and_after_a_bare_object_stays_where_it_was() -> None:
    """Corpus row 3."""
    output = 'One.\n{"name": "dial", "parameters": {"n": 7}}Two.'
    assert read("llama3_json", output) == Read((text("One."), call("dial", '{"n": 7}'), text("Two.")), (), "tool_calls")


def test_text_around_an_object_behind_the_python_tag_stays_where_it_was() -> None:
    """Corpus row 3."""
    output = 'One.<|python_tag|>{"name": "dial", "parameters": {"n": 7}}Two.'
    assert read("llama3_json", output) == Read((text("One."), call("dial", '{"n": 7}'), text("Two.")), (), "tool_calls")


def test_messages_before_and_after_a_call_stay_where_they_were() -> None:
    """Corpus row 3: a call that <|end|> closes, between two messages."""
    output = (
        "<|channel|>commentary<|message|>One.<|end|>"
        '<|start|>assistant<|channel|>commentary to=functions.dial <|constrain|>json<|message|>{"n": 7}<|end|>'
        "<|start|>assistant<|channel|>final<|message|>Two.<|return|>"
    )
    parts = (text("One.", "commentary"), call("dial", '{"n": 7}'), text("Two."))
    assert read("harmony", output) == Read(parts, (), "tool_calls")


# Row 4


@each_json
def test_a_string_may_hold_the_marker_that_closes_its_call(dialect: str) -> None:
    """Corpus row 4."""
    arguments = f'{{"note": "write {closer(dialect)} last", "n": 2}}'
    assert read(dialect, called(dialect, "store", arguments)) == Read(
        (made(dialect, "store", arguments),), (), "tool_calls"
    )


@each_json
def test_a_string_may_hold_a_whole_call(dialect: str) -> None:
    """Corpus row 4."""
    inner = called(dialect, "inner", "{}").replace('"', '\\"').replace("\n", "\\n")
    arguments = f'{{"example": "{inner}"}}'
    assert read(dialect, called(dialect, "store", arguments)) == Read(
        (made(dialect, "store", arguments),), (), "tool_calls"
    )


def test_a_raw_value_may_hold_the_markers_of_calls() -> None:
    """Corpus row 4."""
    output = (
        "<tool_call>\n<function=store>\n<parameter=note>\nwrite </tool_call> or </function> last\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    expected = Read((call("store", '{"note": "write </tool_call> or </function> last"}'),), (), "tool_calls")
    assert read("qwen3_coder", output) == expected


# Row 5

QUOTED = {
    "hermes": '<tool_call>{"name": "halt", "arguments": {}}</tool_call>',
    "generic": '<tool_call>{"name": "halt", "arguments": {}}</tool_call>',
    "qwen3_coder": "<tool_call><function=halt></function></tool_call>",
    "llama3_json": '{"name": "halt", "parameters": {}}',
}
each_quoted = pytest.mark.parametrize("dialect", QUOTED)


@each_quoted
def test_a_call_in_a_fence_is_text(dialect: str) -> None:
    """Corpus row 5."""
    said = f"Write:\n```xml\n{QUOTED[dialect]}\n```\nThat is all."
    assert read(dialect, said) == Read((text(said),))


@each_quoted
def test_a_call_in_an_open_fence_is_text_up_to_the_end(dialect: str) -> None:
    """Corpus row 5: the reply ends in code."""
    said = f"Write:\n```\n{QUOTED[dialect]}\n"
    assert read(dialect, said) == Read((text(said),))


@each_quoted
def test_a_call_in_backticks_is_text(dialect: str) -> None:
    """Corpus row 5."""
    said = f"Write `{QUOTED[dialect]}` and stop."
    assert read(dialect, said) == Read((text(said),))


@each_quoted
def test_a_call_behind_closed_code_is_a_call(dialect: str) -> None:
    """Corpus row 5."""
    output = f"Run `ls`:\n```\nls\n```\n{QUOTED[dialect]}"
    parts = read(dialect, output).parts
    assert (
        "".join(part.text for part in parts if isinstance(part, type(text("")))).rstrip("\n")
        == "Run `ls`:\n```\nls\n```"
    )
    assert parts[-1] == call("halt", "{}")


@each_quoted
def test_a_call_in_a_fence_is_a_call_where_the_caller_says_so(dialect: str) -> None:
    """Corpus row 5."""
    output = f"```\n{QUOTED[dialect]}\n```"
    found = read(dialect, output, policy=Policy(calls_in_code=True))
    assert [part for part in found.parts if not isinstance(part, type(text("")))] == [call("halt", "{}")]
    assert (found.problems, found.stop) == ((), "tool_calls")


@pytest.mark.parametrize("dialect", ["kimi_k2", "deepseek_v31", "deepseek_r1", "mistral"])
def test_control_tokens_in_a_fence_are_a_call(dialect: str) -> None:
    """Corpus row 5: nobody quotes a control token by accident, and fences are not looked at."""
    found = read(dialect, f"```\n{called(dialect, 'halt', '{}')}\n```")
    assert found == Read((text("```\n"), made(dialect, "halt", "{}"), text("\n```")), (), "tool_calls")


# Row 6


@pytest.mark.parametrize("dialect", ["hermes", "generic"])
@pytest.mark.parametrize("key", ["arguments", "parameters"])
def test_both_words_for_arguments_are_read_in_a_tag(dialect: str, key: str) -> None:
    """Corpus row 6."""
    output = f'<tool_call>\n{{"name": "dial", "{key}": {{"n": 7}}}}\n</tool_call>'
    assert read(dialect, output) == Read((call("dial", '{"n": 7}'),), (), "tool_calls")


@pytest.mark.parametrize("key", ["arguments", "parameters"])
def test_both_words_for_arguments_are_read_in_a_bare_object(key: str) -> None:
    """Corpus row 6."""
    output = f'{{"name": "dial", "{key}": {{"n": 7}}}}'
    assert read("llama3_json", output) == Read((call("dial", '{"n": 7}'),), (), "tool_calls")


@pytest.mark.parametrize("key", ["arguments", "parameters"])
def test_both_words_for_arguments_are_read_in_an_array(key: str) -> None:
    """Corpus row 6."""
    output = f'[TOOL_CALLS][{{"name": "dial", "{key}": {{"n": 7}}}}]'
    assert read("mistral", output) == Read((call("dial", '{"n": 7}'),), (), "tool_calls")


# Row 7

STRING = r'"{\"n\": 7, \"s\": \"a \\\"b\\\" \\u00e9\"}"'
DECODED = r'{"n": 7, "s": "a \"b\" \u00e9"}'


@pytest.mark.parametrize(
    ("dialect", "output"),
    [
        ("hermes", f'<tool_call>\n{{"name": "dial", "arguments": {STRING}}}\n</tool_call>'),
        ("generic", f'<tool_call>\n{{"name": "dial", "arguments": {STRING}}}\n</tool_call>'),
        ("llama3_json", f'{{"name": "dial", "parameters": {STRING}}}'),
        ("mistral", f'[TOOL_CALLS][{{"name": "dial", "arguments": {STRING}}}]'),
    ],
)
def test_arguments_in_a_json_string_are_decoded_once_and_noted(dialect: str, output: str) -> None:
    """Corpus row 7."""
    assert read(dialect, output) == Read((call("dial", DECODED),), (("arguments_as_string", ""),), "tool_calls")


# Row 8


@pytest.mark.parametrize("dialect", ["hermes", "generic"])
@pytest.mark.parametrize(
    "body",
    [
        '[{"name": "a", "arguments": {"n": 1}}, {"name": "b", "arguments": {}}]',
        '[\n  {"name": "a", "arguments": {"n": 1}},\n  {"name": "b", "arguments": {}}\n]',
        '{"name": "a", "arguments": {"n": 1}}\n{"name": "b", "arguments": {}}',
        '{"name": "a", "arguments": {"n": 1}}, {"name": "b", "arguments": {}}',
        '{"name": "a", "arguments": {"n": 1}}{"name": "b", "arguments": {}}',
    ],
)
def test_several_calls_in_one_tag_are_all_read(dialect: str, body: str) -> None:
    """Corpus row 8."""
    output = f"<tool_call>\n{body}\n</tool_call>"
    assert read(dialect, output) == Read((call("a", '{"n": 1}'), call("b", "{}")), (), "tool_calls")


def test_an_array_of_calls_is_read_whole() -> None:
    """Corpus row 8."""
    output = '[TOOL_CALLS] [{"name": "a", "arguments": {"n": 1}}, {"name": "b", "arguments": {}}]</s>'
    assert read("mistral", output) == Read((call("a", '{"n": 1}'), call("b", "{}")), (), "tool_calls")


@pytest.mark.parametrize("between", ["; ", ";", "\n", ";\n"])
def test_several_bare_objects_are_all_read(between: str) -> None:
    """Corpus row 8."""
    output = f'{{"name": "a", "parameters": {{"n": 1}}}}{between}{{"name": "b", "parameters": {{}}}}<|eom_id|>'
    assert read("llama3_json", output) == Read((call("a", '{"n": 1}'), call("b", "{}")), (), "tool_calls")


def test_several_functions_in_one_tag_are_all_read() -> None:
    """Corpus row 8."""
    output = (
        "<tool_call>\n<function=a>\n<parameter=n>\none\n</parameter>\n</function>\n"
        "<function=b>\n</function>\n</tool_call>"
    )
    assert read("qwen3_coder", output) == Read((call("a", '{"n": "one"}'), call("b", "{}")), (), "tool_calls")


# Rows 9 and 10

DIAL = '{"name": "dial", "arguments": {"n": 7}}'
UNCLOSED = [
    ("hermes", "", f"<tool_call>\n{DIAL}"),
    ("hermes", "", f"<tool_call>\n{DIAL}\n"),
    ("generic", "", f"<tool_call>\n{DIAL}\n</tool_c"),
    ("deepseek_v31", "<｜tool▁calls▁begin｜>", '<｜tool▁call▁begin｜>dial<｜tool▁sep｜>{"n": 7}'),
    ("deepseek_v31", "", '<｜tool▁call▁begin｜>dial<｜tool▁sep｜>{"n": 7}<｜tool▁call'),
    ("deepseek_r1", "", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>dial\n```json\n{"n": 7}\n```'),
    ("deepseek_r1", "", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>dial\n```json\n{"n": 7}\n'),
    ("kimi_k2", "<|tool_calls_section_begin|>", '<|tool_call_begin|>dial<|tool_call_argument_begin|>{"n": 7}'),
    ("kimi_k2", "", '<|tool_call_begin|>dial<|tool_call_argument_begin|>{"n": 7}\n'),
    ("qwen3_coder", "", "<tool_call>\n<function=dial>\n<parameter=n>\n7\n</parameter>\n"),
    ("qwen3_coder", "", "<tool_call>\n<function=dial>\n<parameter=n>\n7\n</parameter>\n</func"),
]
each_unclosed = pytest.mark.parametrize(("dialect", "section", "output"), UNCLOSED)


def dialled(dialect: str) -> object:
    return call(
        "dial", '{"n": "7"}' if dialect == "qwen3_coder" else '{"n": 7}', "dial" if dialect == "kimi_k2" else None
    )


@each_unclosed
def test_a_call_that_lacks_only_its_closer_is_one_if_the_model_stopped(dialect: str, section: str, output: str) -> None:
    """Corpus row 9."""
    expected = Read((dialled(dialect),), (("implicit_close", ""),), "tool_calls")
    assert read(dialect, section + output, reason="stop") == expected


@each_unclosed
@pytest.mark.parametrize("reason", ["length", None])
def test_a_call_that_lacks_only_its_closer_is_none_if_the_input_was_cut(
    dialect: str, section: str, output: str, reason: str | None
) -> None:
    """Corpus row 9."""
    expected = Read((unread(output, "dial"),), (("incomplete", output),), reason)
    assert read(dialect, section + output, reason=reason) == expected


def test_a_harmony_call_whose_stop_marker_was_stripped_is_one_if_the_model_stopped() -> None:
    """Corpus row 9: engines strip stop markers, and <|call|> is one, so nothing is missing."""
    output = '<|channel|>commentary to=functions.dial <|constrain|>json<|message|>{"n": 7}'
    assert read("harmony", output, reason="stop") == Read((call("dial", '{"n": 7}'),), (), "tool_calls")


@pytest.mark.parametrize("reason", ["length", None])
def test_a_harmony_call_without_its_end_is_none_if_the_input_was_cut(reason: str | None) -> None:
    """Corpus row 9."""
    output = '<|channel|>commentary to=functions.dial <|constrain|>json<|message|>{"n": 7}'
    assert read("harmony", output, reason=reason) == Read((unread(output, "dial"),), (("incomplete", output),), reason)


@pytest.mark.parametrize(
    ("dialect", "output"),
    [
        ("hermes", '<tool_call>\n{"name": "dial", "arguments": {"who": "Ad'),
        ("generic", '<tool_call>\n{"name": "dial", "arguments": {"who": "Ad'),
        ("llama3_json", '{"name": "dial", "parameters": {"who": "Ad'),
        ("mistral", '[TOOL_CALLS]dial[ARGS]{"who": "Ad'),
        ("mistral", '[TOOL_CALLS][{"name": "dial", "arguments": {"who": "Ad'),
        ("deepseek_v31", '<｜tool▁call▁begin｜>dial<｜tool▁sep｜>{"who": "Ad'),
        ("deepseek_r1", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>dial\n```json\n{"who": "Ad'),
        ("kimi_k2", '<|tool_call_begin|>functions.dial:0<|tool_call_argument_begin|>{"who": "Ad'),
        ("qwen3_coder", "<tool_call>\n<function=dial>\n<parameter=who>\nAd"),
    ],
)
@pytest.mark.parametrize("reason", ["stop", "length", None])
def test_a_call_cut_inside_a_string_is_none_and_its_characters_are_kept(
    dialect: str, output: str, reason: str | None
) -> None:
    """Corpus row 10."""
    assert read(dialect, output, reason=reason) == Read((unread(output, "dial"),), (("incomplete", output),), reason)


def test_a_harmony_call_cut_inside_a_string_is_none_and_its_characters_are_kept() -> None:
    """Corpus row 10."""
    output = '<|channel|>commentary to=functions.dial <|constrain|>json<|message|>{"who": "Ad'
    assert read("harmony", output, reason="length") == Read(
        (unread(output, "dial"),), (("incomplete", output),), "length"
    )


# Rows 11, 17 and 18


@each_json
@pytest.mark.parametrize(
    "arguments",
    [
        '{"id": 9007199254740993, "big": 123456789012345678901234567890}',
        '{"a": 1.0, "b": 0.10, "c": 1e-7, "d": -0, "e": 1E+2}',
        '{"z": 1, "a": 2, "m": 3}',
        r'{"s": "caf\u00e9 \ud83d\ude00 \/ \b\f\n\r\t\\ \" end"}',
        '{"s": "café 😀 日本"}',
        '{ "spaced" :\t[ 1 ,\n 2 ] }',
        '{"twice": 1, "twice": 2}',
        r'{"lone": "\ud800"}',
    ],
)
def test_the_arguments_are_the_characters_that_the_model_wrote(dialect: str, arguments: str) -> None:
    """Corpus row 11."""
    found = read(dialect, called(dialect, "dial", arguments))
    assert (found.parts, found.stop) == ((made(dialect, "dial", arguments),), "tool_calls")


def test_numbers_in_raw_values_are_copied_digit_by_digit() -> None:
    """Corpus row 11."""
    numbers = tool("dial", a="integer", b="number", c="number", d="number", e="number")
    values = {"a": "9007199254740993", "b": "1.0", "c": "0.10", "d": "1e-7", "e": "-12345678901234567890"}
    body = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    output = f"<tool_call>\n<function=dial>\n{body}</function>\n</tool_call>"
    arguments = '{"a": 9007199254740993, "b": 1.0, "c": 0.10, "d": 1e-7, "e": -12345678901234567890}'
    assert read("qwen3_coder", output, tools=[numbers]) == Read((call("dial", arguments),), (), "tool_calls")


@each_json
@pytest.mark.parametrize(
    "arguments",
    [
        '{"t": "a } b"}',
        '{"t": "a ] b [ c { d"}',
        '{"t": "run `date` and ```sh"}',
        '{"t": "a < b, <<c, <b>bold</b>, </think>"}',
        r'{"t": "quote \" and backslash \\"}',
    ],
)
def test_brackets_backticks_and_tags_in_strings_are_data(dialect: str, arguments: str) -> None:
    """Corpus row 17."""
    assert read(dialect, called(dialect, "dial", arguments)) == Read(
        (made(dialect, "dial", arguments),), (), "tool_calls"
    )


def test_brackets_backticks_and_tags_in_raw_values_are_data() -> None:
    """Corpus row 17."""
    output = (
        "<tool_call>\n<function=dial>\n<parameter=t>\n"
        'a } b ] `date` ``` < <<c <b>bold</b> </think> "q" \\ &amp;\n</parameter>\n</function>\n</tool_call>'
    )
    arguments = r'{"t": "a } b ] `date` ``` < <<c <b>bold</b> </think> \"q\" \\ &amp;"}'
    assert read("qwen3_coder", output) == Read((call("dial", arguments),), (), "tool_calls")


@each_json
def test_nested_values_keep_their_types(dialect: str) -> None:
    """Corpus row 18."""
    arguments = '{"o": {"x": [1, {"y": []}]}, "a": [true, false, null], "n": null, "i": 9999999999, "e": {}}'
    assert read(dialect, called(dialect, "dial", arguments)) == Read(
        (made(dialect, "dial", arguments),), (), "tool_calls"
    )


def test_nested_raw_values_keep_their_types() -> None:
    """Corpus row 18."""
    shapes = tool("dial", o="object", a="array", n={"type": ["string", "null"]}, i="integer", b="boolean")
    values = {"o": '{"x": [1, {"y": []}]}', "a": "[true, null]", "n": "null", "i": "9999999999", "b": "true"}
    body = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    output = f"<tool_call>\n<function=dial>\n{body}</function>\n</tool_call>"
    arguments = '{"o": {"x": [1, {"y": []}]}, "a": [true, null], "n": null, "i": 9999999999, "b": true}'
    assert read("qwen3_coder", output, tools=[shapes]) == Read((call("dial", arguments),), (), "tool_calls")


# Rows 12, 13 and 14


def test_only_the_framing_newlines_of_a_raw_value_are_taken_off() -> None:
    """Corpus row 12."""
    output = (
        "<tool_call>\n<function=store>\n<parameter=code>\n\n    def f():\n\n        pass  \n\n\n</parameter>\n"
        "</function>\n</tool_call>"
    )
    arguments = r'{"code": "\n    def f():\n\n        pass  \n\n"}'
    assert read("qwen3_coder", output) == Read((call("store", arguments),), (), "tool_calls")


def test_carriage_returns_and_tabs_at_the_ends_of_a_raw_value_are_kept() -> None:
    """Corpus row 12."""
    output = "<function=store>\n<parameter=code>\n\tx = 1\r\n\t\n</parameter>\n</function>"
    assert read("qwen3_coder", output) == Read((call("store", r'{"code": "\tx = 1\r\n\t"}'),), (), "tool_calls")


def test_a_raw_value_ends_at_the_closer_that_something_legal_follows() -> None:
    """Corpus row 12."""
    output = (
        "<tool_call>\n<function=store>\n<parameter=doc>\nEnd it with </parameter> like so:\n</parameter>\n!\n"
        "</parameter>\n</function>\n</tool_call>"
    )
    arguments = r'{"doc": "End it with </parameter> like so:\n</parameter>\n!"}'
    found = read("qwen3_coder", output)
    assert (found.parts, found.stop) == ((call("store", arguments),), "tool_calls")
    assert {kind for kind, _ in found.problems} == {"ambiguous_close"}


@pytest.mark.parametrize("value", ["true", "123", "null", "None", "1.50", '{"a": 1}', "[]", '"quoted"', ""])
def test_a_value_of_a_string_parameter_is_the_string_that_was_written(value: str) -> None:
    """Corpus row 13."""
    output = f"<tool_call>\n<function=store>\n<parameter=word>\n{value}\n</parameter>\n</function>\n</tool_call>"
    escaped = value.replace('"', '\\"')
    expected = Read((call("store", f'{{"word": "{escaped}"}}'),), (), "tool_calls")
    assert read("qwen3_coder", output, tools=[tool("store", word="string")]) == expected


@pytest.mark.parametrize("value", ["true", "123", "null"])
def test_a_value_of_an_undeclared_parameter_is_a_string(value: str) -> None:
    """Corpus row 13."""
    output = f"<tool_call>\n<function=store>\n<parameter=word>\n{value}\n</parameter>\n</function>\n</tool_call>"
    assert read("qwen3_coder", output) == Read((call("store", f'{{"word": "{value}"}}'),), (), "tool_calls")


def test_a_function_without_its_wrapper_is_a_call() -> None:
    """Corpus row 14."""
    output = "Now.\n<function=dial>\n<parameter=n>\nseven\n</parameter>\n</function>\nDone."
    found = read("qwen3_coder", output)
    assert (found.problems, found.stop) == ((), "tool_calls")
    assert found.parts[1] == call("dial", '{"n": "seven"}')
    assert [part.text.strip("\n") for part in (found.parts[0], found.parts[2]) if isinstance(part, type(text("")))] == [
        "Now.",
        "Done.",
    ]


def test_a_function_whose_wrapper_is_only_closed_is_a_call() -> None:
    """Corpus row 14: Qwen3-Coder often forgets the opening tag."""
    output = "<function=dial>\n<parameter=n>\nseven\n</parameter>\n</function>\n</tool_call>"
    assert read("qwen3_coder", output) == Read((call("dial", '{"n": "seven"}'),), (), "tool_calls")


# Row 15


@each
def test_a_character_cut_between_its_bytes_is_one_character(dialect: str) -> None:
    """Corpus row 15."""
    output = answered(dialect, "é ｜ 😀 日本")
    encoded = output.encode()
    for cut in range(len(encoded) + 1):
        parser = Parser(dialect)
        events = parser.feed_bytes(encoded[:cut]) + parser.feed_bytes(encoded[cut:]) + parser.finish("stop")
        assert merge(events) == events_of(dialect, output)


def test_bytes_that_are_no_character_are_replaced_and_reported() -> None:
    """Corpus row 15."""
    parser = Parser("hermes")
    events = merge(parser.feed_bytes(b"a\xff\xe2\x82b") + parser.finish("stop"))
    assert [(event.kind.value, event.raw) for event in events if isinstance(event, Problem)] == [
        ("invalid_utf8", "ff"),
        ("invalid_utf8", "e2"),
        ("invalid_utf8", "82"),
    ]


# Row 19


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ("a <", "<|return|>"),
        ("x <| f | g ", "<|return|>"),
        ("a <|return> b <|end> c", "<|return|>"),
        ("a <|<|", "<|return|>"),
        ("a <|retur", ""),
        ("trailing <", ""),
        ("a <<<|", "<|end|>"),
    ],
)
def test_the_beginnings_of_markers_are_text_where_no_marker_follows(said: str, ended: str) -> None:
    """Corpus row 19."""
    assert read("harmony", f"<|channel|>final<|message|>{said}{ended}") == Read((text(said),))


@each_tagged
@pytest.mark.parametrize("said", ["a <", "see <tool", "x <<", "a </thin", "<", "<thi", "so <|"])
def test_the_beginning_of_a_marker_at_the_end_is_text(dialect: str, said: str) -> None:
    """Corpus row 19."""
    assert read(dialect, said, reason="length") == Read((text(said),), (), "length")


@each_tagged
def test_a_marker_right_behind_its_own_beginning_is_found(dialect: str) -> None:
    """Corpus row 19."""
    assert read(dialect, "a<</think>b<</thin", start="reasoning") == Read((think("a<"), text("b<</thin")))


# Row 20


@pytest.mark.parametrize(
    "header",
    [
        "<|channel|>commentary to=functions.dial <|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.dial<|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.dial json<|message|>",
        "<|channel|>commentary to=functions.dial<|message|>",
        "<|channel|>analysis to=functions.dial <|constrain|>json<|message|>",
        " to=functions.dial<|channel|>commentary <|constrain|>json<|message|>",
        " to=functions.dial<|channel|>analysis<|message|>",
        "<|start|>assistant to=functions.dial<|channel|>commentary<|constrain|>json<|message|>",
    ],
)
@pytest.mark.parametrize("ended", ["<|call|>", "<|end|>", "<|return|>"])
def test_a_message_with_a_recipient_is_a_call_in_every_spelling(header: str, ended: str) -> None:
    """Corpus row 20."""
    assert read("harmony", f'{header}{{"n": 7}}{ended}') == Read((call("dial", '{"n": 7}'),), (), "tool_calls")


@pytest.mark.parametrize("recipient", ["python", "browser.search"])
def test_the_body_of_a_code_message_is_handed_over_as_it_is(recipient: str) -> None:
    """Corpus row 20."""
    output = f"<|channel|>analysis to={recipient} code<|message|>print('a <b>')\n\"x\"<|call|>"
    expected = Read((call(recipient, "print('a <b>')\n\"x\""),), (("raw_arguments", ""),), "tool_calls")
    assert read("harmony", output) == expected


def test_a_body_that_is_no_json_is_handed_over_as_it_is() -> None:
    """Corpus row 20."""
    output = "<|channel|>commentary to=functions.dial <|constrain|>json<|message|>seven<|call|>"
    assert read("harmony", output) == Read((call("dial", "seven"),), (("raw_arguments", ""),), "tool_calls")


# Row 21


@each_tagged
def test_what_a_thought_holds_back_comes_out_before_the_answer(dialect: str) -> None:
    """Corpus row 21."""
    output = "hm <tool_</think>So: <tool_"
    assert read(dialect, output, start="reasoning") == Read((think("hm <tool_"), text("So: <tool_")))


def test_what_a_channel_holds_back_comes_out_before_the_next_one() -> None:
    """Corpus row 21."""
    output = (
        "<|channel|>analysis<|message|>hm <|ca<|end|><|start|>assistant<|channel|>final<|message|>So <|ca<|return|>"
    )
    assert read("harmony", output) == Read((think("hm <|ca"), text("So <|ca")))


# Row 22


@each_tagged
@pytest.mark.parametrize("reason", ["stop", "length", None])
def test_a_thought_that_never_closes_is_a_thought_and_reported(dialect: str, reason: str | None) -> None:
    """Corpus row 22."""
    expected = Read((think("Let me see"),), (("unclosed_reasoning", ""),), reason)
    assert read(dialect, "<think>Let me see", reason=reason) == expected
    assert read(dialect, "Let me see", start="reasoning", reason=reason) == expected


def test_a_bracketed_thought_that_never_closes_is_a_thought_and_reported() -> None:
    """Corpus row 22."""
    expected = Read((think("Let me see"),), (("unclosed_reasoning", ""),))
    assert read("mistral", "[THINK]Let me see") == expected
    assert read("mistral", "Let me see", start="reasoning") == expected


@each_tagged
def test_the_same_thought_comes_out_whoever_opened_it(dialect: str) -> None:
    """Corpus row 22: the model, the prompt, or both."""
    expected = Read((think("ash"), text("birch")))
    assert read(dialect, "<think>ash</think>birch") == expected
    assert read(dialect, "ash</think>birch", start="reasoning") == expected
    assert read(dialect, "<think>ash</think>birch", start="reasoning") == expected


@pytest.mark.parametrize("dialect", ["hermes", "generic", "qwen3_coder", "deepseek_r1"])
def test_the_newlines_that_frame_a_thought_are_layout(dialect: str) -> None:
    """Corpus row 22."""
    expected = Read((think("  ash\n"), text(" birch\n")))
    assert read(dialect, "<think>\n  ash\n\n</think>\n\n birch\n") == expected
    assert read(dialect, "  ash\n\n</think>\n\n birch\n", start="reasoning") == expected


# Row 23


@each_tagged
@pytest.mark.parametrize(
    "said",
    [
        "The tag `<think>` opens it.",
        'They write "<think>" first.',
        "Between <think> and the end.",
        "Its name is <think>, mostly.",
        "I said <think>.",
        "Really <think>?",
    ],
)
def test_prose_that_names_the_opening_tag_is_prose(dialect: str, said: str) -> None:
    """Corpus row 23."""
    assert read(dialect, said) == Read((text(said),))


@each_tagged
def test_prose_that_ends_in_the_opening_tag_keeps_what_was_said(dialect: str) -> None:
    """Corpus row 23: at the very end of the input, the tag can't open a thought that is there."""
    found = read(dialect, "It begins with <think>")
    assert found.parts[0] in (text("It begins with <think>"), text("It begins with "))


@each_tagged
@pytest.mark.parametrize("said", ["The tag `</think>` closes it.", 'They write "</think>" last.'])
def test_prose_that_quotes_the_closing_tag_is_prose(dialect: str, said: str) -> None:
    """Corpus row 23."""
    assert read(dialect, said) == Read((text(said),))


# Row 24


def labels(dialect: str, said: str) -> list[tuple[str, str]]:
    """Code and prose of an answer in order, the same in every chunking."""
    results = []
    for pieces in chunkings(answered(dialect, said)):
        parser, step = Parser(dialect), Fences()
        found = [event for piece in pieces for event in step.feed(parser.feed(piece))]
        found += step.feed(parser.finish("stop"))
        results.append(fences.merge(found + step.finish()))
    for result in results[1:]:
        assert result == results[0]
    kinds = {CodeBegin: "open", CodeDelta: "code", CodeEnd: "close"}
    shown = [(kinds.get(type(event), "prose"), event.text) for event in results[0] if hasattr(event, "text")]
    grouped = groupby((pair for pair in shown if pair[1] or pair[0] == "close"), lambda pair: pair[0])
    return [
        (kind, "".join(part for _, part in run)) for kind, run in grouped if kind != "prose" or dialect != "harmony"
    ]


@pytest.mark.parametrize("dialect", ["hermes", "qwen3_coder", "llama3_json", "kimi_k2"])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "a\n```py\nx\n```\nb",
            [("prose", "a\n"), ("open", "```py\n"), ("code", "x\n"), ("close", "```\n"), ("prose", "b")],
        ),
        ("````\n```\n````\n", [("open", "````\n"), ("code", "```\n"), ("close", "````\n")]),
        ("~~~\n```\n~~~", [("open", "~~~\n"), ("code", "```\n"), ("close", "~~~")]),
        ("```\nx", [("open", "```\n"), ("code", "x"), ("close", "")]),
        ("```x``` tail", [("prose", "```x``` tail")]),
    ],
)
def test_fences_are_labelled_alike_in_every_chunking(dialect: str, said: str, expected: list[tuple[str, str]]) -> None:
    """Corpus row 24."""
    assert labels(dialect, said) == expected


# Row 26


def test_a_call_number_of_the_models_own_is_no_index() -> None:
    """Corpus row 26."""
    output = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.dial:1000000000<|tool_call_argument_begin|>{}"
        "<|tool_call_end|><|tool_calls_section_end|>"
    )
    begins = [event for event in events_of("kimi_k2", output) if hasattr(event, "name")]
    assert [(event.index, event.id) for event in begins] == [(0, "functions.dial:1000000000")]


@each_json
def test_arguments_nested_beyond_reason_are_refused_and_reported(dialect: str) -> None:
    """Corpus row 26: what comes before and after is read."""
    deep = '{"x": ' + "[" * 5000 + "]" * 5000 + "}"
    output = called(dialect, "dial", deep)
    parser = Parser(dialect)
    events = parser.feed(output)
    assert parser.held <= parser.hold_bound
    events = merge(events + parser.finish("stop"))
    kinds = [event.kind.value for event in events if isinstance(event, Problem)]
    assert kinds == ["malformed"]
    assert "deep" in next(event.detail for event in events if isinstance(event, Problem))


@each
def test_a_megabyte_without_a_marker_passes_without_being_kept(dialect: str) -> None:
    """Corpus row 26."""
    parser = Parser(dialect, start="final" if dialect == "harmony" else "content")
    piece, size = "lorem ipsum dolor sit amet, " * 64, 0
    while size < 1_000_000:
        parser.feed(piece)
        size += len(piece)
        assert parser.held == 0


# Row 27


@each_tagged
def test_a_reply_of_nothing_but_thoughts_is_not_empty(dialect: str) -> None:
    """Corpus row 27."""
    assert read(dialect, "<think>ash</think>") == Read((think("ash"),))


def test_a_reply_on_the_analysis_channel_alone_is_not_empty() -> None:
    """Corpus row 27."""
    assert read("harmony", "<|channel|>analysis<|message|>ash<|end|>") == Read((think("ash"),))


@each
def test_an_empty_reply_is_empty(dialect: str) -> None:
    """Corpus row 27."""
    assert read(dialect, "") == Read(())
    assert read(dialect, "", reason=None) == Read((), (), None)


@each_tagged
def test_an_empty_thought_is_no_thought(dialect: str) -> None:
    """Corpus row 27."""
    assert read(dialect, "<think></think>Yes.") == Read((text("Yes."),))
    assert not any(isinstance(event, ReasoningDelta) for event in events_of(dialect, "<think></think>Yes."))
