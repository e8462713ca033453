from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.render.trim import lstripped, rstripped, stripped, without_thoughts
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall

CALL = ToolCall("f", "{}")


def said(*texts: str) -> Message:
    return Message("assistant", tuple(map(TextPart, texts)))


@given(st.lists(st.text(" \na", max_size=3)))
def test_neighbouring_texts_are_stripped_as_one(texts: list[str]) -> None:
    whole = "".join(texts)
    assert stripped(said(*texts)).text == whole.strip()
    assert lstripped(said(*texts), chars="\n").text == whole.lstrip("\n")
    assert rstripped(said(*texts)).text == whole.rstrip()


def test_parts_keep_their_numbers() -> None:
    message = Message("assistant", (ThinkingPart(" a "), TextPart(" "), TextPart(" b "), CALL), "me", "id")
    assert stripped(message).parts == (ThinkingPart(" a "), TextPart(""), TextPart("b"), CALL)
    assert stripped(message, ThinkingPart).parts[0] == ThinkingPart("a")
    assert without_thoughts(message).parts == (ThinkingPart(""), *message.parts[1:])
    assert (without_thoughts(message).name, stripped(message).call_id) == ("me", "id")


def test_texts_apart_are_stripped_apart() -> None:
    message = Message("assistant", (TextPart(" a "), CALL, TextPart(" b ")))
    assert stripped(message).parts == (TextPart("a"), CALL, TextPart("b"))
