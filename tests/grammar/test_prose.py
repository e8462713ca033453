"""Text in which Markdown code quotes markers, and the markers that end the output, which none quotes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Message, TextPart, ToolCall, get_dialect
from dragoman.errors import Inexpressible
from dragoman.events import ContentDelta, Stop, merge
from dragoman.grammar.prose import in_code
from dragoman.parse.parser import Parser
from dragoman.testing import PROMISES, Trial

END, TEXT_END = "<|im_end|>", "<|endoftext|>"


@pytest.mark.parametrize(
    ("text", "shown", "marker"),
    [
        (f"don`t{END}", "don`t", END),
        (f"```\ncode{END}", "```\ncode", END),
        (f"```\ncode{END}\n{TEXT_END}", "```\ncode", END),
        (f"```\n{END} is a marker\n```{END}", f"```\n{END} is a marker\n```", END),
        (f"a `{END}` b{END}", f"a `{END}` b", END),
        (f"`a{END}b", f"`a{END}b", None),
        ("`a<|im_end|", "`a<|im_end|", None),
        (f"`a{4 * END}", f"`a{END}", END),
        (f"`a{END}{17 * ' '}", f"`a{END}{17 * ' '}", None),
    ],
)
def test_what_ends_the_output_ends_it_in_code_too(text: str, shown: str, marker: str | None) -> None:
    for chunks in ([text], list(text)):
        parser = Parser("hermes")
        events = merge([event for chunk in chunks for event in parser.feed(chunk)] + parser.finish("stop"))
        assert "".join(event.text for event in events if isinstance(event, ContentDelta)) == shown
        assert [event.marker for event in events if isinstance(event, Stop)] == [marker]


@given(st.lists(st.sampled_from([END, TEXT_END, END[:4], "`", "``", "```", "\n", " ", "x"]), max_size=12).map("".join))
def test_it_keeps_every_promise(text: str) -> None:
    for promise in PROMISES.values():
        promise(Trial(get_dialect("hermes"), text, reason="stop"), Random(0))


@pytest.mark.parametrize("text", ["`", "a `b", "```\na", "```\na\n``", "~~~ `"])
def test_text_with_open_code_is_not_written_before_a_marker(text: str) -> None:
    assert in_code(text)
    hermes = get_dialect("hermes")
    assert hermes.render(Message("assistant", (TextPart(text),))) == text
    with pytest.raises(Inexpressible, match="open at its end"):
        hermes.render(Message("assistant", (TextPart(text), ToolCall("f", "{}"))))


@pytest.mark.parametrize("text", ["", "a", "`a`", "`a\n", "```\na\n```", "x < y", "```a``` b"])
def test_text_without_open_code_quotes_nothing(text: str) -> None:
    assert not in_code(text)
