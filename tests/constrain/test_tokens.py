"""Markers that are control tokens: grammar and parser know them by their ids, in Markdown code as elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

import pytest

from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.emission import emit
from dragoman.constrain.layout import CALL, layout_of
from dragoman.dialect import Dialect
from dragoman.emit.generate import Generator
from dragoman.emit.guarantees import Effect
from dragoman.emit.matcher import Matcher
from dragoman.emit.rules import Scan
from dragoman.events import Event
from dragoman.parse.assemble import assemble
from dragoman.parse.parser import Parser
from dragoman.registry import get_dialect
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Message

from .test_engines import ALL, rendered
from .wanted import PING, WEATHER, problems, wrong

pytest.importorskip("llguidance")
from tests.emit.llguidance_harness import Compiled, Vocabulary

A_HANDFUL = ("hermes", "deepseek_r1")
ENDS = frozenset(b'"}]\n:,')


class Spoken:
    """A dialect in a vocabulary that has its markers as control tokens, under llguidance."""

    def __init__(self, dialect: Dialect, tool_choice: str = "auto") -> None:
        self.tools = (WEATHER, PING)
        apart = [mark for mark in dialect.marks if not any(mark != other and other in mark for other in dialect.marks)]
        self.tokenizer = ByteTokenizer(("<|eos|>", *apart))
        self.constraint: Constraint = constrain(
            dialect, self.tools, tool_choice=tool_choice, control=self.tokenizer.control
        )
        self.grammar = Compiled(emit(self.constraint, "lark").text, Vocabulary(self.tokenizer, "<|eos|>"))
        self._tokens = re.compile(f"({'|'.join(map(re.escape, apart))})")

    def pieces(self, text: str) -> list[str | int]:
        """The text with its markers as control tokens."""
        control = self.tokenizer.control
        return [control.get(piece, piece) for piece in self._tokens.split(text) if piece]

    def ids(self, text: str) -> list[int]:
        return self.grammar.tokens(self.pieces(text))

    def read(self, ids: Sequence[int]) -> tuple[list[Event], Message]:
        """What the parser makes of these tokens."""
        parser = Parser(self.constraint.layout.dialect, self.tools, tokenizer=self.tokenizer)
        events = [*parser.feed_tokens(ids), *parser.finish("stop")]
        return events, assemble(events)


def check(dialect: Dialect, count: int) -> None:
    """What the rules let through is let through token by token, and read without a problem."""
    spoken = Spoken(dialect)
    constraint, random = spoken.constraint, Random(2)
    reference, generator = Matcher(constraint.rules), Generator(constraint.rules)
    notes = {note.what for note in emit(constraint, "lark").guarantees.of(Effect.NARROWED)}
    for text in (*rendered(dialect), *(generator.sentence(random.randrange, size=60) for _ in range(count))):
        lost = ("code" in notes and "`" in text) or ("markers" in notes and "]]>" in text)
        if reference.matches(text) and not lost:
            assert spoken.grammar.accepts(*spoken.pieces(text)), text
            events, message = spoken.read(spoken.ids(text))
            assert not problems(events), text
            assert not wrong(message, spoken.tools), text


@pytest.mark.parametrize("name", A_HANDFUL)
def test_markers_are_control_tokens(name: str) -> None:
    check(get_dialect(name), 10)


@pytest.mark.slow
@ALL
def test_markers_of_every_dialect_are_control_tokens(dialect: Dialect) -> None:
    if CALL in layout_of(dialect).kinds and dialect.marks:
        check(dialect, 10)


def test_no_code_quotes_a_control_token() -> None:
    spoken = Spoken(get_dialect("hermes"))
    text = 'See `this:\n<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    quoted = text.replace("this:\n", "")
    assert not any(isinstance(part, Scan) and part.code for part in spoken.constraint.rules.walk())
    for written in (text, quoted):
        assert spoken.grammar.accepts(*spoken.pieces(written))
        events, message = spoken.read(spoken.ids(written))
        assert not problems(events)
        assert [call.name for call in message.tool_calls] == ["ping"]


def test_code_quotes_markers_of_which_some_are_spelled() -> None:
    tokenizer = ByteTokenizer(("<tool_call>", "</tool_call>"))
    rules = constrain(get_dialect("hermes"), (PING,), control=tokenizer.control).rules
    assert any(isinstance(part, Scan) and part.code for part in rules.walk())


def test_a_marker_in_ordinary_tokens_begins_no_call() -> None:
    spoken = Spoken(get_dialect("hermes"), "required")
    text = '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>'
    assert spoken.grammar.accepts(*spoken.pieces(text))
    assert not spoken.grammar.accepts(text)
    assert not spoken.read(list(text.encode()))[1].tool_calls


@pytest.mark.parametrize("engine", ["gbnf", "xgrammar", "structural_tag"])
def test_engines_of_characters_say_that_markers_may_be_spelled(engine: str) -> None:
    hermes = get_dialect("hermes")
    control = {"<tool_call>": 1, "</tool_call>": 2}
    notes = emit(constrain(hermes, (PING,), control=control), engine).guarantees.of(Effect.RELAXED)
    assert "markers" in {note.what for note in notes}
    notes = emit(constrain(hermes, (PING,)), engine).guarantees.of(Effect.RELAXED)
    assert "markers" not in {note.what for note in notes}


def test_what_is_sampled_by_tokens_is_read_by_tokens() -> None:
    spoken = Spoken(get_dialect("hermes"), "required")
    control = set(spoken.tokenizer.control.values())

    def choose(random: Random, allowed: list[int]) -> int:
        """Markers where they fit, else plain characters, those that end strings above all."""
        marked = [token for token in allowed if token in control]
        ends = [token for token in allowed if token in ENDS]
        plain = [token for token in allowed if token < 128]
        return random.choice(marked if marked and random.random() < 0.3 else ends or plain or allowed)

    found = 0
    for seed in range(12):
        ids = spoken.grammar.sample(Random(seed), limit=400, choose=choose)
        if ids is not None:
            events, message = spoken.read(ids)
            assert not problems(events), ids
            assert message.tool_calls
            assert not wrong(message, spoken.tools), ids
            found += 1
    assert found > 3
