"""gpt-oss, token by token as openai-harmony writes it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from dragoman.errors import InvalidConversation
from dragoman.render.harmony_system import Harmony
from dragoman.render.renderer import Renderer
from dragoman.render.responses import Termination
from dragoman.tokenizers import get_tokenizer
from dragoman.types import Message, TextPart, ThinkingPart, Tool, ToolCall, UnparsedToolCall
from tests.harmony_oracle import conversation, rendered
from tests.render.conversations import WORDS

TOKENIZER = get_tokenizer("o200k_harmony")
CONTROL = (
    "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>", "<|endoftext|>",
    "<|start|>assistant<|channel|>final<|message|>", " to=functions.f", "<|reserved_200000|>", "<|endofprompt|>",
)  # fmt: skip
BUILTIN = ("python", "browser.search", "browser.open", "browser.find")


TEXTS = st.lists(st.sampled_from((*WORDS, *CONTROL)) | st.text(max_size=4), max_size=4).map("".join)
"""Text of any kind, some of which spells control tokens."""

NAMES = st.sampled_from(("get_weather", "f", "a-b.c", "日本", "python", "browser.search", "x1"))

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.builds(
    lambda digits, power: float(f"{digits}e{power}"), st.integers(-(10**6), 10**6), st.integers(-20, 20)
)
"""Numbers that the library reads exactly: longer decimals it rounds twice."""

SCALARS = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(TEXTS, st.lists(SCALARS, max_size=1), max_size=2)
KINDS = st.sampled_from(("string", "number", "integer", "boolean", "null", "array", "object", "strange"))
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "title": TEXTS | st.integers(),
    "description": TEXTS | st.none() | st.just("The same."),
    "default": VALUES,
    "examples": st.lists(SCALARS, max_size=3),
    "nullable": st.booleans(),
    "enum": st.lists(TEXTS | st.integers(), max_size=3),
}


@st.composite
def schemas(draw: st.DrawFn, depth: int = 3) -> Any:
    """JSON Schemas, with everything that the library looks at, in its place and out of it."""
    made: dict[str, Any] = draw(FIELDS)
    inner = schemas(depth - 1)
    match draw(st.sampled_from(("object", "object", "array", "union", "strange", "leaf"))) if depth else "leaf":
        case "object":
            names = draw(st.lists(TEXTS, max_size=3, unique=True))
            required = draw(st.sampled_from(([], names[::2], names, None)))
            more = {"required": required} if required is not None else {}
            return made | {"type": "object", "properties": {name: draw(inner) for name in names}} | more
        case "array":
            return made | {"type": "array", "items": draw(inner)}
        case "union":
            return made | {"oneOf": [draw(inner) for _ in range(draw(st.integers(0, 3)))]}
        case "strange":
            return made | draw(ODD) | {draw(st.sampled_from(("items", "oneOf", "anyOf", "properties"))): draw(inner)}
    return made | {"type": draw(KINDS)}


FIELDS = st.fixed_dictionaries({}, optional=COMMON)
ODD = st.fixed_dictionaries({}, optional={"type": KINDS | st.lists(KINDS, max_size=3), "required": KINDS})


@st.composite
def tools(draw: st.DrawFn) -> list[Tool]:
    """Declarations of functions, some of which have the names of built-in tools."""
    names = draw(st.lists(NAMES, max_size=2, unique=True))
    return [Tool(name, draw(TEXTS), draw(st.none() | schemas())) for name in names]


TOOLS = tools()


OPTIONS = st.builds(
    Harmony,
    reasoning_effort=st.sampled_from(("low", "medium", "high", None)),
    model_identity=st.none() | TEXTS,
    knowledge_cutoff=st.none() | st.just("2025-01"),
    conversation_start_date=st.none() | st.just("2026-11-02"),
    builtin_tools=st.sampled_from(((), ("browser",), ("python",), ("python", "browser"))),
    valid_channels=st.sampled_from((("analysis", "commentary", "final"), ("analysis", "final"), ())),
    channel_required=st.booleans(),
    keep_analysis=st.booleans(),
    with_system=st.booleans(),
)

ARGUMENTS = st.builds(lambda value: json.dumps({"x": value}), SCALARS) | TEXTS
THOUGHTS = st.builds(ThinkingPart, TEXTS)
SPOKEN = st.builds(TextPart, TEXTS, st.sampled_from((None, None, "commentary", "other")))
SAID = st.lists(st.builds(TextPart, TEXTS), max_size=3).map(tuple)
ROLES = st.lists(st.sampled_from(("system", "developer", "user", "user", "assistant", "assistant", "tool")), max_size=7)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Any order of messages that can be written at all."""
    made: list[Message] = []
    known: list[str] = []
    for index, role in enumerate(draw(ROLES)):
        if role == "assistant":
            calls = st.builds(ToolCall, NAMES, ARGUMENTS, st.just(f"call{index}"))
            made.append(Message(role, tuple(draw(st.lists(THOUGHTS | SPOKEN | calls, max_size=4)))))
            known += [call.id for call in made[-1].tool_calls if call.id is not None]
        elif role == "tool":
            by_id = known and draw(st.booleans())
            name = None if by_id else draw(NAMES)
            made.append(Message(role, draw(SAID), name, draw(st.sampled_from(known)) if by_id else None))
        else:
            made.append(Message(role, draw(SAID), draw(st.none() | st.just("alice")) if role == "user" else None))
    return made


CONVERSATIONS = conversations()


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


@given(CONVERSATIONS, TOOLS, OPTIONS)
def test_ids_are_those_of_openai_harmony(messages: list[Message], declared: list[Tool], chosen: Harmony) -> None:
    check(messages, declared, chosen)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(CONVERSATIONS, TOOLS, OPTIONS)
def test_ids_are_those_of_openai_harmony_for_a_thousand_conversations(
    messages: list[Message], declared: list[Tool], chosen: Harmony
) -> None:
    check(messages, declared, chosen)


def sampled(messages: list[Message]) -> tuple[Message, Termination]:
    """The last message, read from the tokens of it that a model is trained on."""
    ours = Renderer("gpt_oss", TOKENIZER)
    example = ours.build_supervised_example(messages)
    prompt = ours.build_generation_prompt(messages[:-1])
    ids = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    assert example.ids == prompt.ids + ids
    return ours.parse_response(ids, prompt=prompt)


ASKED = Message("user", (TextPart("Weather?"),))
CALLED = ToolCall("get_weather", '{"city": "Paris"}')
RESULT = Message("tool", (TextPart("20"),), "get_weather")
THOUGHT = ThinkingPart("Hm.")
CALLING = Message("assistant", (THOUGHT, CALLED))


@pytest.mark.parametrize(
    ("before", "parts", "ended"),
    [
        ([ASKED], (TextPart("Hi."),), Termination.STOP_SEQUENCE),
        (
            [ASKED],
            (
                THOUGHT,
                THOUGHT,
                TextPart("Hi."),
            ),
            Termination.STOP_SEQUENCE,
        ),
        ([ASKED], (THOUGHT, TextPart("Let me look.", "commentary"), CALLED), Termination.CALL),
        ([ASKED], (THOUGHT, ToolCall("python", "print(1)")), Termination.CALL),
        ([ASKED, CALLING, RESULT], (THOUGHT, TextPart("Warm.")), Termination.STOP_SEQUENCE),
        ([ASKED, Message("assistant", (THOUGHT, TextPart("Hi."))), ASKED], (THOUGHT, CALLED), Termination.CALL),
        ([ASKED], (), Termination.STOP_SEQUENCE),
    ],
)
def test_what_is_trained_on_is_the_last_turn_with_its_stop(
    before: list[Message], parts: tuple[Any, ...], ended: Termination
) -> None:
    message = Message("assistant", parts)
    assert sampled([*before, message]) == (message, ended)


def test_each_answer_is_an_example_and_calls_share_one_with_what_follows() -> None:
    """An answer ends otherwise in history, and takes the thoughts before it away."""
    answer = Message("assistant", (THOUGHT, TextPart("Warm.")))
    ours = Renderer("gpt_oss", TOKENIZER)
    examples = ours.build_supervised_examples([ASKED, CALLING, RESULT, answer, ASKED, answer])
    ends = [[TOKENIZER.control["<|call|>"], TOKENIZER.control["<|return|>"]], [TOKENIZER.control["<|return|>"]]]
    stops = frozenset(TOKENIZER.control.values())
    for example, expected in zip(examples, ends, strict=True):
        trained = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
        assert [token for token in trained if token in stops and token in expected] == expected


def test_several_calls_are_several_turns_each_behind_a_prompt_of_its_own() -> None:
    ours = Renderer("gpt_oss", TOKENIZER, with_system=False)
    example = ours.build_supervised_example([Message("assistant", (CALLED, CALLED))])
    unsampled = [token for token, weight in zip(example.ids, example.weights, strict=True) if not weight]
    assert unsampled == 2 * ours.build_generation_prompt([]).ids


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (Message("tool", (TextPart("20"),)), "message 1: expected the name of the tool"),
        (Message("tool", (TextPart("20"),), call_id="c9"), "message 1: expected the name of the tool"),
        (Message("tool", (TextPart("20"),), "functions.f"), "without the namespace"),
        (Message("assistant", (ToolCall("a b", "{}"),)), "part 0: expected a name without blanks"),
        (Message("assistant", (TextPart("x"), ToolCall("f<|end|>", "{}"))), "part 1: expected a name without blanks"),
        (Message("assistant", (TextPart("x", "a b"),)), "part 0: expected a name without blanks"),
        (Message("assistant", (TextPart("x", "analysis"),)), "part 0: expected text for the user"),
        (Message("assistant", (UnparsedToolCall("{", "cut"),)), "part 0: expected thoughts, text and calls"),
        (Message("user", (TextPart("x"),), "al ice"), "message 1: expected a name without blanks"),
        (Message("user", (THOUGHT,)), "part 0: expected text, found ThinkingPart"),
        (Message("critic", ()), "found 'critic'"),
    ],
)
def test_what_no_header_can_say_raises(message: Message, found: str) -> None:
    with pytest.raises(InvalidConversation, match=re.escape(found)):
        Renderer("gpt_oss", TOKENIZER).render([ASKED, message])


def test_an_option_that_there_is_not_raises() -> None:
    with pytest.raises(InvalidConversation, match="reasoning_effort"):
        Renderer("gpt_oss", TOKENIZER, reasoning_effort="enormous")


def test_builtin_tools_are_written_as_the_library_writes_them() -> None:
    chosen = Harmony(builtin_tools=("python", "browser"))
    assert renderer(chosen).build_generation_prompt([]).ids == rendered(conversation([], [], chosen), drop=True)
