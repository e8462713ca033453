"""Every dialect, written in token ids: text that spells its markers is text, there and back."""

from __future__ import annotations

from json import dumps, loads
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dragoman import Dialect, dialects
from dragoman.parse.assemble import assemble
from dragoman.parse.parser import Parser
from dragoman.render.encode import Encoder
from dragoman.render.page import Page
from dragoman.segments import Kind, Segment
from dragoman.testing import made_up_trial
from dragoman.tokenizers import control_pattern
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Message, Part, TextPart, ThinkingPart, ToolCall
from tests.kinds import each

WRITTEN = [dialect for dialect in dialects() if dialect.speller is not None]


def spelling(message: Message, markers: tuple[str, ...], random: Random) -> Message:
    """The message with markers in its texts, thoughts and arguments."""

    def spelt(text: str) -> str:
        at = random.randint(1, len(text))
        return text[:at] + random.choice(markers) + "x" + text[at:]

    def part_of(part: Part) -> Part:
        match part:
            case TextPart(text=text) | ThinkingPart(text=text):
                return replace(part, text=spelt(text))
            case ToolCall(arguments=arguments):
                values = {
                    key: spelt(value) if isinstance(value, str) and value else value
                    for key, value in loads(arguments).items()
                }
                return replace(part, arguments=dumps(values, ensure_ascii=random.random() < 0.5))
            case _:
                return part

    return replace(message, parts=tuple(map(part_of, message.parts)))


@each(WRITTEN)
@settings(max_examples=max(3, settings().max_examples // 10))
@given(seed=st.integers(0, 1 << 32))
def test_text_that_spells_markers_comes_back_as_text(dialect: Dialect, seed: int) -> None:
    random = Random(seed)
    trial = made_up_trial(dialect, random)
    if trial.message is None:
        return
    markers = tuple(dict.fromkeys((*dialect.marks, *dialect.stops)))
    tokenizer = ByteTokenizer(markers)
    message = spelling(trial.message, markers, random)
    page = Page(dialect, control_pattern(tokenizer))
    page.begin(0, "")
    page.spell(message)
    stops = [Segment(dialect.stops[0], Kind.STOP, control=True)] if dialect.stops else []
    ids, spans = Encoder(tokenizer).encode([*page.segments, *stops])
    parser = Parser(dialect, trial.tools, tokenizer=tokenizer)
    found = assemble(parser.feed_tokens(ids) + parser.finish("stop"))
    assert same(found) == same(message)
    assert [spans[0].start, *(span.end for span in spans)] == [0, *(span.start for span in spans[1:]), len(ids)]


def same(message: Message) -> list[object]:
    """The parts, with arguments as values: how an escape is spelled is not kept everywhere."""
    return [(part.name, loads(part.arguments)) if isinstance(part, ToolCall) else part for part in message.parts]
