"""Classes of bugs that vLLM, SGLang and others had, and of which we must be free: B1 to B13 of our study of the peers.

Issue numbers are named with their repository; the classes without one were seen in code or measured.
"""

from __future__ import annotations

from random import Random

import pytest

from dragoman import Parser, Policy
from dragoman.events import ArgumentsDelta, CallBegin, merge
from tests.regressions.reading import (
    DIALECTS,
    Read,
    answered,
    call,
    called,
    events_of,
    read,
    text,
    think,
    tool,
    unread,
)

each = pytest.mark.parametrize("dialect", DIALECTS)
JSON_DIALECTS = tuple(name for name in DIALECTS if name != "qwen3_coder")
each_json = pytest.mark.parametrize("dialect", JSON_DIALECTS)
TAGGED = ("hermes", "generic", "qwen3_coder", "deepseek_r1", "deepseek_v31", "kimi_k2")
each_tagged = pytest.mark.parametrize("dialect", TAGGED)

CODER = "<tool_call>\n<function={}>\n{}</function>\n</tool_call>"


def typed(value: str, **schema: object) -> str:
    """The JSON that a raw value becomes for a parameter ``x`` of this schema."""
    output = CODER.format("f", f"<parameter=x>\n{value}\n</parameter>\n")
    (found,) = read("qwen3_coder", output, tools=[tool("f", x=schema)]).parts
    arguments = getattr(found, "arguments", "")
    assert arguments.startswith('{"x": ')
    assert arguments.endswith("}")
    return str(arguments[6:-1])


# B1, streamed arguments that are truncated or belong to a neighbour


PAIRS = {
    "hermes": (
        '<tool_call>\n{"name": "a", "arguments": {}}\n</tool_call>\n'
        '<tool_call>\n{"name": "b", "arguments": {"n": 1}}\n</tool_call>'
    ),
    "generic": '<tool_call>{"name": "a"}</tool_call>\n<tool_call>{"name": "b", "arguments": {"n": 1}}</tool_call>',
    "llama3_json": '{"name": "a", "parameters": {}}; {"name": "b", "parameters": {"n": 1}}',
    "mistral": '[TOOL_CALLS]a[ARGS]{}[TOOL_CALLS]b[ARGS]{"n": 1}',
    "mistral_pre_v11": '[TOOL_CALLS][{"name": "a"}, {"name": "b", "arguments": {"n": 1}}]',
    "deepseek_v31": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>a<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
        '<｜tool▁call▁begin｜>b<｜tool▁sep｜>{"n": 1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
    ),
    "deepseek_r1": (
        "<｜tool▁call▁begin｜>function<｜tool▁sep｜>a\n```json\n{}\n```<｜tool▁call▁end｜>\n"
        '<｜tool▁call▁begin｜>function<｜tool▁sep｜>b\n```json\n{"n": 1}\n```<｜tool▁call▁end｜>'
    ),
}


@pytest.mark.parametrize(("dialect", "output"), PAIRS.items(), ids=PAIRS)
def test_a_call_without_arguments_leaves_its_neighbour_alone(dialect: str, output: str) -> None:
    """B1; vllm-project/vllm#48702, #31501."""
    assert read(dialect, output) == Read((call("a", "{}"), call("b", '{"n": 1}')), (), "tool_calls")


def test_a_function_without_parameters_leaves_its_neighbour_alone() -> None:
    """B1."""
    output = CODER.format("a", "") + "\n" + CODER.format("b", "<parameter=n>\n1\n</parameter>\n")
    assert read("qwen3_coder", output) == Read((call("a", "{}"), call("b", '{"n": "1"}')), (), "tool_calls")


@each_json
def test_the_last_characters_of_the_arguments_come_before_the_end(dialect: str) -> None:
    """B1; vllm-project/vllm#10781: nothing waits for a later flush."""
    arguments = '{"a": {"b": [1, {"c": "d"}]}}'
    output = called(dialect, "f", arguments)
    parser, streamed = Parser(dialect), ""
    for character in output[: output.index(arguments) + len(arguments)]:
        streamed += "".join(event.json for event in parser.feed(character) if isinstance(event, ArgumentsDelta))
    assert streamed == arguments


# B2, several things in one chunk, as speculative decoding delivers them


@each_json
def test_a_thought_of_text_and_a_call_may_come_in_one_chunk(dialect: str) -> None:
    """B2; vllm-project/vllm#47137, sgl-project/sglang#28684."""
    if dialect in ("harmony", "llama3_json"):
        before, parts = "", ()
    else:
        before, parts = "Let me look. ", (text("Let me look. "),)
    found = read(dialect, before + called(dialect, "f", '{"x": 1}'))
    assert (found.parts[:-1], found.problems, found.stop) == (parts, (), "tool_calls")
    assert getattr(found.parts[-1], "arguments", None) == '{"x": 1}'


# B3, markers that leak

MESSY = {
    "hermes": "</tool_call>One.<tool_call>\n{oops</tool_call>Two.</think>Three.<|im_end|><|im_end|>",
    "generic": '</tool_call>One.<tool_call>{"name": 5}</tool_call>Two.</think>Three.',
    "qwen3_coder": "</function>One.</parameter></tool_call>Two.<function=f>oops</function></tool_call>Three.<|im_end|>",
    "deepseek_v31": "One.<｜tool▁call▁end｜>Two.<｜tool▁calls▁end｜>Three.</think><｜tool▁calls▁begin｜>",
    "deepseek_r1": "One.<｜tool▁call▁end｜>Two.<｜tool▁calls▁end｜>Three.</think><｜end▁of▁sentence｜>",
    "kimi_k2": "One.<|tool_call_end|>Two.<|tool_calls_section_end|>Three.<|tool_calls_section_begin|></think>",
    "mistral": "One.[/THINK]Two.[ARGS]Three.[TOOL_CALLS]f[ARGS]{oops</s>",
    "harmony": "One.<|end|><|end|><|start|>assistant<|channel|>final<|message|>Two.<|return|><|end|>",
}


@pytest.mark.parametrize("dialect", MESSY)
def test_no_marker_leaks_into_what_people_see(dialect: str) -> None:
    """B3; vllm-project/vllm#46875, #40965."""
    shown = "".join(part.text for part in read(dialect, MESSY[dialect]).parts if hasattr(part, "text"))
    assert "One." in shown
    for mark in ("<|", "｜", "[ARGS]", "[TOOL", "[/THINK", "</tool_call>", "</think>", "</function>", "</parameter>"):
        assert mark not in shown


# B4, calls and quoted calls in open thoughts


@pytest.mark.parametrize("dialect", ["hermes", "generic", "kimi_k2", "deepseek_v31", "deepseek_r1"])
def test_a_call_in_an_open_thought_is_a_call_and_the_thought_goes_on(dialect: str) -> None:
    """B4; vllm-project/vllm#39056."""
    output = f"Look{called(dialect, 'f', '{}')}again</think>Done."
    identity = "functions.f:0" if dialect == "kimi_k2" else None
    expected = Read((think("Look"), call("f", "{}", identity), think("again"), text("Done.")), (), "tool_calls")
    assert read(dialect, output, start="reasoning") == expected


def test_a_function_in_an_open_thought_is_a_call_and_the_thought_goes_on() -> None:
    """B4."""
    output = "Look<function=f></function>again</think>Done."
    expected = Read((think("Look"), call("f", "{}"), think("again"), text("Done.")), (), "tool_calls")
    assert read("qwen3_coder", output, start="reasoning") == expected


@pytest.mark.parametrize("dialect", ["hermes", "generic", "qwen3_coder"])
def test_a_call_in_an_open_thought_is_part_of_it_where_the_caller_says_so(dialect: str) -> None:
    """B4; InternLM/lmdeploy#4580 argues for this."""
    inner = CODER.format("f", "") if dialect == "qwen3_coder" else called(dialect, "f", "{}")
    expected = Read((think(f"Look\n{inner}\nagain"), text("Done.")))
    policy = Policy(calls_in_reasoning=False)
    assert read(dialect, f"Look\n{inner}\nagain</think>Done.", start="reasoning", policy=policy) == expected


# B5, closers in values


@each_json
@pytest.mark.parametrize("inside", ["</think>", "<think>", "</tool_call>", "<|im_end|>", "<|end|>", "</s>", "]", "```"])
def test_any_marker_in_a_string_is_data(dialect: str, inside: str) -> None:
    """B5; sgl-project smg#1942."""
    arguments = f'{{"a": "x {inside} y", "b": "{inside}"}}'
    found = read(dialect, called(dialect, "f", arguments))
    assert (len(found.parts), found.problems, found.stop) == (1, (), "tool_calls")
    assert getattr(found.parts[0], "arguments", None) == arguments


@each_json
def test_a_string_that_is_cut_in_a_marker_of_its_own_is_data(dialect: str) -> None:
    """B5: an escape between the characters of a marker."""
    arguments = r'{"a": "<\/tool_call> <\u007c"}'
    found = read(dialect, called(dialect, "f", arguments))
    assert getattr(found.parts[0], "arguments", None) == arguments


# B6, types


@pytest.mark.parametrize(
    ("schema", "value", "json"),
    [
        ({"type": "string"}, "null", '"null"'),
        ({"type": ["string", "null"]}, "null", "null"),
        ({"type": "string", "nullable": True}, "null", "null"),
        ({"type": ["integer", "null"]}, "None", "null"),
        ({"type": "integer"}, "null", '"null"'),
        ({"type": "boolean"}, "True", "true"),
        ({"type": "boolean"}, "false", "false"),
        ({"type": "boolean"}, "yes", '"yes"'),
        ({"type": "integer"}, "-12", "-12"),
        ({"type": "integer"}, "9007199254740993", "9007199254740993"),
        ({"type": "number"}, "3", "3"),
        ({"type": "number"}, "0.10", "0.10"),
        ({"type": "number"}, "1e-7", "1e-7"),
        ({"type": "integer"}, "seven", '"seven"'),
        ({"type": "integer"}, "007", '"007"'),
        ({"type": ["string", "integer"]}, "12", "12"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "12", "12"),
        ({"oneOf": [{"type": "array"}, {"type": "string"}]}, "[1, 2]", "[1, 2]"),
        ({"oneOf": [{"type": "array"}, {"type": "string"}]}, "[1, 2", '"[1, 2"'),
        ({"enum": ["1", "2"]}, "1", '"1"'),
        ({"enum": [1, 2]}, "1", "1"),
        ({"const": True}, "true", "true"),
        ({"allOf": [{"type": ["integer", "string"]}, {"type": "integer"}]}, "5", "5"),
        ({"type": "object"}, '{"a": "b",\n "c": [1.0]}', '{"a": "b",\n "c": [1.0]}'),
        ({"type": "array"}, " [ ] ", "[ ]"),
        ({"properties": {"a": {}}}, "{}", "{}"),
    ],
)
def test_a_raw_value_has_the_type_that_its_schema_gives_it(schema: dict[str, object], value: str, json: str) -> None:
    """B6; sgl-project/sglang#13411, vllm-project/vllm#38996."""
    found = typed(value, **schema)
    assert found.strip() == json


def test_a_reference_in_a_schema_is_followed() -> None:
    """B6; ai-dynamo/frontend-crates#268."""
    shape = tool("f", x={"$ref": "#/$defs/Count"})
    assert shape.parameters is not None
    shape = type(shape)("f", "", {**shape.parameters, "$defs": {"Count": {"type": ["integer", "null"]}}})
    output = CODER.format("f", "<parameter=x>\n12\n</parameter>\n")
    assert read("qwen3_coder", output, tools=[shape]) == Read((call("f", '{"x": 12}'),), (), "tool_calls")


# B7, neighbours of what is unknown or broken


@pytest.mark.parametrize("dialect", ["hermes", "generic", "mistral", "deepseek_v31", "deepseek_r1", "kimi_k2"])
def test_an_unknown_tool_leaves_its_neighbours_alone(dialect: str) -> None:
    """B7; sgl-project/sglang#34677."""
    output = "".join(called(dialect, name, "{}") for name in ("a", "ghost", "b"))
    begins = [
        event for event in events_of(dialect, output, tools=[tool("a"), tool("b")]) if isinstance(event, CallBegin)
    ]
    assert [(event.index, event.name) for event in begins] == [(0, "a"), (1, "ghost"), (2, "b")]
    found = read(dialect, output, tools=[tool("a"), tool("b")])
    assert (len(found.parts), found.problems, found.stop) == (3, (("unknown_tool", "ghost"),), "tool_calls")


@pytest.mark.parametrize(
    ("dialect", "broken"),
    [
        ("hermes", '<tool_call>\n{"name": "a", "arguments": {"n": oops}}\n</tool_call>'),
        ("generic", '<tool_call>\n{"name": "a", "arguments": {n: 1}}\n</tool_call>'),
        ("deepseek_v31", '<｜tool▁call▁begin｜>a<｜tool▁sep｜>{"n": oops}<｜tool▁call▁end｜>'),
        ("kimi_k2", "<|tool_call_begin|>a<|tool_call_argument_begin|>{'n': 1}<|tool_call_end|>"),
        ("deepseek_r1", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>a\n```json\n{"n": }\n```<｜tool▁call▁end｜>'),
        ("qwen3_coder", "<tool_call>\n<function=a>\noops\n</function>\n</tool_call>"),
    ],
)
def test_a_broken_body_is_no_call_and_what_follows_is_read(dialect: str, broken: str) -> None:
    """B7; sgl-project/sglang#39435: never dispatched as an empty call."""
    found = read(dialect, f"{broken}After.")
    if dialect == "qwen3_coder":  # the function's closer ends what is broken, that of the tag is left over
        assert [part for part in found.parts if part != text("After.")] == [
            unread(broken.removesuffix("\n</tool_call>"), "a")
        ]
    else:
        assert found == Read((unread(broken, "a"), text("After.")), (("malformed", broken),))


@each_json
@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", None])
def test_arguments_that_are_not_complete_are_never_a_call(dialect: str, reason: str | None) -> None:
    """B7; langchain-ai/langchain#39275."""
    output = called(dialect, "f", '{"path": "/tmp/a", "all": true}')
    for cut in range(output.index('"/tmp') + 1, output.index("true}") + 4):
        events = Parser(dialect).feed(output[:cut])
        parser = Parser(dialect)
        events = parser.feed(output[:cut]) + parser.finish(reason)
        assert [getattr(event, "status", "") for event in merge(events) if hasattr(event, "status")] == ["incomplete"]


# B8 and B11, nothing raises

PIECES = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", '{"name": "f", "arguments": ', "{}", "}", "<function=f>"),
    *(
        "</function>",
        "<parameter=x>",
        "</parameter>",
        "<|im_end|>",
        "<|channel|>",
        "<|message|>",
        "<|start|>",
        "<|end|>",
    ),
    *(
        "assistant",
        "commentary",
        " to=functions.f",
        "<|constrain|>",
        "json",
        "<|call|>",
        "<|return|>",
        "analysis",
        "final",
    ),
    *(
        "[TOOL_CALLS]",
        "[ARGS]",
        "[CALL_ID]",
        "[THINK]",
        "[/THINK]",
        "</s>",
        "<|python_tag|>",
        "<|eot_id|>",
        "\n",
        " ",
        "`",
    ),
    *(
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        "function",
        "```json\n",
    ),
    *(
        "<|tool_calls_section_begin|>",
        "<|tool_call_begin|>",
        "functions.f:0",
        "<|tool_call_argument_begin|>",
        "word",
        "<",
    ),
)


@each
@pytest.mark.parametrize("seed", range(8))
def test_any_medley_of_markers_is_read_alike_in_every_chunking(dialect: str, seed: int) -> None:
    """B2, B8 and B11: `read` checks that nothing is lost either."""
    chance = Random(seed)
    read(dialect, "".join(chance.choice(PIECES) for _ in range(chance.randint(3, 25))), reason=None)


@pytest.mark.parametrize("closed", ["", "</function>", "</tool_call>", "</function>\n</tool_call>"])
def test_a_function_that_is_not_closed_is_no_error(closed: str) -> None:
    """B11; vllm-project/vllm#58227."""
    output = f"<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n{closed}"
    assert read("qwen3_coder", output).parts == (call("f", '{"x": "1"}'),)


# B9, names and ids


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("functions.get_weather:0", "get_weather"),
        ("functions.weather.get:3", "weather.get"),
        ("get_weather:0", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("functions.a:b:2", "a:b"),
        ("weather-now", "weather-now"),
    ],
)
def test_a_header_of_kimi_is_an_id_that_tells_the_name(header: str, name: str) -> None:
    """B9; vllm-project/vllm#44135, sgl-project/sglang#21377."""
    output = f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{{}}<|tool_call_end|>"
    assert read("kimi_k2", output) == Read((call(name, "{}", header),), (), "tool_calls")


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
        ("<|tool_call_section_begin|>", "<|tool_call_section_end|>"),
        ("<|tool_calls_section_begin|>", ""),
        ("", ""),
    ],
)
def test_the_section_of_kimi_may_be_singular_or_missing(begin: str, end: str) -> None:
    """B9; ggml-org/llama.cpp#17376."""
    output = f"Go.{begin}<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{{}}<|tool_call_end|>{end}"
    assert read("kimi_k2", output) == Read((text("Go."), call("f", "{}", "functions.f:0")), (), "tool_calls")


@pytest.mark.parametrize("name", ["a.b", "a-b", "a_b", "a/b", "a:b", "getWeather2"])
def test_a_name_may_hold_the_signs_that_servers_of_tools_use(name: str) -> None:
    """B9."""
    for dialect in JSON_DIALECTS:
        found = read(dialect, called(dialect, name, "{}")).parts
        assert [getattr(part, "name", None) for part in found] == [name]


# B12, where the prompt left off


@each_tagged
def test_one_repeated_opener_of_a_thought_is_taken_silently(dialect: str) -> None:
    """B12: models repeat what the prompt has already opened."""
    expected = Read((think("ash"), text("birch")))
    assert read(dialect, "<think>\nash\n</think>\n\nbirch".replace("\n", ""), start="reasoning") == expected


@each_tagged
def test_a_thought_that_the_prompt_opened_and_that_is_empty_leaves_nothing(dialect: str) -> None:
    """B12."""
    assert read(dialect, "</think>birch", start="reasoning") == Read((text("birch"),))


def test_a_message_that_the_prompt_opened_goes_on() -> None:
    """B12."""
    assert read("harmony", "birch<|return|>", start="final") == Read((text("birch"),))
    output = "ash<|end|><|start|>assistant<|channel|>final<|message|>birch<|return|>"
    assert read("harmony", output, start="reasoning") == Read((think("ash"), text("birch")))


# B13, order


@pytest.mark.parametrize("dialect", ["hermes", "generic", "kimi_k2", "deepseek_v31", "deepseek_r1"])
def test_thoughts_texts_and_calls_come_out_in_the_order_they_were_written(dialect: str) -> None:
    """B13; ai-dynamo/frontend-crates#146."""
    one, two = called(dialect, "a", "{}"), called(dialect, "b", "{}")
    output = f"<think>I</think>One.{one}<think>II</think>Two.{two}Three."
    ids = [f"functions.{name}:0" if dialect == "kimi_k2" else None for name in "ab"]
    parts = (
        *(think("I"), text("One."), call("a", "{}", ids[0])),
        *(think("II"), text("Two."), call("b", "{}", ids[1]), text("Three.")),
    )
    assert read(dialect, output) == Read(parts, (), "tool_calls")


def test_thoughts_and_calls_of_mistral_come_out_in_the_order_they_were_written() -> None:
    """B13."""
    output = "[THINK]I[/THINK]One.[TOOL_CALLS]a[ARGS]{}[THINK]II[/THINK]Two.[TOOL_CALLS]b[ARGS]{}Three."
    parts = (think("I"), text("One."), call("a", "{}"), think("II"), text("Two."), call("b", "{}"), text("Three."))
    assert read("mistral", output) == Read(parts, (), "tool_calls")


# Classes without an issue


@each
@pytest.mark.parametrize("said", ["list[0] | other", "a] b [c", "|x|", "[1, 2]", "]", "a || b", "{}}", "* x;\n"])
def test_brackets_and_bars_of_plain_text_are_kept(dialect: str, said: str) -> None:
    """Unnumbered: over-eager cleaning."""
    assert read(dialect, answered(dialect, said)) == Read((text(said),))


@each
def test_blanks_and_newlines_of_plain_text_are_kept(dialect: str) -> None:
    """Unnumbered: batch strips, stream does not."""
    said = "a  \n\n\n  b\t\n"
    assert read(dialect, answered(dialect, said)) == Read((text(said),))


@pytest.mark.parametrize("dialect", ["hermes", "generic", "mistral", "deepseek_v31", "deepseek_r1", "llama3_json"])
def test_a_tool_that_is_called_twice_has_two_calls(dialect: str) -> None:
    """Unnumbered: arguments joined by name."""
    output = "; ".join if dialect == "llama3_json" else "".join
    found = read(dialect, output([called(dialect, "f", '{"x": 1}'), called(dialect, "f", '{"x": 2}')]))
    assert found == Read((call("f", '{"x": 1}'), call("f", '{"x": 2}')), (), "tool_calls")


def test_entities_in_a_raw_value_are_not_decoded() -> None:
    """Unnumbered: values were never encoded."""
    output = CODER.format("f", "<parameter=x>\n&lt;b&gt; &amp;amp; &#39;\n</parameter>\n")
    assert read("qwen3_coder", output) == Read((call("f", '{"x": "&lt;b&gt; &amp;amp; &#39;"}'),), (), "tool_calls")


@pytest.mark.parametrize(
    ("dialect", "stop"),
    [
        ("hermes", "<|im_end|>"),
        ("qwen3_coder", "<|im_end|>"),
        ("kimi_k2", "<|im_end|>"),
        ("deepseek_v31", "<｜end▁of▁sentence｜>"),
        ("deepseek_r1", "<｜end▁of▁sentence｜>"),
        ("mistral", "</s>"),
        ("llama3_json", "<|eot_id|>"),
        ("harmony", "<|return|>"),
    ],
)
def test_an_answer_is_the_same_with_and_without_its_stop_marker(dialect: str, stop: str) -> None:
    """Engines strip stop markers or do not."""
    output = answered(dialect, "Fine.\n")
    assert read(dialect, output + stop) == read(dialect, output) == Read((text("Fine.\n"),))


@each_json
def test_a_call_is_the_same_with_and_without_a_stop_marker(dialect: str) -> None:
    """Engines strip stop markers or do not."""
    stop = {"harmony": "<|call|>", "mistral": "</s>", "llama3_json": "<|eom_id|>"}.get(dialect, "")
    stop = stop or {"kimi_k2": "<|im_end|>", "hermes": "<|im_end|>", "generic": ""}.get(
        dialect, "<｜end▁of▁sentence｜>"
    )
    output = called(dialect, "f", '{"x": 1}').removesuffix("<|call|>")
    assert read(dialect, output + stop) == read(dialect, output)
