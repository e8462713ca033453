"""Answers in a given form: behind thoughts, beside tools, and never mistaken for markup."""

from __future__ import annotations

from json import loads
from random import Random

import pytest
from jsonschema import Draft202012Validator

from dragoman.constrain.constraint import constrain
from dragoman.constrain.layout import END, TEXT, THOUGHT, layout_of
from dragoman.dialect import Dialect
from dragoman.emit.generate import Generator
from dragoman.emit.matcher import matches
from dragoman.errors import InvalidRequest
from dragoman.registry import get_dialect
from dragoman.types import JSON, Message, TextPart, ThinkingPart
from tests.kinds import ALL

from .wanted import TOOLS, WEATHER, problems, read, tools_of

ANSWER: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "score": {"type": "integer", "minimum": 0, "maximum": 10},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
    },
    "required": ["title", "score"],
}

BARE = ("llama3_json", "llama_pythonic", "xlam")
"""What looks like a call is one there, so that answers are read by `dragoman.idioms.guided_answer`."""


@ALL
def test_an_answer_is_read_as_the_value_that_was_asked_for(dialect: Dialect) -> None:
    if (TEXT, END) not in layout_of(dialect).between:
        return
    generator, random = Generator(constrain(dialect, answer=ANSWER).rules), Random(5)
    for _ in range(6):
        text = generator.sentence(random.randrange, size=80)
        events, message = read(dialect, text, ())
        if dialect.name in BARE:
            continue
        assert not problems(events), text
        (said,) = [part.text for part in message.parts if isinstance(part, TextPart)]
        Draft202012Validator(ANSWER).validate(loads(said))


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "kimi_k2", "harmony"])
def test_calls_may_come_instead_where_there_are_tools(name: str) -> None:
    dialect = get_dialect(name)
    tools = tools_of(dialect)
    rules = constrain(dialect, tools, answer=ANSWER).rules
    generator, random = Generator(rules), Random(2)
    read_as = {bool(read(dialect, generator.sentence(random.randrange), tools)[1].tool_calls) for _ in range(40)}
    assert read_as == {True, False}


def test_an_answer_has_thoughts_before_it_where_they_are_wanted() -> None:
    dialect = get_dialect("hermes")
    message = Message("assistant", (ThinkingPart("Hm."), TextPart('{"title": "x", "score": 3}')))
    text = dialect.render(message)
    assert matches(constrain(dialect, answer=ANSWER).rules, text)
    assert not matches(constrain(dialect, answer=ANSWER, reasoning="none").rules, text)
    assert matches(constrain(dialect, answer=ANSWER, scope="answer").rules, "\n\n" + message.text)


def test_no_marker_can_be_written_in_an_answer() -> None:
    rules = constrain(get_dialect("hermes"), answer=ANSWER).rules
    assert not matches(rules, '{"title": "<tool_call>", "score": 3}')
    assert matches(rules, '{"title": "\\u003ctool_call>", "score": 3}')


def test_a_schema_of_anything_but_an_object_is_fine() -> None:
    rules = constrain(
        get_dialect("hermes"), answer={"type": "array", "items": {"type": "integer"}, "minItems": 1}
    ).rules
    assert matches(rules, "[1, 2]")
    assert not matches(rules, "[]")


def test_a_dialect_without_text_gives_no_answer() -> None:
    with pytest.raises(InvalidRequest, match="answer"):
        constrain(get_dialect("guided_json"), (WEATHER,), answer=ANSWER)


def test_a_required_call_leaves_no_room_for_an_answer() -> None:
    dialect = get_dialect("hermes")
    rules = constrain(dialect, TOOLS, tool_choice="required", answer=ANSWER).rules
    assert not matches(rules, '{"title": "x", "score": 3}')
    assert THOUGHT in layout_of(dialect).kinds
