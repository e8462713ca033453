"""What a file of the suite is: a dialect, tools, and cases under the scenarios that they are about.

    dialect = "hermes"

    [tools.get_weather]                       # a type for each argument; "!" for one that must be there
    city = "string!"
    days = "integer"

    [lacks]                                   # a scenario or a group of them that can't be, and why
    thoughts = "the models have none"

    [[parallel_calls]]                        # a case
    text = '''<tool_call>{"name": ...'''
    expect = ['call: get_weather {"city": "Paris"}', ...]

A file is read with the standard library alone. Whatever is wrong with one is an `InvalidSuite` that names the case and
its line. To hold a dialect to its file, see `checks`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..dialect import START, Dialect
from ..errors import InvalidSuite
from ..events import ProblemKind
from ..types import JSON, Part, Tool
from .notation import NOTATION, read_part

__all__ = ["GROUPS", "SCENARIOS", "Case", "Suite", "folder", "read_suite", "read_tools", "suite_of"]

SCENARIOS: dict[str, str] = {
    "single_call": "one call and nothing else",
    "parallel_calls": "several calls, one behind the other",
    "interleaved": "text between calls",
    "reasoning": "a thought, then an answer",
    "reasoning_between": "a thought between two calls",
    "text_around": "text before, between and after: thoughts, calls and text in one output",
    "markup_in_string": "a closer, or an opener, inside a string of the arguments",
    "markup_in_fence": "markup quoted in Markdown code",
    "markup_in_thought": "markup inside a thought",
    "unicode": "other scripts, emoji, escapes",
    "numbers": "big integers, 1.0, exponents: every digit is kept",
    "containers": "null, true, nested and empty containers",
    "no_arguments": "a call without arguments",
    "unknown_tool": "a call of a tool that was not offered",
    "repeated_call": "the same tool twice",
    "orphan_closer": "a closing marker with nothing open",
    "truncated_call": "the output ends inside a call",
    "truncated_reasoning": "the output ends inside a thought",
    "malformed_then_valid": "a broken call, then a good one",
    "whitespace": "other layout that the models really write",
    "start_inside_reasoning": "the prompt has opened the thought",
    "stop_marker": "a stop marker, and what follows it",
}
"""The scenarios in the order of the matrix, each with what it is about."""

GROUPS: dict[str, tuple[str, ...]] = {
    "thoughts": (
        *("reasoning", "reasoning_between", "markup_in_thought", "truncated_reasoning"),
        "start_inside_reasoning",
    ),
    "calls": (
        *("single_call", "parallel_calls", "interleaved", "reasoning_between", "text_around", "markup_in_string"),
        *("unicode", "numbers", "containers", "no_arguments", "unknown_tool", "repeated_call", "truncated_call"),
        *("malformed_then_valid", "whitespace"),
    ),
}
"""Scenarios that a dialect without thoughts, or without calls, can't have."""

_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_REASONS = {"stop": "stop", "length": "length", "none": None}
_FIELDS = frozenset({"title", "text", "expect", "problems", "start", "reason", "tools", "stop", "fails"})


class Case(Struct, frozen=True):
    """An output and what it must be read as; `where` is its place, for messages.

    `title` says what is special about it, `fails` what the parser is known to do wrong with it, until it does right.
    """

    scenario: str
    where: str
    text: str
    expect: tuple[Part, ...]
    problems: tuple[str, ...] = ()
    start: str = START
    reason: str | None = "stop"
    tools: tuple[Tool, ...] = ()
    stop: str | None = None
    fails: str = ""
    title: str = ""

    @property
    def well_formed(self) -> bool:
        """Whether nothing is wrong with the output."""
        return not self.problems


class Suite(Struct, frozen=True):
    """The cases of one dialect, and why some scenarios have none."""

    dialect: str
    source: str
    cases: tuple[Case, ...]
    lacks: Mapping[str, str]

    def of(self, scenario: str) -> tuple[Case, ...]:
        """The cases of one scenario."""
        return tuple(case for case in self.cases if case.scenario == scenario)


def folder() -> Path:
    """Where the files are: in the package, or in the checkout that it runs from; raises `InvalidSuite`."""
    places = (Path(__file__).with_name("data"), Path(__file__).parents[3] / "tests" / "conformance")
    for place in places:
        if (place / "tools.toml").is_file():
            return place
    found = f"neither {places[0]} nor {places[1]}"
    raise InvalidSuite("conformance suite", "a folder with tools.toml", f"{found}; install the package from its wheel")


def suite_of(dialect: Dialect, place: Path | None = None) -> Suite:
    """The suite of a dialect; raises `InvalidSuite` if it has none, or a bad one."""
    path = (place or folder()) / f"{dialect.name}.toml"
    if not path.is_file():
        expected = f"the cases of {dialect.name!r}; write it as docs/add-a-dialect.md says"
        raise InvalidSuite(str(path), expected, "no such file")
    return read_suite(path, dialect)


def read_suite(path: Path, dialect: Dialect) -> Suite:
    """The suite in a file; raises `InvalidSuite` with the place in it, what was expected there, and what was found."""
    source = path.name
    text, value = _loaded(path)
    if value.pop("dialect", dialect.name) != dialect.name:
        raise InvalidSuite(source, f"dialect = {dialect.name!r}, as the file is called", "another name")
    tools = _common_tools() | read_tools(value.pop("tools", {}), source)
    lacks = _lacks(value.pop("lacks", {}), source, tuple(value))
    cases = []
    for scenario, tables in value.items():
        if scenario not in SCENARIOS or not isinstance(tables, list):
            expected = f"[[scenario]], [tools.name], [lacks] or dialect; scenarios are {', '.join(SCENARIOS)}"
            raise InvalidSuite(source, expected, repr(scenario) if scenario not in SCENARIOS else f"[{scenario}]")
        lines = _lines_of(text, f"[[{scenario}]]")
        for k, table in enumerate(tables):
            where = f"{source}:{lines[k] if k < len(lines) else '?'} [[{scenario}]]"
            cases.append(_case(scenario, where, table, tools, dialect))
    return Suite(dialect.name, source, tuple(cases), lacks)


def read_tools(value: object, source: str) -> dict[str, Tool]:
    """Tools by name, from tables that give each argument's type: a word, a list of words, or a JSON Schema."""
    if not isinstance(value, dict) or not all(isinstance(fields, dict) for fields in value.values()):
        raise InvalidSuite(source, "[tools.name] with a type for each argument", repr(value))
    return {name: _tool(name, fields, source) for name, fields in value.items()}


def _tool(name: str, fields: Mapping[str, Any], source: str) -> Tool:
    properties: dict[str, JSON] = {}
    required: list[JSON] = []
    for key, kind in fields.items():
        if isinstance(kind, str) and kind.endswith("!"):
            required.append(key)
            kind = kind.removesuffix("!")
        properties[key] = kind if isinstance(kind, dict) else {"type": kind}
        for word in () if isinstance(kind, dict) else (kind if isinstance(kind, list) else [kind]):
            if word not in _TYPES:
                raise InvalidSuite(f"{source} [tools.{name}] {key}", f"one of {', '.join(sorted(_TYPES))}", repr(word))
    return Tool(name, "", {"type": "object", "properties": properties, "required": required})


def _common_tools() -> dict[str, Tool]:
    path = folder() / "tools.toml"
    return read_tools(_loaded(path)[1], path.name)


def _loaded(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_bytes().decode().replace("\r\n", "\n")
        return text, tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSuite(str(path), "a file that can be read", str(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidSuite(path.name, "TOML", str(error)) from None


def _lines_of(text: str, heading: str) -> list[int]:
    return [k for k, line in enumerate(text.split("\n"), 1) if line.startswith(heading)]


def _lacks(value: Mapping[str, Any], source: str, present: Sequence[str]) -> dict[str, str]:
    """The reason for each scenario that there is none of; a group leaves out those that are `present`."""
    lacks: dict[str, str] = {}
    for name, reason in value.items():
        if name in present:
            raise InvalidSuite(f"{source} [lacks]", f"cases of {name} or a reason for having none", "both")
        if name not in SCENARIOS and name not in GROUPS:
            raise InvalidSuite(f"{source} [lacks]", f"a scenario, or one of {', '.join(GROUPS)}", repr(name))
        if not isinstance(reason, str) or not reason:
            raise InvalidSuite(f"{source} [lacks] {name}", "the reason in words", repr(reason))
        lacks |= {scenario: reason for scenario in GROUPS.get(name, (name,)) if scenario not in present}
    return lacks


def _case(scenario: str, where: str, table: Mapping[str, Any], tools: Mapping[str, Tool], dialect: Dialect) -> Case:
    def one_of(field: str, value: object, known: Sequence[str]) -> None:
        if value not in known:
            raise InvalidSuite(f"{where} {field}", f"one of {', '.join(known)}", repr(value))

    for field in table:
        one_of("has the field", field, sorted(_FIELDS))
    text, expect = table.get("text"), table.get("expect")
    if not isinstance(text, str) or not isinstance(expect, list):
        raise InvalidSuite(where, "text = '…' and expect = […]", f"text = {text!r} and expect = {expect!r}")
    problems, start, reason = table.get("problems", []), table.get("start", START), table.get("reason", "stop")
    for kind in problems:
        one_of("problems", kind, [kind.value for kind in ProblemKind])
    one_of("start", start, dialect.starts)
    one_of("reason", reason, tuple(_REASONS))
    chosen = table.get("tools", tuple(tools))
    for name in chosen:
        one_of("tools", name, tuple(tools))
    stop = table.get("stop")
    if stop is not None or (scenario == "stop_marker" and dialect.stops):
        one_of("stop", stop, dialect.stops)
    parts = tuple(_part(line, where) for line in expect)
    return Case(
        *(scenario, where, text, parts, tuple(problems), start, _REASONS[reason]),
        *(tuple(tools[name] for name in chosen), stop),
        *(str(table.get(field, "")) for field in ("fails", "title")),
    )


def _part(line: object, where: str) -> Part:
    part = read_part(line) if isinstance(line, str) else None
    if part is None:
        raise InvalidSuite(f"{where} expect", f"a line such as {NOTATION}", repr(line))
    return part
