"""Arguments as a tree of elements: objects and arrays by the schema at their path, leaves too."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Parser, Tool
from dragoman.events import ArgumentsDelta, CallEnd, CallStatus, Event, Problem
from dragoman.grammar import build as b
from dragoman.grammar.json import DEPTH_LIMIT
from dragoman.grammar.steps import Step
from dragoman.testing import PROMISES, Trial
from dragoman.types import JSON, ToolCall
from tests.grammar.markups import TAG, dsml, minimax, own
from tests.regressions.reading import Read, call, read, tool, unread

MINIMAX = minimax()


def invoke(inside: str) -> str:
    """A call with this inside, where ``@`` stands for the token."""
    return f'@<invoke name="f">{inside}@</invoke>'.replace("@", TAG)


def streamed(events: list[Event]) -> str:
    return "".join(event.json for event in events if isinstance(event, ArgumentsDelta))


POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "name": {"type": "string"}}}
TOOL = tool(
    "f",
    s="string",
    n="integer",
    point=POINT,
    points={"type": "array", "items": POINT},
    map={"type": "object", "additionalProperties": {"type": "number"}},
    either={"anyOf": [{"type": "null"}, POINT]},
    any={},
)


# Objects and arrays


@pytest.mark.parametrize(
    ("inside", "arguments"),
    [
        ("", "{}"),
        ("@<s>a <b> </c>\n@</s>", '{"s": "a <b> </c>\\n"}'),
        ("@<n>12@</n>@<s>12@</s>", '{"n": 12, "s": "12"}'),
        ("@<point>@<x>1@</x>@<name>2@</name>@</point>", '{"point": {"x": 1, "name": "2"}}'),
        ("\n@<point>\n  @<x>1@</x>\n@</point>\n", '{"point": {"x": 1}}'),
        ("@<points>@<item>@<x>1@</x>@</item>@<item>@<x>2@</x>@</item>@</points>", '{"points": [{"x": 1}, {"x": 2}]}'),
        ("@<map>@<a>1@</a>@<b>0.5@</b>@</map>", '{"map": {"a": 1, "b": 0.5}}'),
        ("@<either>@<x>1@</x>@</either>@<n>3@</n>", '{"either": {"x": 1}, "n": 3}'),
        ("@<either>null@</either>", '{"either": null}'),
        # What no schema speaks of: an array if its first child is an item.
        ("@<any>@<item>1@</item>@<item>@<a>2@</a>@</item>@</any>", '{"any": ["1", {"a": "2"}]}'),
        ("@<any>@<a>1@</a>@<item>2@</item>@</any>", '{"any": {"a": "1", "item": "2"}}'),
        # An object or array may also be written as JSON, and be empty.
        ('@<point>{"x": 1}@</point>@<points>[]@</points>', '{"point": {"x": 1}, "points": []}'),
        (
            "@<point>@</point>@<points> @</points>@<any>@</any>@<s>@</s>",
            '{"point": {}, "points": [], "any": "", "s": ""}',
        ),
        ("@<points>@<item>@</item>@</points>", '{"points": [{}]}'),
        # Any closing tag closes the innermost element.
        ("@<point>@<x>1@</y>@</z>@<n>1@</n>", '{"point": {"x": 1}, "n": 1}'),
    ],
)
def test_a_tree_of_elements_becomes_json_by_the_schema(inside: str, arguments: str) -> None:
    assert read(MINIMAX, invoke(inside), tools=[TOOL]) == Read((call("f", arguments),), (), "tool_calls")


@pytest.mark.parametrize(
    ("inside", "arguments"),
    [
        ("@<a>1@</a>@<b>@<item>1@</item>@</b>", '{"a": "1", "b": ["1"]}'),
        ("@<a>@<b>@<c>1@</c>@</b>@</a>", '{"a": {"b": {"c": "1"}}}'),
        ("@<item>1@</item>", '{"item": "1"}'),
    ],
)
def test_without_a_schema_leaves_are_strings(inside: str, arguments: str) -> None:
    assert read(MINIMAX, invoke(inside)) == Read((call("f", arguments),), (), "tool_calls")


@pytest.mark.parametrize(
    ("inside", "arguments", "problem"),
    [
        ("@<point>@<x>one@</x>@</point>", '{"point": {"x": "one"}}', ("wrong_type", "point.x")),
        ("@<points>@<item>@</item>@<item>1@</item>@</points>", '{"points": [{}, "1"]}', ("wrong_type", "points[1]")),
        ("@<point>@<name>@<a>1@</a>@</name>@</point>", '{"point": {"name": {"a": "1"}}}', ("wrong_type", "point.name")),
        ("@<s>@<item>1@</item>@</s>", '{"s": ["1"]}', ("wrong_type", "s")),
        ("@<n>@</n>", '{"n": ""}', ("wrong_type", "n")),
        ("@<point>@<x>1@</x>@<x>2@</x>@</point>", '{"point": {"x": 1, "x": 2}}', ("repeated_argument", "point.x")),
        ("@<s>1@</s>@<s>2@</s>", '{"s": "1", "s": "2"}', ("repeated_argument", "s")),
        ("@<points>@<x>1@</x>@</points>", '{"points": ["1"]}', ("unknown_argument", "points[0].x")),
    ],
)
def test_what_differs_from_the_schema_is_noted_with_its_path(
    inside: str, arguments: str, problem: tuple[str, str]
) -> None:
    found = read(MINIMAX, invoke(inside), tools=[TOOL])
    assert found.parts == (call("f", arguments),)
    assert problem in found.problems


def test_the_same_key_in_two_objects_is_not_given_twice() -> None:
    inside = "@<points>@<item>@<x>1@</x>@</item>@<item>@<x>1@</x>@</item>@</points>@<point>@<x>1@</x>@</point>"
    assert read(MINIMAX, invoke(inside), tools=[TOOL]).problems == ()


@pytest.mark.parametrize("inside", ["@<a>text@<b>1@</b>@</a>", "@<a>@<b>1@</b>text@</a>", "@<a>1@<", "@<a></b>@<"])
def test_text_beside_elements_breaks_the_call(inside: str) -> None:
    found = read(MINIMAX, invoke(inside))
    assert found.parts == (unread(invoke(inside), "f"),)


def test_an_object_is_published_as_it_comes() -> None:
    parser = Parser(MINIMAX, [TOOL])
    pieces = ['@<invoke name="f">@<points>', "\n@<item>", "@<name>", "a", "b", "@</name>", "@</item>", "@</points>"]
    pieces = [piece.replace("@", TAG) for piece in pieces]
    told = [streamed(parser.feed(piece)) for piece in pieces]
    assert told == ['{"points": ', "[", '{"name": ', '"a', "b", '"', "}", "]"]


# Depth


@pytest.mark.parametrize("deeper", [0, 1, 1000, 20_000])
@pytest.mark.parametrize("name", ["a", "item"])
def test_deeper_than_json_may_be_is_malformed(name: str, deeper: int) -> None:
    depth = DEPTH_LIMIT - 1 + deeper
    whole = invoke(f"@<{name}>" * depth + "@<leaf>1@</leaf>" + f"@</{name}>" * depth)
    parser = Parser(MINIMAX)
    events = parser.feed(whole) + parser.finish("stop")
    (end,) = [event for event in events if isinstance(event, CallEnd)]
    if deeper:
        assert end.status is CallStatus.MALFORMED
        assert [event.detail for event in events if isinstance(event, Problem)] == ["nested too deeply"]
    else:
        assert end.status is CallStatus.COMPLETE
        assert json.loads(streamed(events))


# Choices that go back


def test_members_that_are_tried_and_given_up_leave_no_trace() -> None:
    nested = b.argument_members(b.key("a") + "=" + b.value(";") + ";", item="item")
    inside = b.choice("(" + nested + ")!", "(" + b.value("?") + "?")
    back = own("back", b.call("@", b.name("f"), b.argument_members(b.key(b.chars("k")) + inside), close="."), "@")
    for text, arguments in (("@fk(a=1;)!.", '{"k": {"a": "1"}}'), ("@fk(a=1;)?.", '{"k": "a=1;)"}')):
        for cut in range(len(text)):
            machine = back.machine()
            events = machine.feed(text[:cut])
            twin = machine.copy()
            machine.feed("x;y")
            events += twin.feed(text[cut:]) + twin.finish("stop")
            assert streamed(events) == arguments
            assert events[-1].problems == ()


def test_arguments_that_are_given_twice_break_the_call() -> None:
    members = b.argument_members(b.key("k") + "=" + b.value(";") + ";")
    twice = own("twice", b.call("@", b.name("f"), b.commit(), members, members, close=".", closers=(".",)), "@")
    assert read(twice, "@fk=1;k=2;.").parts == (unread("@fk=1;k=2;.", "f"),)


# Any tree

NAMES = st.sampled_from(["a", "b", "item", "x y", 'k"'])
LEAVES: st.SearchStrategy[tuple[JSON, JSON]] = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(lambda text: (text, {"type": "string"})),
    st.integers().map(lambda number: (number, {"type": "integer"})),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: (number, {"type": "number"})),
    st.booleans().map(lambda word: (word, {"type": ["boolean", "null"]})),
    st.just((None, {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/other"}]})),
    st.text("abc", max_size=3).map(lambda text: (text, {})),
)


def boxes(inner: st.SearchStrategy[tuple[JSON, JSON]]) -> st.SearchStrategy[tuple[JSON, JSON]]:
    members = st.dictionaries(NAMES, inner, max_size=3)
    return st.one_of(
        members.map(lambda found: ({key: value for key, (value, _) in found.items()}, object_of(found))),
        st.lists(inner, max_size=3).map(
            lambda found: (
                [value for value, _ in found],
                {"type": "array", "prefixItems": [schema for _, schema in found], "items": False},
            )
        ),
    )


def object_of(members: dict[str, tuple[JSON, JSON]]) -> JSON:
    return {"type": "object", "properties": {key: schema for key, (_, schema) in members.items()}}


HEAD, TAIL = f'{TAG}<invoke name="f">', f"{TAG}</invoke>"
TREES = st.recursive(LEAVES, boxes, max_leaves=12)


def written(value: JSON) -> str:
    """A value as elements; a text that is blank, or begins as markup, stands for itself."""
    match value:
        case dict():
            return "".join(f"{TAG}<{key}>{written(inner)}{TAG}</{key}>" for key, inner in value.items())
        case list():
            return "".join(f"{TAG}<item>{written(inner)}{TAG}</item>" for inner in value)
        case str():
            return value
        case _:
            return json.dumps(value)


@given(st.dictionaries(NAMES, TREES, max_size=3), st.integers())
def test_what_is_written_as_elements_is_read_as_it_was(members: dict[str, tuple[JSON, JSON]], seed: int) -> None:
    schema = object_of(members) | {"$defs": {"other": {"type": "integer"}}}  # type: ignore[operator]
    arguments = {key: value for key, (value, _) in members.items()}
    trial = Trial(MINIMAX, HEAD + written(arguments) + TAIL, (Tool("f", "", schema),))
    found = read(MINIMAX, trial.text, tools=trial.tools)
    (part,) = found.parts
    assert isinstance(part, ToolCall)
    assert json.loads(part.arguments) == arguments
    assert found.problems == ()
    for promise in PROMISES.values():
        promise(trial, Random(seed))


SCRAPS = [
    "@<a>",
    "@<item>",
    "@<point>",
    "@<points>",
    "@</a>",
    "@</invoke>",
    "@<",
    "@",
    "1",
    "text",
    "\n",
    '{"x": 1}',
    "[",
]
TEXTS = st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join)


@given(TEXTS, st.sampled_from([(), (TOOL,)]), st.integers())
def test_any_text_keeps_every_promise(text: str, tools: tuple[Tool, ...], seed: int) -> None:
    trial = Trial(MINIMAX, invoke(text), tools)
    for promise in PROMISES.values():
        promise(trial, Random(seed))


# Arguments in one argument

DSML = dsml()
WRAPPED = [tool("f", required=["k"], k="string")]


def parameters(*pairs: tuple[str, str], string: str = "false") -> str:
    inside = "".join(f'<parameter name="{key}" string="{string}">{value}</parameter>' for key, value in pairs)
    return f'<invoke name="f">{inside}</invoke>'


@pytest.mark.parametrize("key", ["arguments", "input"])
@pytest.mark.parametrize("string", ["false", "true"])
def test_an_object_that_is_all_of_the_arguments_is_unwrapped(key: str, string: str) -> None:
    whole = parameters((key, ' {"k": "a", "n": [1]}\n'), string=string)
    expected = Read(
        (call("f", '{"k": "a", "n": [1]}'),), (("unknown_argument", key), ("unknown_argument", "n")), "tool_calls"
    )
    assert read(DSML, whole, tools=WRAPPED) == expected


@pytest.mark.parametrize("tools", [None, [tool("g")], [tool("f", arguments="object")]])
def test_it_is_not_unwrapped_where_the_tool_has_such_an_argument_or_is_not_known(tools: list[Tool] | None) -> None:
    found = read(DSML, parameters(("arguments", '{"k": "a"}')), tools=tools)
    assert found.parts == (call("f", '{"arguments": {"k": "a"}}'),)


@pytest.mark.parametrize(
    ("value", "json"), [("[1]", "[1]"), ("12", "12"), ("text", '"text"'), ("", '""'), ('"{}"', '"{}"')]
)
def test_what_is_no_object_stays_an_argument(value: str, json: str) -> None:
    found = read(DSML, parameters(("input", value), ("k", '"a"')), tools=WRAPPED)
    assert found.parts == (call("f", f'{{"input": {json}, "k": "a"}}'),)
    assert ("unknown_argument", "input") in found.problems


def test_only_the_first_argument_is_unwrapped() -> None:
    found = read(DSML, parameters(("k", '"a"'), ("input", '{"k": 1}')), tools=WRAPPED)
    assert found == Read((call("f", '{"k": "a", "input": {"k": 1}}'),), (("unknown_argument", "input"),), "tool_calls")


def test_an_argument_behind_all_of_them_breaks_the_call() -> None:
    whole = parameters(("input", '{"k": "a"}'), ("k", '"b"'))
    assert read(DSML, whole, tools=WRAPPED) == Read(
        (unread(whole, "f"),), (("unknown_argument", "input"), ("malformed", whole))
    )


def test_what_is_unwrapped_is_published_as_it_comes() -> None:
    parser = Parser(DSML, WRAPPED)
    parser.feed('<invoke name="f"><parameter name="input" string="false">')
    assert [streamed(parser.feed(piece)) for piece in ('{"k"', ': "a', "b")] == ['{"k"', ': "a', "b"]


def test_elements_in_an_argument_that_the_tool_does_not_have_are_its_value() -> None:
    nested = b.argument_members(b.key("a") + "=" + b.value(";") + ";", item="item")
    members = b.argument_members(b.key("input") + "(" + nested + ")", unwrap=("input",))
    inner = own("inner", b.call("@", b.name("f"), b.commit(), members, close="."), "@")
    found = read(inner, "@finput(a=1;).", tools=WRAPPED)
    assert found.parts == (call("f", '{"input": {"a": "1"}}'),)


# Cost

DEEP = "@<a>" * 50 + "1" + "@</a>" * 50


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize(
    "unit",
    ["@<a>1@</a>", "@<item>@<a>1@</a>@</item>", "@<a>", "@</a>", "@<a>@</a>", "\n", DEEP],
)
def test_many_elements_cost_in_proportion(unit: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def counted(run):  # type: ignore[no-untyped-def]
        def wrapped(self, machine):  # type: ignore[no-untyped-def]
            nonlocal steps
            steps += 1 + len(machine.text) - machine.at
            return run(self, machine)

        return wrapped

    for kind in kinds_of_steps(Step):
        if "run" in kind.__dict__:
            monkeypatch.setattr(kind, "run", counted(kind.__dict__["run"]))

    def cost(count: int) -> int:
        nonlocal steps
        steps = 0
        parser, whole = Parser(MINIMAX, [TOOL]), ('@<invoke name="f">@<list>' + unit * count).replace("@", TAG)
        for at in range(0, len(whole), size):
            parser.feed(whole[at : at + size])
            assert parser.held <= parser.hold_bound
        parser.finish("stop")
        return steps

    once, twice = cost(3000 // len(unit)), cost(2 * (3000 // len(unit)))
    assert twice <= 2.2 * once + 2000


def kinds_of_steps(kind: type[Step]) -> set[type[Step]]:
    return {kind}.union(*(kinds_of_steps(below) for below in kind.__subclasses__()))
