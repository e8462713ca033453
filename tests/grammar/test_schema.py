"""Which JSON types a schema allows, and what is said of one that can't be read."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dragoman.errors import InvalidTool
from dragoman.grammar.schema import NO_TOOLS, Toolbox, ToolShape, kinds_of, shape_of
from dragoman.types import JSON, Tool

ADDRESS: Mapping[str, JSON] = {"$defs": {"n": {"type": "integer"}, "a/b~c": {"type": "array"}}}


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["integer", "null"]}, "integer null"),
        ({"type": ("number",)}, "number"),
        ({"properties": {}}, "object"),
        ({"items": {}}, "array"),
        ({"enum": ["a", 1, 0.5, None, True, [], {}]}, "string integer number null boolean array object"),
        ({"type": ["string", "null"], "enum": ["a", "b"]}, "string"),
        ({"const": "on"}, "string"),
        ({"const": None}, "null"),
        ({"type": "number", "const": 1}, "integer"),
        ({"type": "string", "nullable": True}, "string null"),
        ({"type": "string", "nullable": False}, "string"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string integer"),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, "string null"),
        ({"anyOf": [{"type": "string"}, False]}, "string"),
        ({"type": ["string", "null"], "anyOf": [{"type": "string"}, {"type": "integer"}]}, "string"),
        ({"allOf": [{"type": ["string", "null"]}, {"type": ["null", "array"]}]}, "null"),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, "integer"),
        ({"allOf": [{}, {"type": "string"}]}, "string"),
        ({"$ref": "#/$defs/n", **ADDRESS}, "integer"),
        ({"$ref": "#/$defs/a~1b~0c", **ADDRESS}, "array"),
        ({"$ref": "#/anyOf/0", "anyOf": [{"type": "string"}]}, "string"),
    ],
)
def test_a_schema_allows_these_types(schema: Mapping[str, JSON], kinds: str) -> None:
    assert kinds_of(schema) == frozenset(kinds.split())


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"description": "anything"},
        {"nullable": True},
        {"minimum": 3},
        {"anyOf": [{"type": "string"}, {}]},
        {"anyOf": [{"type": "string"}, True]},
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
    ],
)
def test_a_schema_that_names_no_type_allows_all(schema: Mapping[str, JSON]) -> None:
    assert kinds_of(schema) is None


def test_a_recursive_type_is_what_its_definition_says() -> None:
    node: JSON = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}}}
    assert kinds_of({"$ref": "#/$defs/node", "$defs": {"node": node}}) == {"object"}


class Counted(dict[str, JSON]):
    """A schema that says how often it was looked into, and soon has enough."""

    reads = 0

    def get(self, key: str, default: JSON = None) -> JSON:  # type: ignore[override]
        self.reads += 1
        assert self.reads < 10_000, "a schema is read again and again"
        return super().get(key, default)


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
def test_a_schema_that_refers_to_itself_twice_is_read_in_bounded_time(word: str) -> None:
    kinds_of(Counted({word: [{"$ref": "#"}, {"$ref": "#"}]}))


def test_parameters_that_refer_to_themselves_twice_are_read_in_bounded_time() -> None:
    shape_of(Tool("f", "", Counted({"allOf": [{"$ref": "#"}, {"$ref": "#"}]})))


@pytest.mark.parametrize(
    ("schema", "where", "expected"),
    [
        ({"type": "text"}, "schema.type", "one or several JSON types"),
        ({"type": 3}, "schema.type", "one or several JSON types"),
        ({"type": ["string", 3]}, "schema.type", "one or several JSON types"),
        ({"type": [{}]}, "schema.type", "one or several JSON types"),
        ({"enum": "abc"}, "schema.enum", "a list"),
        ({"anyOf": {}}, "schema.anyOf", "a list"),
        ({"anyOf": [{}, {"type": "text"}]}, "schema.anyOf[1].type", "one or several JSON types"),
        ({"allOf": [3]}, "schema.allOf[0]", "a JSON Schema"),
        ({"$ref": 3}, "schema.$ref", "a reference into the same document ('#/...')"),
        ({"$ref": "other.json"}, "schema.$ref", "a reference into the same document ('#/...')"),
        ({"$ref": "#/$defs/n"}, "schema.$ref", "a reference to something that is there"),
        ({"$ref": "#/anyOf/1", "anyOf": [{}]}, "schema.$ref", "a reference to something that is there"),
        ({"$ref": "#/anyOf/²", "anyOf": [{}]}, "schema.$ref", "a reference to something that is there"),
        ({"$ref": "#/anyOf/x", "anyOf": [{}]}, "schema.$ref", "a reference to something that is there"),
        ({"$ref": "#/$defs/n", "$defs": {"n": {"type": "x"}}}, "schema.$ref.type", "one or several JSON types"),
    ],
)
def test_a_schema_that_cannot_be_read_is_refused_with_the_path(
    schema: Mapping[str, JSON], where: str, expected: str
) -> None:
    with pytest.raises(InvalidTool) as caught:
        kinds_of(schema)
    assert (caught.value.where, caught.value.expected) == (where, expected)


# The shape of a tool


def told(shape: ToolShape) -> tuple[str, Mapping[str, frozenset[str] | None], frozenset[str], bool]:
    """What a tool's shape says of the arguments themselves."""
    return shape.name, shape.arguments, shape.required, shape.open


def test_a_tool_is_its_arguments_which_are_required_and_whether_there_may_be_others() -> None:
    parameters: Mapping[str, JSON] = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": ["integer", "null"]}, "more": True, "never": False},
        "required": ["city"],
        "additionalProperties": False,
    }
    arguments = {
        "city": frozenset(["string"]),
        "days": frozenset(["integer", "null"]),
        "more": None,
        "never": frozenset[str](),
    }
    assert told(shape_of(Tool("f", "", parameters))) == ("f", arguments, frozenset(["city"]), False)


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object"}, {"type": ["object", "null"]}])
def test_a_tool_that_declares_no_arguments_is_open(parameters: Mapping[str, JSON] | None) -> None:
    assert told(shape_of(Tool("f", "", parameters))) == ("f", {}, frozenset(), True)


def test_the_parts_of_an_object_are_put_together() -> None:
    parameters: Mapping[str, JSON] = {
        "$ref": "#/$defs/base",
        "allOf": [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}, True],
        "properties": {"a": {"type": "string"}},
        "$defs": {"base": {"properties": {"c": {"$ref": "#/$defs/kind"}}}, "kind": {"enum": ["x", "y"]}},
    }
    arguments = {"a": frozenset(["string"]), "c": frozenset(["string"]), "b": frozenset(["integer"])}
    assert told(shape_of(Tool("f", "", parameters))) == ("f", arguments, frozenset(["b"]), True)


@pytest.mark.parametrize("parameters", [{"$ref": "#"}, {"$ref": "#/$defs/a", "$defs": {"a": True}}])
def test_parameters_may_refer_to_themselves_or_to_nothing_in_particular(parameters: Mapping[str, JSON]) -> None:
    assert told(shape_of(Tool("f", "", parameters))) == ("f", {}, frozenset(), True)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"type": "string"}, "tool 'f': parameters.type should be 'object', found 'string'"),
        ({"properties": []}, "tool 'f': parameters.properties should be an object, found []"),
        ({"properties": {"a": 3}}, "tool 'f': parameters.properties.a should be a JSON Schema, found 3"),
        ({"required": "a"}, "tool 'f': parameters.required should be a list of names, found 'a'"),
        ({"required": [1]}, "tool 'f': parameters.required should be a list of names, found [1]"),
        ({"allOf": {}}, "tool 'f': parameters.allOf should be a list, found {}"),
        (
            {"allOf": [{"properties": {"a": {"type": "x"}}}]},
            "tool 'f': parameters.allOf[0].properties.a.type should be one or several JSON types, found 'x'",
        ),
    ],
)
def test_parameters_that_cannot_be_read_are_refused_with_the_path(parameters: Mapping[str, JSON], message: str) -> None:
    with pytest.raises(InvalidTool) as caught:
        shape_of(Tool("f", "", parameters))
    assert str(caught.value) == message


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidTool, match="tool 'f': name should be a name that no other tool has, found 'f'"):
        Toolbox.of([Tool("f"), Tool("g"), Tool("f")])


def test_no_tools_at_all_is_not_the_same_as_an_empty_list_of_them() -> None:
    assert (NO_TOOLS.known, Toolbox.of([]).known) == (False, True)


# What is said of places inside


def place(schema: JSON, *path: str | int) -> frozenset[str] | None:
    """The types at a path into the arguments, whose schema this is."""
    shape = shape_of(Tool("f", "", {"properties": {"at": schema}, **ADDRESS})).inside.member("at")
    for step in path:
        shape = shape.item(step) if isinstance(step, int) else shape.member(step)
    return shape.kinds


NUMBERS: JSON = {"type": "array", "items": {"type": "number"}}


@pytest.mark.parametrize(
    ("schema", "path", "kinds"),
    [
        ({"type": "string"}, (), "string"),
        ({"properties": {"a": {"properties": {"b": {"type": "null"}}}}}, ("a", "b"), "null"),
        ({"properties": {"a": {"$ref": "#/$defs/n"}}}, ("a",), "integer"),
        ({"$ref": "#/properties/at/$defs/x", "$defs": {"x": NUMBERS}}, (7,), "number"),
        ({"additionalProperties": {"type": "boolean"}, "properties": {"a": {"type": "null"}}}, ("b",), "boolean"),
        ({"additionalProperties": {"type": "boolean"}, "properties": {"a": {"type": "null"}}}, ("a",), "null"),
        ({"additionalProperties": False}, ("a",), None),
        (NUMBERS, (0,), "number"),
        ({"prefixItems": [{"type": "null"}], "items": {"type": "string"}}, (0,), "null"),
        ({"prefixItems": [{"type": "null"}], "items": {"type": "string"}}, (1,), "string"),
        ({"items": [{"type": "null"}], "additionalItems": {"type": "string"}}, (0,), "null"),
        ({"items": [{"type": "null"}], "additionalItems": {"type": "string"}}, (1,), "string"),
        ({"items": False, "prefixItems": [{"type": "null"}]}, (1,), None),
        ({"anyOf": [NUMBERS, {"type": "null"}]}, (0,), "number"),
        ({"anyOf": [NUMBERS, {"items": {"type": "null"}}]}, (0,), "number null"),
        ({"allOf": [{"oneOf": [NUMBERS]}, True]}, (0,), "number"),
        ({"allOf": [{"items": {}}, NUMBERS]}, (0,), "number"),
        (NUMBERS, ("a",), None),
        ({}, ("a", 0, "b"), None),
        (True, ("a",), None),
        ({"properties": {"a": False}}, ("a",), ""),
        # What can't be read says nothing.
        ({"properties": {"a": {"type": "text"}}}, ("a",), None),
        ({"properties": {"a": 3}}, ("a",), None),
        ({"properties": 3, "items": 3, "prefixItems": 3}, ("a", 0), None),
        ({"properties": {"a": {"$ref": "#/nowhere"}}}, ("a", "b"), None),
    ],
)
def test_a_place_has_the_types_that_the_schemas_there_allow(
    schema: JSON, path: tuple[str | int, ...], kinds: str | None
) -> None:
    assert place(schema, *path) == (frozenset(kinds.split()) if kinds is not None else None)


def test_a_schema_that_holds_itself_is_descended_as_deep_as_one_likes() -> None:
    node: JSON = {"type": "object", "properties": {"next": {"$ref": "#"}, "all": {"items": {"$ref": "#"}}}}
    shape = shape_of(Tool("f", "", node)).inside  # type: ignore[arg-type]
    for _ in range(10_000):
        shape = shape.member("next").member("all").item(3)
    assert shape.kinds == {"object"}
    assert len(shape._known) <= 8


def test_places_beyond_the_limit_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.grammar.schema.SHAPES_LIMIT", 0)
    assert place({"properties": {"a": NUMBERS}}, "a", 0) == {"number"}


def test_what_is_done_to_a_schema_later_does_not_show() -> None:
    inner: dict[str, JSON] = {"type": "integer"}
    shape = shape_of(Tool("f", "", {"properties": {"a": {"properties": {"b": inner}}}})).inside
    inner["type"] = "string"
    assert shape.member("a").member("b").kinds == {"integer"}


def test_parameters_that_are_no_json_are_refused() -> None:
    with pytest.raises(InvalidTool, match="parameters should be a value that JSON can write"):
        shape_of(Tool("f", "", {"default": object()}))  # type: ignore[dict-item]


def test_places_are_equal_if_their_schemas_are() -> None:
    one, other = (shape_of(Tool("f", "", {"properties": {"a": NUMBERS}})) for _ in range(2))
    assert one == other
    assert one.inside != other.inside.member("a")
    assert one.inside != 3
