"""Every dialect in every engine: all let through what the reference matcher does, but where a note says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple

import pytest

from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.emission import Emission, Engine, emit
from dragoman.constrain.layout import CALL, THOUGHT, layout_of, native_call
from dragoman.dialect import Dialect
from dragoman.emit.generate import Generator
from dragoman.emit.guarantees import Effect
from dragoman.emit.matcher import Matcher
from dragoman.errors import Inexpressible, InvalidRequest, InvalidStart
from dragoman.made_up import mutations
from dragoman.registry import get_dialect
from dragoman.types import Message, Part, TextPart, ThinkingPart
from tests.emit.conftest import llama
from tests.emit.llama_cpp import LlamaCpp
from tests.kinds import ALL

from .wanted import PING, WEATHER, malformed, read, wrong

__all__ = ["llama"]  # the fixture

Llama = Callable[..., LlamaCpp]
Accepts = Callable[[list[str]], list[bool]]


class Difference(NamedTuple):
    """A kind of disagreement that a note may allow: in which texts, and why there is one."""

    effect: Effect
    what: str
    reason: str
    holds: tuple[str, ...] = ()
    """One of these is in the text, or it is any text."""


DIFFERENCES: dict[Engine, tuple[Difference, ...]] = {
    Engine.GBNF: (
        Difference(Effect.NARROWED, "code", "states are counted up to four backticks that open code", ("`",)),
    ),
    Engine.XGRAMMAR: (
        Difference(Effect.NARROWED, "code", "as in GBNF, and no marker begins right behind a backtick", ("`",)),
    ),
    Engine.LARK: (Difference(Effect.NARROWED, "code", "as in GBNF, whose states these are", ("`",)),),
    Engine.STRUCTURAL_TAG: (
        Difference(Effect.NARROWED, "code", "triggers and excluded strings know nothing of Markdown", ("`",)),
        Difference(Effect.RELAXED, "code", "a trigger in Markdown code begins a tag", ("`",)),
        Difference(Effect.NARROWED, "order", "xgrammar's converter writes members in the order of the schema", ("{",)),
        Difference(Effect.NARROWED, "additionalProperties", "further members come last in its objects", ("{",)),
        Difference(Effect.NARROWED, "reasoning", "thoughts are the first of two formats, and no trigger begins one"),
        Difference(Effect.RELAXED, "layout", "free text behind a thought begins with any whitespace"),
        Difference(Effect.NARROWED, "layout", "tags that have to come stand at once"),
        Difference(Effect.NARROWED, "text", "an engine that stops after the first tag reads no text behind it"),
    ),
}
"""All disagreements with the reference that there may be, each only where the emission notes it."""

REQUESTS: dict[str, dict[str, Any]] = {
    "auto": {},
    "required": {"tool_choice": "required"},
    "named": {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
    "one call": {"parallel": False},
    "declared order": {"any_order": False},
    "the answer": {"scope": "answer"},
    "begun thoughts": {"start": "reasoning"},
}
A_HANDFUL = ("hermes", "mistral", "kimi_k2", "glm47", "llama3_json", "gigachat3")
HANDFUL = pytest.mark.parametrize("dialect", [*map(get_dialect, A_HANDFUL)], ids=A_HANDFUL)
FEW = ("named", "declared order", "one call", "the answer")
"""Requests that are tried with a handful of dialects."""
MOST = pytest.mark.parametrize("request_name", [name for name in REQUESTS if name not in FEW])


def asked(dialect: Dialect, request_name: str) -> Constraint:
    """The constraint, if the dialect has what is asked for, else nothing is tested."""
    tools = (WEATHER, PING) if CALL in layout_of(dialect).kinds else ()
    if not tools and request_name not in ("auto", "begun thoughts"):
        pytest.skip("no calls")
    if request_name == "begun thoughts" and THOUGHT not in layout_of(dialect).kinds:
        pytest.skip("no thoughts")
    try:
        return constrain(dialect, tools, **REQUESTS[request_name])
    except (InvalidRequest, InvalidStart) as refusal:
        assert dialect.name in ("guided_json", "muse")
        pytest.skip(str(refusal))


def rendered(dialect: Dialect) -> Iterator[str]:
    """Messages as the dialect writes them."""
    ask = [
        native_call(dialect, "get_weather", arguments)
        for arguments in ('{"city": "São \\"Paulo\\""}', '{"days": 3, "city": "x\\ny <b"}')
    ]
    text, quoting = TextPart("Let me look."), TextPart("a < b, use `x` and\n```py\nf(1)\n```\nok")
    thought = ThinkingPart("so\nwhat")
    messages: tuple[tuple[Part, ...], ...] = (
        (text,),
        (thought, quoting),
        (ask[0],),
        (ask[1], native_call(dialect, "ping", "{}", 1)),
        (quoting, native_call(dialect, "ping", "{}")),
        (thought, ask[1]),
        (thought, text, ask[0]),
        (text, thought, ask[0]),
        (ask[1], text),
    )
    for parts in messages:
        with suppress(Inexpressible):
            yield dialect.render(Message("assistant", parts))


def texts_for(constraint: Constraint, count: int) -> list[str]:
    """What is rendered, what is let through, and both with their markers moved about."""
    random, generator = Random(5), Generator(constraint.rules)
    found = list(rendered(constraint.layout.dialect)) if constraint.tools else ["Let me look."]
    found += [generator.sentence(random.randrange, size=60) for _ in range(count)]
    moved = [random.choice(list(mutations(text, constraint.layout.marks, random))) for text in found for _ in range(3)]
    return list(dict.fromkeys(found + moved))


def disagreements(
    constraint: Constraint, emission: Emission, accepts: Accepts, count: int
) -> Iterator[tuple[str, Effect]]:
    """Texts that the engine reads otherwise than the reference does, in which no note allows it."""
    texts = texts_for(constraint, count)
    reference = Matcher(constraint.rules)
    noted = {(note.effect, note.what) for note in emission.guarantees.notes if note not in constraint.guarantees.notes}
    kinds = [kind for kind in DIFFERENCES[emission.engine] if (kind.effect, kind.what) in noted]
    for text, accepted in zip(texts, accepts(texts), strict=True):
        if accepted == reference.matches(text):
            continue
        effect = Effect.RELAXED if accepted else Effect.NARROWED
        if not any(kind.effect is effect and _in_any(kind.holds, text) for kind in kinds):
            yield text, effect
        elif accepted and "`" not in text:  # what passes is read without a problem all the same, outside of code
            events, message = read(constraint.layout.dialect, text, constraint.tools, start=constraint.asked.start)
            assert not malformed(events), text
            assert not wrong(message, constraint.tools), text


def _in_any(words: Iterable[str], text: str) -> bool:
    return not words or any(word in text for word in words)


def in_llama_cpp(constraint: Constraint, llama: Llama, count: int) -> None:
    emission = emit(constraint, "gbnf")
    assert not [
        *disagreements(constraint, emission, lambda texts: llama().matches(emission.text, texts, marks=False), count)
    ]


def in_xgrammar(constraint: Constraint, engine: str, count: int) -> None:
    pytest.importorskip("xgrammar")
    from tests.emit.xgrammar_harness import vocabulary

    emission = emit(constraint, engine)
    grammar = vocabulary("bytes").compile(emission.value or emission.text)
    assert not [*disagreements(constraint, emission, lambda texts: [*map(grammar.accepts, texts)], count)]


def in_llguidance(constraint: Constraint, count: int) -> None:
    pytest.importorskip("llguidance")
    from tests.emit.llguidance_harness import Compiled, byte_vocabulary

    emission = emit(constraint, "lark")
    grammar = Compiled(emission.text, byte_vocabulary())
    assert not [*disagreements(constraint, emission, lambda texts: [*map(grammar.accepts, texts)], count)]


@HANDFUL
@pytest.mark.parametrize("engine", ["xgrammar", "structural_tag"])
def test_xgrammar_reads_a_dialect_as_the_reference_does(dialect: Dialect, engine: str) -> None:
    in_xgrammar(asked(dialect, "auto"), engine, 6)


@HANDFUL
def test_llama_cpp_reads_a_dialect_as_the_reference_does(dialect: Dialect, llama: Llama) -> None:
    in_llama_cpp(asked(dialect, "required"), llama, 2)


@pytest.mark.slow
@HANDFUL
@pytest.mark.parametrize("request_name", FEW)
@pytest.mark.parametrize("engine", ["xgrammar", "structural_tag"])
def test_xgrammar_reads_other_requests_as_the_reference_does(dialect: Dialect, request_name: str, engine: str) -> None:
    in_xgrammar(asked(dialect, request_name), engine, 4)


@pytest.mark.slow
@ALL
@MOST
@pytest.mark.parametrize("engine", ["xgrammar", "structural_tag"])
def test_xgrammar_reads_every_dialect_as_the_reference_does(dialect: Dialect, request_name: str, engine: str) -> None:
    in_xgrammar(asked(dialect, request_name), engine, 4)


@pytest.mark.slow
@ALL
def test_llama_cpp_reads_every_dialect_as_the_reference_does(dialect: Dialect, llama: Llama) -> None:
    in_llama_cpp(asked(dialect, "auto"), llama, 3)


@pytest.mark.slow
@ALL
def test_llguidance_reads_every_dialect_as_the_reference_does(dialect: Dialect) -> None:
    in_llguidance(asked(dialect, "auto"), 6)
