"""What llama.cpp's chat parser (0c1e57098) reads wrongly: section 3.2 of our study of it, item by item.

Issue numbers are those of ggml-org/llama.cpp.
"""

from __future__ import annotations

import pytest

from tests.regressions.reading import DIALECTS, Read, answered, call, called, read, text, think, tool, unread

each = pytest.mark.parametrize("dialect", DIALECTS)

TOOLS = [tool("get"), tool("get_weather", required=["city"], city="string", days="integer")]


def coder(name: str, **values: str) -> str:
    """A call as the template of Qwen3-Coder writes it."""
    body = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<tool_call>\n<function={name}>\n{body}</function>\n</tool_call>"


def hermes(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


# Item 1


@each
@pytest.mark.parametrize("said", ["stop if a <", "see <tool", "see <|", "a [TOOL", "b\n", "x <｜", "y\n<tool_cal", "`"])
def test_the_beginning_of_a_marker_at_the_end_of_the_output_is_kept(dialect: str, said: str) -> None:
    """Item 1; #27772."""
    assert read(dialect, answered(dialect, said), tools=TOOLS) == Read((text(said),))


# Item 2


def test_text_behind_a_call_is_kept() -> None:
    """Item 2."""
    output = coder("get_weather", city="Lima") + "Asked."
    assert read("qwen3_coder", output, tools=TOOLS) == Read(
        (call("get_weather", '{"city": "Lima"}'), text("Asked.")), (), "tool_calls"
    )


def test_a_second_call_is_kept() -> None:
    """Item 2."""
    output = coder("get_weather", city="Lima") + "\n" + coder("get_weather", city="Quito")
    parts = (call("get_weather", '{"city": "Lima"}'), call("get_weather", '{"city": "Quito"}'))
    assert read("qwen3_coder", output, tools=TOOLS) == Read(parts, (), "tool_calls")


# Item 3


def test_a_missing_required_argument_is_noted_on_the_call() -> None:
    """Item 3."""
    expected = Read((call("get_weather", '{"days": 2}'),), (("missing_argument", "city"),), "tool_calls")
    assert read("qwen3_coder", coder("get_weather", days="2"), tools=TOOLS) == expected


def test_an_unknown_argument_is_kept_and_noted_on_the_call() -> None:
    """Item 3."""
    expected = Read(
        (call("get_weather", '{"city": "Lima", "unit": "K"}'),), (("unknown_argument", "unit"),), "tool_calls"
    )
    assert read("qwen3_coder", coder("get_weather", city="Lima", unit="K"), tools=TOOLS) == expected


def test_an_optional_argument_may_come_before_a_required_one() -> None:
    """Item 3; #24351, #26472."""
    expected = Read((call("get_weather", '{"days": 2, "city": "Lima"}'),), (), "tool_calls")
    assert read("qwen3_coder", coder("get_weather", days="2", city="Lima"), tools=TOOLS) == expected


def test_an_argument_given_twice_is_kept_twice_and_noted_on_the_call() -> None:
    """Item 3."""
    output = "<function=get_weather>\n<parameter=city>\nA\n</parameter>\n<parameter=city>\nB\n</parameter>\n</function>"
    expected = Read(
        (call("get_weather", '{"city": "A", "city": "B"}'),), (("repeated_argument", "city"),), "tool_calls"
    )
    assert read("qwen3_coder", output, tools=TOOLS) == expected


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "qwen3_coder"])
def test_an_unknown_tool_is_called_and_noted_on_the_call(dialect: str) -> None:
    """Items 3 and 10."""
    identity = "functions.get_time:0" if dialect == "kimi_k2" else None
    expected = Read((call("get_time", '{"zone": 1}', identity),), (("unknown_tool", "get_time"),), "tool_calls")
    assert read(dialect, called(dialect, "get_time", '{"zone": 1}'), tools=TOOLS) == expected


def test_an_unknown_tagged_function_is_called_and_noted_on_the_call() -> None:
    """Item 3."""
    expected = Read((call("get_time", '{"zone": "1"}'),), (("unknown_tool", "get_time"),), "tool_calls")
    assert read("qwen3_coder", coder("get_time", zone="1"), tools=TOOLS) == expected


# Item 4


@pytest.mark.parametrize(
    "output",
    [
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima</parameter>\n</function>\n</tool_call>",
        "<tool_call>\n<function=get_weather>\n<parameter=city>Lima\n</parameter>\n</function>\n</tool_call>",
        "<tool_call><function=get_weather><parameter=city>Lima</parameter></function></tool_call>",
        "<tool_call>\n  <function=get_weather>\n    <parameter=city>\nLima\n</parameter>\n  </function>\n</tool_call>",
        "<function=get_weather>\n<parameter=city>\nLima\n</parameter></function></tool_call>",
    ],
)
def test_the_newlines_around_a_value_may_be_missing(output: str) -> None:
    """Item 4; #26763, #22043."""
    assert read("qwen3_coder", output, tools=TOOLS) == Read(
        (call("get_weather", '{"city": "Lima"}'),), (), "tool_calls"
    )


def test_a_value_without_its_newline_does_not_swallow_the_next_call() -> None:
    """Item 4; #26763."""
    output = (
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima</parameter>\n</function>\n</tool_call>\n"
        + coder("get_weather", city="Quito")
    )
    parts = (call("get_weather", '{"city": "Lima"}'), call("get_weather", '{"city": "Quito"}'))
    assert read("qwen3_coder", output, tools=TOOLS) == Read(parts, (), "tool_calls")


# Item 5


@pytest.mark.parametrize(
    "output",
    [
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nLim",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima\n",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima\n</para",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nLima\n</parameter>",
        "<tool_call>\n<function=get_weather>\n<parameter=ci",
        "<tool_call>\n<function=get_weather>\n",
        "<tool_call>\n<function=get_weather>\n<param",
    ],
)
def test_a_call_cut_at_the_limit_is_no_call(output: str) -> None:
    """Item 5; #21771."""
    expected = Read((unread(output, "get_weather"),), (("incomplete", output),), "length")
    assert read("qwen3_coder", output, tools=TOOLS, reason="length") == expected


# Item 6


@pytest.mark.parametrize("dialect", ["qwen3_coder", "hermes", "generic"])
@pytest.mark.parametrize("quoted", ["`<tool_call>`", '"<tool_call>"', "<tool_call> or not", "a <tool_call>\nb"])
def test_a_thought_may_name_the_marker_of_a_call(dialect: str, quoted: str) -> None:
    """Item 6; #24202."""
    output = f"I could write {quoted}, but no.</think>Hello."
    assert read(dialect, output, start="reasoning") == Read((think(f"I could write {quoted}, but no."), text("Hello.")))


# Item 7


def test_the_arguments_may_come_before_the_name() -> None:
    """Item 7."""
    output = hermes('{"arguments": {"city": "Lima"}, "name": "get_weather"}')
    assert read("hermes", output, tools=TOOLS) == Read((call("get_weather", '{"city": "Lima"}'),), (), "tool_calls")


def test_text_and_calls_may_follow_a_call() -> None:
    """Item 7; #20260, #28914."""
    body = hermes('{"name": "get", "arguments": {}}')
    output = f"{body}\nThen {body} and done."
    parts = (call("get", "{}"), text("Then "), call("get", "{}"), text(" and done."))
    assert read("hermes", output, tools=TOOLS) == Read(parts, (), "tool_calls")


def test_arguments_in_a_json_string_are_not_lost() -> None:
    """Item 7."""
    output = hermes(r'{"name": "get_weather", "arguments": "{\"city\": \"Lima\"}"}')
    expected = Read((call("get_weather", '{"city": "Lima"}'),), (("arguments_as_string", ""),), "tool_calls")
    assert read("hermes", output, tools=TOOLS) == expected


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "qwen3_coder"])
def test_a_value_of_the_wrong_type_is_kept_and_noted_on_the_call(dialect: str) -> None:
    """Item 7."""
    identity = "functions.get_weather:0" if dialect == "kimi_k2" else None
    expected = Read((call("get_weather", '{"city": 5}', identity),), (("wrong_type", "city"),), "tool_calls")
    assert read(dialect, called(dialect, "get_weather", '{"city": 5}'), tools=TOOLS) == expected


# Item 8


@pytest.mark.parametrize("identity", ["functions.get:0", "functions.get:17", "get:3", "call_9"])
def test_any_header_of_kimi_is_the_id_of_its_call(identity: str) -> None:
    """Item 8: a native id."""
    output = f"<|tool_call_begin|>{identity}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    (found,) = read("kimi_k2", output).parts
    assert getattr(found, "id", None) == identity


@pytest.mark.parametrize("identity", ["a1b2c3d4e", "Zz9", "call_0-1"])
def test_any_id_of_mistral_is_the_id_of_its_call(identity: str) -> None:
    """Item 8: a native id."""
    expected = Read((call("get", '{"n": 1}', identity),), (), "tool_calls")
    assert read("mistral", f'[TOOL_CALLS]get[CALL_ID]{identity}[ARGS]{{"n": 1}}') == expected
    assert read("mistral", f'[TOOL_CALLS][{{"name": "get", "arguments": {{"n": 1}}, "id": "{identity}"}}]') == expected
    assert read("mistral", f'[TOOL_CALLS][{{"id": "{identity}", "name": "get", "arguments": {{"n": 1}}}}]') == expected


# Item 9


@pytest.mark.parametrize(
    "said",
    [
        "Use {x} in a format string",
        '{"a": 1}',
        "{",
        "{}",
        '{"name": "Ada", "age": 36}',
        '{"name": "Ada"}',
        '{"name": "Ada", "parameters"',
        'Like so:\n{"k": [1, 2]}\nor\n{\n}',
        'int main() {\n{"name"',
        '{"parameters": 1, "name": 2}',
    ],
)
def test_an_answer_with_braces_is_an_answer(said: str) -> None:
    """Item 9; #20660."""
    assert read("llama3_json", said, tools=TOOLS) == Read((text(said),))


# Item 10 is with item 3. Items 11 and 12


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "qwen3_coder"])
def test_a_tool_whose_name_begins_with_anothers_is_called(dialect: str) -> None:
    """Item 11."""
    identity = "functions.get_weather:0" if dialect == "kimi_k2" else None
    expected = Read((call("get_weather", '{"city": "Lima"}', identity),), (), "tool_calls")
    assert read(dialect, called(dialect, "get_weather", '{"city": "Lima"}'), tools=TOOLS) == expected


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "qwen3_coder"])
@pytest.mark.parametrize("name", ["get_x", "get-x", "get.x", "GET_X"])
def test_tools_whose_names_differ_by_one_sign_are_told_apart(dialect: str, name: str) -> None:
    """Item 12."""
    tools = [tool("get_x", a="integer"), tool("get-x", a="string"), tool("get.x", a="null"), tool("GET_X", a="array")]
    value = {"get_x": "1", "get-x": '"s"', "get.x": "null", "GET_X": "[]"}[name]
    identity = f"functions.{name}:0" if dialect == "kimi_k2" else None
    expected = Read((call(name, f'{{"a": {value}}}', identity),), (), "tool_calls")
    assert read(dialect, called(dialect, name, f'{{"a": {value}}}'), tools=tools) == expected


def test_tagged_functions_whose_names_differ_by_one_sign_are_told_apart() -> None:
    """Items 11 and 12."""
    tools = [tool("get_x", a="integer"), tool("get-x", a="string"), tool("get_xy", a="null")]
    output = coder("get_x", a="1") + "\n" + coder("get-x", a="1") + "\n" + coder("get_xy", a="null")
    parts = (call("get_x", '{"a": 1}'), call("get-x", '{"a": "1"}'), call("get_xy", '{"a": null}'))
    assert read("qwen3_coder", output, tools=tools) == Read(parts, (), "tool_calls")


# Section 3.1, the themes that a parser of these dialects can show


def test_a_doubled_closer_of_a_value_belongs_to_it() -> None:
    """#24839: the last closer that something legal follows ends the value."""
    output = "<function=get>\n<parameter=a>\nx</parameter>\n</parameter>\n</function>"
    found = read("qwen3_coder", output)
    assert found.parts == (call("get", '{"a": "x</parameter>"}'),)


def test_a_closed_thought_and_nothing_else_leaves_no_tag() -> None:
    """#27733, #24202."""
    assert read("hermes", "<think>\n\n</think>\n\nHello.") == Read((text("Hello."),))


def test_a_trailing_opening_tag_is_no_error() -> None:
    """#27733."""
    assert read("hermes", "Hello.\n<think>").parts == (text("Hello.\n"),)
