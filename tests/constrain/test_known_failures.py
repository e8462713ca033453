"""What constraints of other makers are known to get wrong, one test each: ours get it right.

Numbers are those of the reports in which it was found. All engines are asked, and have to agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.emission import emit
from dragoman.constrain.layout import layout_of, native_call
from dragoman.constrain.requests import llama_cpp
from dragoman.constrain.triggers import TriggerKind, triggers_of
from dragoman.emit.guarantees import Effect
from dragoman.emit.matcher import Matcher
from dragoman.errors import InvalidRequest
from dragoman.registry import dialects, get_dialect
from dragoman.types import JSON, Message, Tool
from tests.emit.llama_cpp import LlamaCpp
from tests.emit.llguidance_harness import Compiled, byte_vocabulary
from tests.emit.xgrammar_harness import vocabulary

from .wanted import problems, read, wrong

Llama = Callable[..., LlamaCpp]


def tool(name: str, required: tuple[str, ...] = (), **properties: JSON) -> Tool:
    return Tool(name, "", {"type": "object", "properties": properties, "required": list(required)})


TEXT: JSON = {"type": "string"}
WEATHER = tool("get_weather", ("city",), city=TEXT, days={"type": "integer"})
REQUIRED: Mapping[str, Any] = {"tool_choice": "required"}


@pytest.fixture
def lets_through(llama: Llama) -> Callable[[Constraint, str], bool]:
    """Whether all engines let an output through; they and the reference have to agree on it."""

    readers: dict[int, dict[str, Callable[[str], bool]]] = {}

    def asked(constraint: Constraint, text: str) -> bool:
        known = readers.get(id(constraint))
        if known is None:
            known = readers[id(constraint)] = {
                "reference": Matcher(constraint.rules).matches,
                "llama.cpp": partial(_llama_cpp, llama(), emit(constraint, "gbnf").text),
                "xgrammar": vocabulary("bytes").compile(emit(constraint, "xgrammar").text).accepts,
                "llguidance": Compiled(emit(constraint, "lark").text, byte_vocabulary()).accepts,
            }
        found = {name: accepts(text) for name, accepts in known.items()}
        assert len(set(found.values())) == 1, (text, found)
        return found["reference"]

    return asked


def _llama_cpp(engine: LlamaCpp, grammar: str, text: str) -> bool:
    return engine.matches(grammar, [text], marks=False)[0]


Asked = Callable[[Constraint, str], bool]


def qwen(arguments: str, name: str = "get_weather") -> str:
    return f"<tool_call>\n<function={name}>\n{arguments}</function>\n</tool_call>"


def argument(key: str, value: str) -> str:
    return f"<parameter={key}>\n{value}\n</parameter>\n"


CITY, DAYS = argument("city", "Oslo"), argument("days", "2")


def test_a_closer_that_is_written_twice_is_refused(lets_through: Asked) -> None:
    """llama.cpp #24839, #24863; and xgrammar's ``tag`` of any text."""
    constraint = constrain(get_dialect("qwen3_coder"), (WEATHER,), **REQUIRED)
    assert lets_through(constraint, qwen(CITY))
    assert not lets_through(constraint, qwen(CITY + "</parameter>\n"))
    assert not lets_through(constraint, qwen("<parameter=city>\nOslo\n</parameter></parameter>\n"))


def test_a_value_does_not_stop_in_the_middle_of_its_closer(lets_through: Asked) -> None:
    """llama.cpp #29089: exclusion of a delimiter, then the delimiter, lets a value end in half of it."""
    constraint = constrain(get_dialect("qwen3_coder"), (WEATHER,), **REQUIRED)
    for end in ("\n</parameter", "\n</param", "\n<", "</parameter"):
        broken = qwen(f"<parameter=city>\nOslo{end}\n")
        assert not lets_through(constraint, broken), end
    assert lets_through(constraint, qwen(argument("city", "a </param and </")))


def test_gemma_4_can_be_made_to_call(lets_through: Asked) -> None:
    """llama.cpp #29089: a call that is required was not, as the text before it could end anywhere."""
    dialect = get_dialect("gemma4")
    constraint = constrain(dialect, (WEATHER,), lead_in=20, **REQUIRED)
    call = dialect.render(Message("assistant", (native_call(dialect, "get_weather", '{"city": "Oslo"}'),)))
    assert lets_through(constraint, call)
    assert lets_through(constraint, f"So: {call}")
    for text in ("", "So:", "<|tool_call", call.removesuffix("<tool_call|>"), call.replace("get_weather", "get_other")):
        assert not lets_through(constraint, text), text


@pytest.mark.parametrize("name", ["qwen3_coder", "hermes", "glm45", "minimax_m2", "deepseek_v32"])
def test_what_need_not_be_there_may_stand_before_what_must(lets_through: Asked, name: str) -> None:
    """llama.cpp #24351, #24516: arguments in the order of the schema only, the required ones first."""
    dialect = get_dialect(name)
    call = native_call(dialect, "get_weather", '{"days": 2, "city": "Oslo"}')
    text = dialect.render(Message("assistant", (call,)))
    assert lets_through(constrain(dialect, (WEATHER,), **REQUIRED), text)
    assert not lets_through(constrain(dialect, (WEATHER,), any_order=False, **REQUIRED), text)


@pytest.mark.parametrize("name", ["qwen3_coder", "hermes", "kimi_k2"])
def test_names_that_differ_in_a_hyphen_are_two_tools(lets_through: Asked, name: str) -> None:
    """Rules named after ``get_x`` and ``get-x`` become one where hyphens are all that names may hold."""
    dialect = get_dialect(name)
    tools = (tool("get_x", ("a",), a={"type": "integer"}), tool("get-x", ("b",), b={"type": "integer"}))
    constraint = constrain(dialect, tools, **REQUIRED)
    for called, arguments, fits in (
        ("get_x", '{"a": 1}', True),
        ("get-x", '{"b": 1}', True),
        ("get_x", '{"b": 1}', False),
        ("get-x", '{"a": 1}', False),
    ):
        text = dialect.render(Message("assistant", (native_call(dialect, called, arguments),)))
        assert lets_through(constraint, text) == fits, text


@pytest.mark.parametrize("name", ["qwen3_coder", "hermes", "kimi_k2", "mistral", "functionary_v31"])
def test_a_tool_whose_name_begins_another_one_hides_it_not(lets_through: Asked, name: str) -> None:
    """An ordered choice of ``get`` and ``get_weather`` never comes to the second."""
    dialect = get_dialect(name)
    tools = (tool("get"), WEATHER)
    constraint = constrain(dialect, tools, **REQUIRED)
    for called, arguments in ("get", "{}"), ("get_weather", '{"city": "Oslo"}'):
        text = dialect.render(Message("assistant", (native_call(dialect, called, arguments),)))
        assert lets_through(constraint, text), text
        events, message = read(dialect, text, tools)
        assert not problems(events)
        assert [call.name for call in message.tool_calls] == [called]


def test_a_tool_that_is_named_is_the_one_that_is_called(lets_through: Asked) -> None:
    """llama.cpp #26535, #28806: a named choice was taken for ``auto``."""
    chosen = {"type": "function", "function": {"name": "get_weather"}}
    constraint = constrain(get_dialect("qwen3_coder"), (WEATHER, tool("ping")), tool_choice=chosen)
    assert lets_through(constraint, qwen(CITY))
    assert not lets_through(constraint, qwen("", "ping"))
    assert not lets_through(constraint, "No.")
    assert not lets_through(constraint, "")


def test_a_call_that_is_required_comes_at_once_or_soon(lets_through: Asked) -> None:
    """llama.cpp #27217: with text without end before it, models ramble on until the limit."""
    dialect = get_dialect("qwen3_coder")
    rambling = "x" * 21
    none = constrain(dialect, (WEATHER,), lead_in="none", **REQUIRED)
    thoughts = constrain(dialect, (WEATHER,), **REQUIRED)
    some = constrain(dialect, (WEATHER,), lead_in=20, **REQUIRED)
    assert all(lets_through(one, qwen(CITY)) for one in (none, thoughts, some))
    assert [lets_through(one, f"Well.\n\n{qwen(CITY)}") for one in (none, thoughts, some)] == [False, False, True]
    assert not lets_through(some, f"{rambling}\n\n{qwen(CITY)}")
    thought = f"<think>\nx\n</think>\n\n{qwen(CITY)}"
    assert [lets_through(one, thought) for one in (none, thoughts, some)] == [False, True, True]


def test_minimax_m2_calls_two_tools_in_a_group(lets_through: Asked) -> None:
    """Two ``<invoke>`` in one ``<minimax:tool_call>``, with parallel calls on, could not be read."""
    dialect = get_dialect("minimax_m2")
    tools = (WEATHER, tool("ping"))
    calls = (native_call(dialect, "get_weather", '{"city": "Oslo"}'), native_call(dialect, "ping", "{}", 1))
    text = dialect.render(Message("assistant", calls))
    assert text.count("<invoke") == 2
    assert lets_through(constrain(dialect, tools, **REQUIRED), text)
    assert not lets_through(constrain(dialect, tools, parallel=False, **REQUIRED), text)
    assert [call.name for call in read(dialect, text, tools)[1].tool_calls] == ["get_weather", "ping"]


LONG: Mapping[str, tuple[JSON, str]] = {
    "maxLength": ({"type": "string", "maxLength": 5000}, f'"{"x" * 3000}"'),
    "maxItems": ({"type": "array", "items": {"type": "integer"}, "maxItems": 5000}, f"[{'1,' * 2999}1]"),
}


@pytest.mark.parametrize("keyword", LONG)
def test_llama_cpp_takes_a_limit_beyond_its_2000_repetitions(llama: Llama, keyword: str) -> None:
    """llama.cpp #17473, #21139: a schema with such a limit was refused as a whole; now a note says that it is none."""
    schema, value = LONG[keyword]
    emission = emit(constrain(get_dialect("hermes"), (tool("put", ("it",), it=schema),), **REQUIRED), "gbnf")
    call = f'<tool_call>\n{{"name": "put", "arguments": {{"it": {value}}}}}\n</tool_call>'
    assert llama().matches(emission.text, [call], marks=False) == [True]
    assert [note.what for note in emission.guarantees.notes if note.effect == Effect.RELAXED] == [keyword]


def test_a_prompt_that_holds_a_trigger_is_refused_by_name() -> None:
    """llama.cpp #20778: with the trigger in the generation prompt, the grammar began before the output did."""
    constraint = constrain(get_dialect("qwen3_coder"), (WEATHER,))
    assert emit(constraint, "gbnf", lazy=True, prompt="<|im_start|>assistant\n").triggers
    with pytest.raises(InvalidRequest, match="prompt"):
        emit(constraint, "gbnf", lazy=True, prompt="<|im_start|>assistant\n<tool_call>\n<function=")


PROSE = (
    "#include <functional>\nstd::function<int()> f; // to=x, {name: 1} [a, b] 'function' <fun> functools.cache >>> 1"
)


def test_no_trigger_is_found_in_code_that_only_looks_like_one() -> None:
    """llama.cpp #26787: ``<function`` fired within ``#include <functional>``."""
    for dialect in dialects():
        for trigger in triggers_of(layout_of(dialect)):
            found = re.search(trigger.text, PROSE) if trigger.kind == TriggerKind.PATTERN else trigger.text in PROSE
            assert not found, (dialect.name, trigger)


def test_layout_that_a_model_leaves_out_does_not_swallow_what_follows(lets_through: Asked) -> None:
    """llama.cpp #26763: without the line's end before ``</parameter>``, all that followed became the value."""
    dialect = get_dialect("qwen3_coder")
    text = qwen("<parameter=city>\nOslo</parameter>\n")
    events, message = read(dialect, text, (WEATHER,))
    assert not problems(events)
    assert message.tool_calls[0].arguments == '{"city": "Oslo"}'
    swallowed = qwen("<parameter=city>\nOslo</parameter>\n</function>\n</tool_call>\n<tool_call>\n" + CITY)
    assert not lets_through(constrain(dialect, (WEATHER,), **REQUIRED), swallowed)


def test_kimi_k2_takes_22_tools(lets_through: Asked) -> None:
    """llama.cpp #24658: with so many tools, what was generated could not be parsed."""
    dialect = get_dialect("kimi_k2")
    tools = tuple(tool(f"tool_{k}", ("id",), id={"type": "integer"}, note=TEXT) for k in range(22))
    constraint = constrain(dialect, tools, **REQUIRED)
    for k in 0, 2, 21:
        text = dialect.render(Message("assistant", (native_call(dialect, f"tool_{k}", '{"id": 5, "note": "a"}'),)))
        assert lets_through(constraint, text)
        events, message = read(dialect, text, tools)
        assert not problems(events)
        assert not wrong(message, tools)
    assert not lets_through(constraint, text.replace("tool_21", "tool_22"))


def test_harmony_is_made_to_call_and_not_only_to_think(lets_through: Asked) -> None:
    """xgrammar's harmony tag, where a call is required, accepts nothing at all, and analysis alone."""
    constraint = constrain(get_dialect("harmony"), (WEATHER,), **REQUIRED)
    thought = "<|channel|>analysis<|message|>Well.<|end|><|start|>assistant"
    call = '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>'
    assert lets_through(constraint, call.removesuffix("<|call|>"))
    assert lets_through(constraint, (thought + call).removesuffix("<|call|>"))
    for text in ("", thought, "<|channel|>analysis<|message|>Well.", "<|channel|>final<|message|>Well."):
        assert not lets_through(constraint, text), text


def test_arguments_in_any_order_stand_there_once_each(lets_through: Asked) -> None:
    """xgrammar's ``any_order`` counts entries only: twice the one passes for one of each."""
    both = tool("move", ("a", "b"), a={"type": "integer"}, b={"type": "integer"})
    for name, form in (
        ("hermes", '<tool_call>\n{{"name": "move", "arguments": {{{}}}}}\n</tool_call>'),
        ("qwen3_coder", ""),
    ):
        constraint = constrain(get_dialect(name), (both,), **REQUIRED)
        for keys, fits in ("ab", True), ("ba", True), ("aa", False), ("a", False), ("aba", False), ("", False):
            if form:
                text = form.format(", ".join(f'"{key}": 1' for key in keys))
            else:
                text = qwen("".join(argument(key, "1") for key in keys), "move")
            assert lets_through(constraint, text) == fits, text


@pytest.mark.parametrize("name", ["qwen3_coder", "hermes", "mistral", "llama3_json", "glm45"])
def test_only_the_tools_that_there_are_with_what_they_need_can_be_called(lets_through: Asked, name: str) -> None:
    """Unknown tools, and missing, unknown and ill-typed arguments, passed and were lost when read."""
    dialect = get_dialect(name)
    constraint = constrain(dialect, (WEATHER,), **REQUIRED)
    for called, arguments, fits in (
        ("get_weather", '{"city": "Oslo", "days": 2}', True),
        ("get_wether", '{"city": "Oslo"}', False),
        ("get_weather", '{"days": 2}', False),
        ("get_weather", "{}", False),
        ("get_weather", '{"city": "Oslo", "hours": 2}', False),
        ("get_weather", '{"city": "Oslo", "days": true}', False),
    ):
        text = dialect.render(Message("assistant", (native_call(dialect, called, arguments),)))
        assert lets_through(constraint, text) == fits, text


@pytest.mark.parametrize("value", ["5", "null", '"5"', "five", "True", '{"a": 1}'])
def test_a_value_of_more_types_than_one_is_read_as_one_of_them(lets_through: Asked, value: str) -> None:
    """llama.cpp #21771, #24178: values of union types, and Python's literals, came out as no JSON."""
    dialect = get_dialect("qwen3_coder")
    either = tool("put", ("it",), it={"type": ["string", "integer", "null"]})
    text = qwen(argument("it", value), "put")
    assert lets_through(constrain(dialect, (either,), **REQUIRED), text)
    events, message = read(dialect, text, (either,))
    assert not problems(events)
    assert not wrong(message, (either,))


@pytest.mark.parametrize("name", ["mistral", "gemma4", "glm47", "mimo", "laguna"])
def test_a_call_triggers_also_where_no_thought_comes_before_it(name: str) -> None:
    """llama.cpp #29240: the trigger was missed where the model did not think."""
    dialect = get_dialect(name)
    constraint = constrain(dialect, (WEATHER,))
    call = dialect.render(Message("assistant", (native_call(dialect, "get_weather", '{"city": "Oslo"}'),)))
    words = [trigger.text for trigger in triggers_of(constraint.layout) if trigger.kind == TriggerKind.WORD]
    assert any(word in call for word in words)
    assert llama_cpp(emit(constraint, "gbnf", lazy=True))["grammar_lazy"]
