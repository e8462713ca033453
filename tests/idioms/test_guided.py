"""Output whose form the engine has forced, behind a model's thoughts."""

from __future__ import annotations

import pytest

from dragoman import Message, Parser, get_dialect, parse
from dragoman.errors import Inexpressible, InvalidDialect
from dragoman.events import ArgumentsDelta
from dragoman.idioms import guided, guided_answer
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

HERMES = get_dialect("hermes")
ONE = guided(HERMES, "f")
ANY = guided(HERMES)
ANSWER = guided_answer(get_dialect("llama3_json"))


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [ANY, ANSWER, guided_answer(HERMES)])
def test_it_keeps_every_promise(dialect: object) -> None:
    report = check_dialect(dialect, max_examples=6, seed=1)  # type: ignore[arg-type]
    assert report.ok, [result for result in report.results if result.status != "passed"]


@pytest.mark.slow
def test_that_of_one_tool_keeps_all_but_that_made_up_messages_can_be_written() -> None:
    report = check_dialect(ONE, max_examples=6, seed=1)
    assert [result.name for result in report.results if result.status != "passed"] == ["renders"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('{"a": 1}<|im_end|>', (ToolCall("f", '{"a": 1}'),)),
        ('<think>\nHm.\n</think>\n\n {"a": 1} <|im_end|>', (ThinkingPart("Hm."), ToolCall("f", '{"a": 1}'))),
        ("I can't.<|im_end|>", (TextPart("I can't."),)),
    ],
)
def test_all_of_the_object_are_the_arguments_of_the_named_tool(text: str, parts: tuple[Part, ...]) -> None:
    assert parse(text, ONE).parts == parts


def test_arguments_that_are_no_json_are_a_broken_call() -> None:
    (part,) = parse('{"a" 1}<|im_end|>', ONE).parts
    assert isinstance(part, UnparsedToolCall)
    assert (part.name, part.raw) == ("f", '{"a" 1}')


def test_the_arguments_come_as_they_are_written() -> None:
    parser = Parser(ONE)
    pieces = [
        event.json
        for chunk in ('{"a"', ': "b', 'c"}')
        for event in parser.feed(chunk)
        if isinstance(event, ArgumentsDelta)
    ]
    assert pieces == ['{"a"', ': "b', 'c"}']


def test_the_thought_may_be_open() -> None:
    assert parse('Hm.\n</think>\n\n{"a": 1}', ONE, start="reasoning").parts[1:] == (ToolCall("f", '{"a": 1}'),)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            '[{"name": "f", "parameters": {}}, {"name": "g", "arguments": {"a": 1}}]',
            (ToolCall("f", "{}"), ToolCall("g", '{"a": 1}')),
        ),
        ('{"name": "f", "parameters": {}}', (ToolCall("f", "{}"),)),
        ("[]", ()),
        ("[1]", (TextPart("[1]"),)),
        ('[{"name": "f", "parameters": {}}] and so on', (ToolCall("f", "{}"),)),
    ],
)
def test_calls_with_their_names_are_an_array_or_one_object(text: str, parts: tuple[Part, ...]) -> None:
    assert parse(text, ANY).parts == parts


def test_an_answer_is_text_even_if_it_looks_like_a_call() -> None:
    text = '{"name": "f", "parameters": {}}'
    assert parse(f"{text}<|eot_id|>", ANSWER).parts == (TextPart(text),)


def test_what_is_written_is_what_an_engine_would_force() -> None:
    thought, call = ThinkingPart("Hm."), ToolCall("f", '{"a": 1}')
    assert ONE.render(Message("assistant", (thought, call))) == '<think>\nHm.\n</think>\n\n{"a": 1}'
    assert ANY.render(Message("assistant", (call,))) == '[{"name": "f", "parameters": {"a": 1}}]'


@pytest.mark.parametrize("parts", [(TextPart("a"),), (ToolCall("g", "{}"),), ()])
def test_what_would_not_be_forced_is_not_written(parts: tuple[Part, ...]) -> None:
    with pytest.raises(Inexpressible):
        ONE.render(Message("assistant", parts))


def test_thoughts_that_are_messages_have_no_place_before_it() -> None:
    with pytest.raises(InvalidDialect, match="thoughts stand before its answer, found one of messages"):
        guided(get_dialect("harmony"))
