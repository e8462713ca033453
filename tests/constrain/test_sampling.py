"""Outputs drawn through the engines' masks, as a server draws them: the parser reads each, and its calls are valid."""

from __future__ import annotations

from random import Random

import pytest

from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.emission import emit
from dragoman.events import Event
from dragoman.parse.assemble import assemble
from dragoman.parse.parser import Parser
from dragoman.registry import get_dialect
from dragoman.types import Message

from .wanted import PING, WEATHER, problems, read, wrong

TOOLS = (WEATHER, PING)
CLOSERS = ('"', "}", "]", "0", "\n", ")", "'")

over = pytest.mark.parametrize(
    ("vocabulary_name", "name"),
    [
        ("bytes", "hermes"),
        ("bytes", "glm47"),
        ("bytes", "kimi_k2"),
        ("bytes", "qwen3_coder"),
        ("bytes", "llama3_json"),
        *(pytest.param("o200k", name, marks=pytest.mark.slow) for name in ("hermes", "harmony")),
    ],
)


def forced(name: str) -> Constraint:
    return constrain(get_dialect(name), TOOLS, tool_choice="required")


def check(events: list[Event], message: Message, shown: object) -> None:
    assert not problems(events), shown
    assert message.tool_calls, shown
    assert not wrong(message, TOOLS), shown


@over
@pytest.mark.parametrize("engine", ["xgrammar", "structural_tag"])
def test_what_xgrammar_lets_a_model_write_is_read(vocabulary_name: str, name: str, engine: str) -> None:
    pytest.importorskip("xgrammar")
    from tests.emit.xgrammar_harness import vocabulary

    constraint = forced(name)
    emission = emit(constraint, engine)
    home = vocabulary(vocabulary_name)
    grammar = home.compile(emission.value or emission.text)
    for seed in range(4):
        text = grammar.text(grammar.sample(Random(seed), constraint.layout.marks, CLOSERS))
        check(*read(constraint.layout.dialect, text, TOOLS), text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hermes", "mistral", "harmony", "llama3_json"])
def test_what_llguidance_lets_a_model_write_is_read(name: str) -> None:
    pytest.importorskip("llguidance")
    from tests.emit.llguidance_harness import Compiled, o200k

    home = o200k()
    constraint = constrain(get_dialect(name), TOOLS, tool_choice="required", control=home.tokenizer.control)
    grammar = Compiled(emit(constraint, "lark").text, home)
    encode, control = home.tokenizer.encode, set(home.tokenizer.control.values())
    marks = {token for mark in constraint.layout.marks for token in encode(mark)}
    hints = (control, {token for word in CLOSERS for token in encode(word)}, marks)
    found = 0
    for seed in range(3):
        ids = grammar.hinted(Random(seed), hints)
        if ids is not None:
            parser = Parser(constraint.layout.dialect, TOOLS, tokenizer=home.tokenizer)
            events = [*parser.feed_tokens(ids), *parser.finish("stop")]
            check(events, assemble(events), b"".join(map(home.tokenizer.token_bytes, ids)))
            found += 1
    assert found
