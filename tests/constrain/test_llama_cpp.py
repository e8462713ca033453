"""llama.cpp under our constraints: a model that knows nothing writes calls that the parser reads, and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.emission import emit
from dragoman.constrain.layout import CALL, layout_of
from dragoman.constrain.requests import llama_cpp
from dragoman.constrain.triggers import TriggerKind, openers, triggers_of
from dragoman.dialect import Dialect
from dragoman.emit.matcher import Matcher
from dragoman.errors import InvalidRequest
from dragoman.events import CallEnd, Event, Problem, ProblemKind
from dragoman.parse.parser import Parser
from dragoman.registry import dialects, get_dialect
from dragoman.types import Tool
from tests.emit.llama_cpp import PIECES, Completion, LlamaCpp, RefusedError

from .wanted import problems, read, wrong

WEATHER = Tool(
    "get_weather",
    "",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 8},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
        },
        "required": ["city"],
    },
)
SEARCH = Tool(
    "search",
    "",
    {
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["metric", "imperial"]},
            "deep": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 4}, "maxItems": 2},
        },
        "required": ["unit"],
    },
)
PING = Tool("ping", "", {"type": "object", "properties": {}})
TOOLS = (WEATHER, SEARCH, PING)
"""Small ones, so that samples come to an end."""

REQUESTS: dict[str, dict[str, Any]] = {
    "auto": {},
    "required": {"tool_choice": "required"},
    "one call": {"tool_choice": "required", "parallel": False, "lead_in": "none"},
    "named": {"tool_choice": {"type": "function", "function": {"name": "search"}}, "parallel": False, "lead_in": 20},
}
FEW = ("deepseek_v31", "harmony", "hermes", "qwen3_coder")
CUT = {ProblemKind.INCOMPLETE, ProblemKind.UNCLOSED_REASONING, ProblemKind.UNKNOWN_TOOL}
"""What may be found in an output that the limit has cut off; the last where that is within a name."""


class Sampler:
    """llama.cpp with a vocabulary that is like the one of the dialect's models."""

    def __init__(self, dialect: Dialect, folder: Path, pieces: Sequence[str] = ()) -> None:
        self.dialect = dialect
        constraint = constrain(dialect, TOOLS, tool_choice="required")
        marks = emit(constraint, "gbnf").markers
        self.marks = tuple(mark for mark in marks if mark not in ("</s>", *PIECES) and not re.search(r"\s", mark))
        # What is not ASCII is written by nothing else, also where the bracket before it is a token of its own.
        spelled = [mark[1:] for mark in self.marks if not mark[1:].isascii()]
        others = [piece for piece in pieces if piece not in self.marks]
        self.engine = LlamaCpp(folder, self.marks, (*PIECES, *spelled, *others))

    def close(self) -> None:
        self.engine.close()

    def sampled(self, constraint: Constraint, seeds: range) -> Iterator[Completion]:
        """What is written with the fields that llama.cpp is sent."""
        favour = dict.fromkeys(self.marks, 20.0) | dict.fromkeys('"}])>', 5.0)
        fields = llama_cpp(emit(constraint, "gbnf"))
        for seed in seeds:
            yield self.engine.complete(seed=seed, favour=favour, n_predict=250, **fields)


def without_stop(dialect: Dialect, text: str) -> str:
    """The output without the token that ended it, which llama.cpp writes out where it is a marker of the dialect.

    Where the output may end, llama.cpp allows all of the vocabulary's ends, which no grammar can tell apart.
    """
    return next((text.removesuffix(stop) for stop in dialect.stops if text.endswith(stop)), text)


def calls_of(sampler: Sampler, constraint: Constraint, seeds: range) -> int:
    """How many calls are sampled, each of which is one of the tools'; what is cut off could have become one."""
    dialect, matcher, found = sampler.dialect, Matcher(constraint.rules), 0
    for text, finish, _ in sampler.sampled(constraint, seeds):
        if finish == "eos":
            text = without_stop(dialect, text)
            assert matcher.matches(text), text
            events, message = read(dialect, text, TOOLS)
            assert not problems(events), text
            assert not wrong(message, constraint.tools), text
            assert bool(message.tool_calls) >= (constraint.asked.choice.mode == "required"), text
            assert constraint.asked.parallel or len(message.tool_calls) <= 1, text
            found += len(message.tool_calls)
        else:
            assert matcher.prefix_of(text) == len(text), text
            parser = Parser(dialect, TOOLS)
            events = [*parser.feed(text), *parser.finish("length")]
            assert {problem.kind for problem in all_problems(events)} <= CUT, text
    return found


def all_problems(events: Sequence[Event]) -> Iterator[Problem]:
    for event in events:
        if isinstance(event, Problem):
            yield event
        elif isinstance(event, CallEnd):
            yield from event.problems


@pytest.mark.parametrize("name", FEW)
def test_what_llama_cpp_writes_is_read_as_calls_of_the_tools(tmp_path: Path, name: str) -> None:
    dialect = get_dialect(name)
    with closing(Sampler(dialect, tmp_path)) as sampler:
        for request in REQUESTS.values():
            constraint = constrain(dialect, TOOLS, **request)
            assert calls_of(sampler, constraint, range(3)) or constraint.asked.choice.mode == "auto"


@pytest.mark.slow
@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_what_llama_cpp_writes_is_read_in_every_dialect(tmp_path: Path, dialect: Dialect) -> None:
    if CALL not in layout_of(dialect).kinds:
        return
    with closing(Sampler(dialect, tmp_path)) as sampler:
        for name, request in REQUESTS.items():
            try:
                constraint = constrain(dialect, TOOLS, **request)
            except InvalidRequest:  # there is nothing but calls in it
                assert (dialect.name, name) == ("guided_json", "auto")
                continue
            assert calls_of(sampler, constraint, range(3)) or name == "auto"


LAZY: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "one control token": ("mistral", ("[TOOL_CALLS]", "[ARGS]", "[THINK]", "[/THINK]"), ()),
    "a control token and text": ("qwen3_coder", ("<tool_call>", "</tool_call>"), ("\n<function=",)),
    "pieces across its parts": ("qwen3_coder", (), ("<tool_", "call>\n<func", "tion=")),
    "one that goes on with a name": ("qwen3_coder", (), ("<tool_call>\n<function=s",)),
}
"""A dialect, its control tokens and pieces of text, of which a model makes a trigger."""


def before_triggers(dialect: Dialect, engine: LlamaCpp, favour: Mapping[str, float], seeds: range) -> list[str]:
    """The texts that are sampled before a trigger, behind which all is as the lazy constraint has it."""
    constraint = constrain(dialect, TOOLS)
    assert constraint.lazy is not None
    matcher, found = Matcher(constraint.lazy), list[str]()
    control = {mark: engine.ids[mark.encode()] for mark in engine.markers}
    emission = emit(constraint, "gbnf", lazy=True, control=control)
    patterns = [one.text if one.kind == TriggerKind.PATTERN else re.escape(one.text) for one in emission.triggers]
    for seed in seeds:
        text, finish, _ = engine.complete(seed=seed, favour=favour, **llama_cpp(emission))
        begun = re.search("|".join(patterns), text)
        if begun is None:
            continue
        found.append(text[: begun.start()])
        text = text[begun.start() :]
        if finish != "eos":
            assert matcher.prefix_of(text) == len(text), text
            continue
        text = without_stop(dialect, text)
        assert matcher.matches(text), text
        events, message = read(dialect, text, TOOLS)
        assert message.tool_calls
        assert not problems(events) + wrong(message, TOOLS), text
    return found


@pytest.mark.parametrize("made_of", LAZY)
def test_llama_cpp_constrains_from_a_trigger_on(tmp_path: Path, made_of: str) -> None:
    name, marks, pieces = LAZY[made_of]
    favour = dict.fromkeys((*pieces, *marks[:1]), 150.0)
    with closing(LlamaCpp(tmp_path, marks, (*PIECES, *pieces))) as engine:
        found = before_triggers(get_dialect(name), engine, favour, range(8))
    assert any(found), "text before a trigger is free"


@pytest.mark.slow
@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_llama_cpp_constrains_from_a_trigger_on_in_every_dialect(tmp_path: Path, dialect: Dialect) -> None:
    layout = layout_of(dialect)
    if CALL not in layout.kinds or not triggers_of(layout):
        return
    with closing(Sampler(dialect, tmp_path, openers(layout))) as sampler:
        favour = dict.fromkeys(sampler.marks, 5.0) | dict.fromkeys(openers(layout), 1000.0)
        assert before_triggers(dialect, sampler.engine, favour, range(3))


def test_llama_cpp_leaves_text_without_a_trigger_alone(tmp_path: Path) -> None:
    dialect = get_dialect("qwen3_coder")
    constraint = constrain(dialect, TOOLS)
    with closing(LlamaCpp(tmp_path, ("<tool_call>", "</tool_call>"))) as engine:
        fields = llama_cpp(emit(constraint, "gbnf", lazy=True, control={"<tool_call>": engine.ids[b"<tool_call>"]}))
        favour = {"<tool_call>": 200.0, "</tool_call>": 200.0}
        free = [engine.complete(seed=seed, favour=favour, **fields) for seed in range(4)]
        bound = [engine.complete(seed=seed, favour=favour, **llama_cpp(emit(constraint, "gbnf"))) for seed in range(4)]
    matcher = Matcher(constraint.rules)
    assert any(not matcher.matches(one.text) for one in free)
    assert all(matcher.prefix_of(one.text) == len(one.text) for one in bound)


def test_llama_cpp_ends_a_request_whose_trigger_comes_with_what_is_refused(tmp_path: Path) -> None:
    """The token that ends a trigger is read as a whole: its rest can't be taken back."""
    piece = "<tool_call>\n<function=Q"
    constraint = constrain(get_dialect("qwen3_coder"), TOOLS)
    with closing(LlamaCpp(tmp_path, (), (piece,))) as engine, pytest.raises(RefusedError, match="empty grammar stack"):
        engine.complete(favour={piece: 1e6}, **llama_cpp(emit(constraint, "gbnf", lazy=True)))
