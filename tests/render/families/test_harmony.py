"""gpt-oss, token by token as openai-harmony writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from dragoman.render.families.harmony import Harmony
from dragoman.render.renderer import Renderer
from dragoman.tokenizers import get_tokenizer
from dragoman.types import Message, Part, TextPart, ThinkingPart, Tool, ToolCall
from tests.harmony_oracle import conversation, rendered
from tests.render.conversations import words

TOKENIZER = get_tokenizer("o200k_harmony")
CONTROL = (
    "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>", "<|endoftext|>",
    "<|start|>assistant<|channel|>final<|message|>", " to=functions.f", "<|reserved_200000|>", "<|endofprompt|>",
)  # fmt: skip
BUILTIN = ("python", "browser.search", "browser.open", "browser.find")


def texts() -> st.SearchStrategy[str]:
    """Text of any kind, some of which spells control tokens."""
    return words(markers=True, edges=True, empty=True) | st.lists(
        st.sampled_from(CONTROL) | st.text(max_size=8), max_size=4
    ).map("".join)


def names() -> st.SearchStrategy[str]:
    return st.sampled_from(("get_weather", "f", "a-b.c", "日本", "python", "browser.search", "x1"))


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(), inner, max_size=3))


def schemas(depth: int = 3) -> st.SearchStrategy[Any]:
    """JSON Schemas, with everything that the library looks at, in its place and out of it."""
    common = {
        "title": texts() | st.integers(),
        "description": texts() | st.none(),
        "default": VALUES,
        "examples": st.lists(SCALARS, max_size=3),
        "nullable": st.booleans(),
        "enum": st.lists(texts() | st.integers(), max_size=3),
    }
    kinds = st.sampled_from(("string", "number", "integer", "boolean", "null", "array", "object", "strange"))
    typed: dict[str, st.SearchStrategy[Any]] = {"type": kinds | st.lists(kinds, max_size=3)}
    leaf = st.fixed_dictionaries({}, optional={**typed, **common})
    if depth == 0:
        return leaf | st.booleans()
    inner = schemas(depth - 1)
    properties = st.dictionaries(texts(), inner, max_size=3)
    parts = {
        "items": inner,
        "properties": properties,
        "required": st.lists(texts(), max_size=2),
        "oneOf": st.lists(inner, max_size=3),
        "anyOf": st.lists(inner, max_size=2),
    }
    whole = st.fixed_dictionaries({"type": st.just("object"), "properties": properties}, optional=common)
    return leaf | whole | st.fixed_dictionaries({}, optional={**typed, **common, **parts}) | whole.map(requiring)


def requiring(schema: dict[str, Any]) -> dict[str, Any]:
    """The same object, with every other property required."""
    return {**schema, "required": list(schema["properties"])[::2]}


@st.composite
def tools(draw: st.DrawFn) -> list[Tool]:
    chosen = draw(st.lists(names(), max_size=2, unique=True))
    objects = schemas().filter(lambda schema: isinstance(schema, dict))
    return [Tool(name, draw(texts()), draw(st.none() | objects)) for name in chosen]


def options() -> st.SearchStrategy[Harmony]:
    return st.builds(
        Harmony,
        reasoning_effort=st.sampled_from(("low", "medium", "high", None)),
        model_identity=st.none() | texts(),
        knowledge_cutoff=st.none() | st.just("2025-01"),
        conversation_start_date=st.none() | st.just("2026-11-02"),
        builtin_tools=st.sampled_from(((), ("browser",), ("python",), ("python", "browser"))),
        valid_channels=st.sampled_from((("analysis", "commentary", "final"), ("analysis", "final"), ())),
        channel_required=st.booleans(),
        keep_analysis=st.booleans(),
        with_system=st.booleans(),
    )


def parts(calls: st.SearchStrategy[ToolCall]) -> st.SearchStrategy[Part]:
    return (
        st.builds(ThinkingPart, texts())
        | st.builds(TextPart, texts(), st.sampled_from((None, None, "commentary", "other")))
        | calls
    )


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Any order of messages that can be written at all."""
    made: list[Message] = []
    known: list[str] = []
    said = st.lists(st.builds(TextPart, texts()), max_size=3).map(tuple)
    for index in range(draw(st.integers(0, 7))):
        match draw(st.sampled_from(("system", "developer", "user", "user", "assistant", "assistant", "tool"))):
            case "assistant":
                arguments = st.builds(lambda value: json.dumps({"x": value}), SCALARS) | texts()
                calls = st.builds(ToolCall, names(), arguments, st.just(f"call{index}"))
                made.append(Message("assistant", tuple(draw(st.lists(parts(calls), max_size=4)))))
                known += [call.id for call in made[-1].tool_calls if call.id is not None]
            case "tool":
                by_id = known and draw(st.booleans())
                name = None if by_id else draw(names())
                made.append(Message("tool", draw(said), name, draw(st.sampled_from(known)) if by_id else None))
            case role:
                name = draw(st.none() | st.just("alice")) if role == "user" else None
                made.append(Message(role, draw(said), name))
    return made


def renderer(chosen: Harmony) -> Renderer:
    return Renderer("gpt_oss", TOKENIZER, **asdict(chosen))


def check(messages: list[Message], declared: list[Tool], chosen: Harmony) -> None:
    """Prompts are the library's, and so are examples, where it leaves the last turn its thoughts."""
    ours = renderer(chosen)
    theirs = conversation(messages, declared, chosen)
    drop = not chosen.keep_analysis
    assert ours.build_generation_prompt(messages, declared).ids == rendered(theirs, drop=drop)
    whole = ours.render(messages, declared).ids
    if not drop or not (messages and messages[-1].role == "assistant"):
        assert whole == rendered(theirs, drop=drop, training=True)
        return
    prompt = ours.build_generation_prompt(messages[:-1], declared).ids
    size = len(conversation(messages[:-1], declared, chosen).messages)
    last = rendered(theirs.from_messages(theirs.messages[size:]), drop=False, training=True)
    assert whole == prompt + last[2:]


@given(conversations(), tools(), options())
def test_ids_are_those_of_openai_harmony(messages: list[Message], declared: list[Tool], chosen: Harmony) -> None:
    check(messages, declared, chosen)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(conversations(), tools(), options())
def test_ids_are_those_of_openai_harmony_for_thousands_of_conversations(
    messages: list[Message], declared: list[Tool], chosen: Harmony
) -> None:
    check(messages, declared, chosen)
