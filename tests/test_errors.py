"""Exceptions carry facts and say them in one sentence, with the next step where there is one."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from dragoman import errors
from dragoman.errors import (
    AmbiguousDialect,
    DelimiterError,
    DragomanError,
    Inexpressible,
    InvalidDialect,
    InvalidEvent,
    InvalidPrompt,
    InvalidStart,
    InvalidSuite,
    InvalidTokenizer,
    InvalidTool,
    ParserFinished,
    UnknownDialect,
    Unrecognised,
)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (DelimiterError("until()", "a delimiter is empty", "give one"), "a delimiter is empty: in until(); give one"),
        (UnknownDialect("x", ("y", "z"), ("y", "z")), "unknown dialect 'x'; did you mean 'y' or 'z'?"),
        (UnknownDialect("x", (), ("y", "z")), "unknown dialect 'x'; known are y, z"),
        (
            Unrecognised("x", ("name", "file", "id"), (), ("y",)),
            "can't tell the dialect of 'x' by name, file or id; name the dialect",
        ),
        (Unrecognised("x", ("name",), ("y",), ("y",)), "can't tell the dialect of 'x' by name; did you mean 'y'?"),
        (
            AmbiguousDialect("x", (("y", "a"), ("z", "b"))),
            "'x' could be several dialects: y (a); z (b); name the one, or give the model's chat template",
        ),
        (InvalidTokenizer("a.json", "JSON", "nothing"), "a.json: expected JSON, found nothing"),
        (InvalidDialect("a.py", "a Dialect", "nothing"), "a.py: expected a Dialect, found nothing"),
        (InvalidTool("name", "a string", 3), "tool: name should be a string, found 3"),
        (InvalidTool("type", "a word", "x" * 99, "f"), f"tool 'f': type should be a word, found '{'x' * 56}..."),
        (InvalidStart("d", "x", ("a", "b")), "dialect 'd' can't start in 'x'; it can start in a, b"),
        (InvalidSuite("a.toml:3", "a line", "1"), "a.toml:3: expected a line; found 1"),
        (InvalidPrompt("d", "a", "b", "do c"), "dialect 'd': expected a, found b; do c"),
        (Inexpressible("d", 2, "it is empty"), "dialect 'd' can't write part 2 of the message: it is empty"),
        (InvalidEvent("a name", "none"), "a server-sent event needs a name, found none"),
        (ParserFinished(), "the parser has finished: make a new one for new input, or copy() it before finish()"),
    ],
)
def test_an_error_says_what_is_wrong_and_can_be_carried_about(error: DragomanError, sentence: str) -> None:
    assert str(error) == sentence
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(twin), vars(twin), str(twin)) == (type(error), vars(error), sentence)


def test_the_tree_at_the_head_of_the_module_is_the_tree_of_its_classes() -> None:
    assert errors.__doc__ is not None
    drawn = [word for line in errors.__doc__.splitlines() for word in line.split()[:4] if word in errors.__all__]
    assert sorted(drawn) == sorted(errors.__all__)
    classes = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind)}
    assert sorted(classes) == sorted(errors.__all__)
    assert all(issubclass(kind, DragomanError) for kind in classes.values())
