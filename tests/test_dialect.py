"""A dialect as a value, and dialects that people bring along in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman import Dialect, Message, Policy, TextPart, load_dialect, parse
from dragoman.errors import InvalidDialect, InvalidStart, LeftRecursion, NotStreamable
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar, Node


def dialect(root: Node, *entries: tuple[str, Node]) -> Dialect:
    return Dialect(
        name="own",
        doc="One's own.",
        grammar=Grammar(root, entries),
        writer=lambda message: message.text,
        models=(),
        marks=(),
        stops=(),
        source="the test",
        examples=(),
    )


ANSWER = b.content(b.until())
GATED = b.choice(b.gate("code", b.reasoning("`")), b.gate("calls_in_reasoning", b.reasoning("<")), b.content(b.any()))


def test_a_dialect_reads_and_writes() -> None:
    own = dialect(ANSWER)
    message = Message("assistant", (TextPart("Hi"),))
    assert parse(own.render(message), own) == message


def test_a_dialect_starts_where_its_grammar_has_an_entry() -> None:
    own = dialect(ANSWER, ("reasoning", b.reasoning(b.until())))
    assert own.starts == ("content", "reasoning")
    assert parse("Hi", own, start="reasoning").thinking == "Hi"
    with pytest.raises(InvalidStart, match="it can start in content, reasoning"):
        own.machine("middle")


def test_a_grammar_is_compiled_once_for_each_policy() -> None:
    own = dialect(GATED)
    assert own.program() is own.program(Policy()) is dialect(GATED).program()
    assert own.program(Policy(calls_in_code=True)) is not own.program()


@pytest.mark.parametrize(
    ("policy", "closed"),
    [
        (Policy(), ()),
        (Policy(calls_in_code=True), ("code",)),
        (Policy(calls_in_reasoning=False), ("calls_in_reasoning",)),
        (Policy(calls_in_code=True, calls_in_reasoning=False), ("calls_in_reasoning", "code")),
    ],
)
def test_a_policy_closes_gates(policy: Policy, closed: tuple[str, ...]) -> None:
    assert policy.without() == frozenset(closed)
    for gate, text in (("code", "`"), ("calls_in_reasoning", "<")):
        message = parse(text, dialect(GATED), policy=policy)
        assert (message.text if gate in closed else message.thinking) == text


def test_what_a_dialect_holds_back_is_bounded_or_it_says_so() -> None:
    assert dialect(b.until("</a>") + "</a>").hold_bound == 4
    with pytest.raises(NotStreamable, match="input is held back without bound"):
        _ = dialect(b.peek(b.until("x")) + ANSWER).hold_bound


# From a file

FILE = """
from dragoman import Dialect
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar

DIALECT = Dialect(
    name="own", doc="", grammar=Grammar({}), writer=str, models=(), marks=(), stops=(), source="", examples=()
)
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_dialect_is_loaded_from_a_file(tmp_path: Path) -> None:
    own = load_dialect(str(written(tmp_path / "own.py", FILE.format("b.content(b.until())"))))
    assert parse("Hi", own).text == "Hi"


@pytest.mark.parametrize(
    ("name", "text", "expected", "found"),
    [
        ("own.txt", "", "a Python file that can be read", "none"),
        ("own.py", "DIALECT = 3", "a Dialect named DIALECT", "int"),
        ("own.py", "", "a Dialect named DIALECT", "nothing"),
        ("own.py", "DIALECT = None", "a Dialect named DIALECT", "nothing"),
        ("own.py", "import nowhere", "a file that runs", "ModuleNotFoundError: No module named 'nowhere'"),
        ("own.py", "1 / 0", "a file that runs", "ZeroDivisionError: division by zero"),
        ("own.py", "def f(", "a file that runs", "SyntaxError: '(' was never closed (own.py, line 1)"),
    ],
)
def test_a_file_without_a_dialect_is_refused(tmp_path: Path, name: str, text: str, expected: str, found: str) -> None:
    with pytest.raises(InvalidDialect) as caught:
        load_dialect(written(tmp_path / name, text))
    assert (caught.value.source, caught.value.expected) == (str(tmp_path / name), expected)
    assert caught.value.found == found


@pytest.mark.parametrize("name", ["nowhere.py", ""])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidDialect, match="expected a Python file that can be read, found none"):
        load_dialect(tmp_path / name)


def test_a_grammar_that_cannot_be_run_or_streamed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LeftRecursion):
        load_dialect(written(tmp_path / "left.py", FILE.format('b.rule("r", b.ref("r"))')))
    with pytest.raises(NotStreamable):
        load_dialect(written(tmp_path / "held.py", FILE.format('b.peek(b.until("x"))')))


def test_a_mistake_that_dragoman_finds_while_the_file_runs_is_told_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(InvalidStart):
        load_dialect(written(tmp_path / "own.py", "import dragoman\ndragoman.Parser('hermes', start='x')"))
