"""What an upstream pushes: values to build, to cut, and to feed to a normaliser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from dragoman import Dialect, Message
from dragoman.events import Event
from dragoman.stream.normalize import Normalizer
from dragoman.types import TextPart, ThinkingPart, ToolCall
from tests.streams import cut

some = settings(max_examples=max(16, settings().max_examples * 4))
"""For properties over all dialects, which must be compiled: at least sixteen, or four times what the profile says."""


class Text(Struct, frozen=True):
    text: str


class Reasoning(Struct, frozen=True):
    text: str


class Call(Struct, frozen=True):
    index: int
    name: str = ""
    text: str = ""
    id: str | None = None


Push = Text | Reasoning | Call


def push(normalizer: Normalizer, one: Push) -> list[Event]:
    match one:
        case Text():
            return normalizer.push_text(one.text)
        case Reasoning():
            return normalizer.push_reasoning(one.text)
        case Call():
            return normalizer.push_call(one.index, id=one.id, name=one.name, arguments=one.text)


def push_all(normalizer: Normalizer, pushes: Iterable[Push]) -> list[Event]:
    return [event for one in pushes for event in push(normalizer, one)]


def normalized(dialect: str | Dialect, *pushes: Push, reason: str | None = "stop") -> list[Event]:
    """All events of an output."""
    normalizer = Normalizer(dialect)
    return push_all(normalizer, pushes) + normalizer.finish(reason)


def pieces(one: Push, places: Sequence[int] | None = None) -> list[Push]:
    """A push in pieces: cut at these places, or into characters; the head of a call comes with its first characters."""
    texts = list(one.text) if places is None else [text for text in cut(one.text, places) if text]
    texts = texts or [""]
    first = replace(one, text=texts[0])
    more = [replace(one, text=text) for text in texts[1:]]
    return [first, *(replace(each, name="", id=None) if isinstance(each, Call) else each for each in more)]


def spelled(pushes: Iterable[Push]) -> str:
    """All the characters that spans count."""
    return "".join(one.name + one.text if isinstance(one, Call) else one.text for one in pushes)


def clean(message: Message) -> list[Push]:
    """What an upstream without fault makes of a message."""
    pushes: list[Push] = []
    for k, part in enumerate(message.parts):
        match part:
            case TextPart():
                pushes.append(Text(part.text))
            case ThinkingPart():
                pushes.append(Reasoning(part.text))
            case ToolCall():
                pushes.append(Call(k, part.name, part.arguments, part.id or f"call_{k}"))
            case _:
                raise AssertionError(part)
    return pushes


def calls() -> st.SearchStrategy[Push]:
    """Deltas of calls, most of them broken."""
    arguments = st.sampled_from(["", "{}", '{"a": ', "[1", "]}", "1}", "{", " ", "x", '"', "12", '{"b": "{"}', "null"])
    names = st.sampled_from(["", "", "", "f", "g"])
    return st.builds(Call, st.integers(0, 2), names, arguments, st.sampled_from([None, None, "a", "b"]))


def texts(dialect: Dialect) -> st.SearchStrategy[str]:
    """Prose with markup of the dialect in it, whole and cut."""
    marks = [*dialect.marks, *dialect.stops, "<think>", "</think>"]
    written = [example.text for example in dialect.examples]
    fragments = st.sampled_from([*marks, *written, "a", " ", "\n", "`", "```\n", "<", '{"name": "f"', "}", "é"])
    cut_off = st.tuples(fragments, st.integers(0, 99)).map(lambda pair: pair[0][: 1 + pair[1] % len(pair[0])])
    return st.lists(fragments | cut_off, min_size=1, max_size=5).map("".join)


def outputs(dialect: Dialect) -> st.SearchStrategy[list[Push]]:
    """Pushes of all kinds, in any order."""
    return st.lists(st.builds(Text, texts(dialect)) | st.builds(Reasoning, texts(dialect)) | calls(), max_size=7)
