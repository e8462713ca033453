"""Segments to ids: joined where a tokenizer joins them, apart where they must be, each token with its owner."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import ControlText
from dragoman.render.encode import CACHED_LENGTH, Encoder, Span
from dragoman.segments import NOBODY, Kind, Segment
from dragoman.tokenizers import Tokenizer, decode, get_tokenizer
from dragoman.tokenizers.bytes import ByteTokenizer
from tests.oracles import loaded
from tests.render.conversations import words

BYTES = ByteTokenizer(("<|a|>", "<|b|>"))


@cache
def o200k() -> Tokenizer:
    return get_tokenizer("o200k_harmony")


def mark(text: str, **fields: object) -> Segment:
    return Segment(text, control=True, **fields)  # type: ignore[arg-type]


def say(text: str, message: int = 0, part: int = 0, **fields: object) -> Segment:
    return Segment(text, Kind.TEXT, message, part, **fields)  # type: ignore[arg-type]


def test_control_tokens_are_the_formats_alone() -> None:
    ids, spans = Encoder(BYTES).encode([mark("<|a|>x"), say("<|a|>"), mark("<|b|>", message=0)])
    assert ids == [256, *b"x<|a|>", 257]
    assert spans == [Span(0, 2, Kind.MARKUP), Span(2, 7, Kind.TEXT, 0, 0), Span(7, 8, Kind.MARKUP, 0)]


def test_pieces_of_a_control_token_do_not_make_one() -> None:
    ids, _ = Encoder(BYTES).encode([mark("<|"), say("a"), mark("|>")])
    assert 256 not in ids


def test_text_is_encoded_as_if_it_were_one() -> None:
    segments = [mark("user\n"), say("\n\nHello wor"), say("ld", 1)]
    ids, spans = Encoder(o200k()).encode(segments)
    assert ids == o200k().encode("user\n\n\nHello world")
    assert [span.end for span in spans] == [len(o200k().encode("user\n\n\n")), len(ids)]


def test_no_token_crosses_where_segments_are_apart() -> None:
    ids, _ = Encoder(o200k()).encode([mark("user\n"), say("\nHello", apart=True)])
    assert ids == o200k().encode("user\n") + o200k().encode("\nHello")


def test_neighbours_of_one_owner_are_one_span() -> None:
    _, spans = Encoder(BYTES).encode([say("a"), say("b"), say("c", 1), mark("<|a|>"), mark("d"), say("", 2)])
    assert [(span.start, span.end, span.message) for span in spans] == [(0, 2, 0), (2, 3, 1), (3, 5, NOBODY)]


def test_a_token_belongs_to_whom_it_begins_in() -> None:
    """Which is the piece that has its first byte, found from either end of the run."""
    pieces = [say("He", 0), say("llo wor", 1), say("ld, this is a long sentence", 2), say(" in", 3), say("deed", 4)]
    for cut in range(1, len(pieces)):
        ids, spans = Encoder(o200k()).encode(pieces[:cut])
        starts: dict[int, int] = {}
        at = 0
        for k, token in enumerate(ids):
            starts[at] = k
            at += len(o200k().token_bytes(token))
        bounds, at = [], 0
        for piece in pieces[:cut]:
            bounds.append(min((k for byte, k in starts.items() if byte >= at), default=len(ids)))
            at += len(piece.text.encode())
        expected = [(a, b) for a, b in zip(bounds, [*bounds[1:], len(ids)], strict=True) if a < b]
        assert [(span.start, span.end) for span in spans] == expected


@given(st.lists(words(edges=True, empty=True, markers=True), max_size=6), st.integers(0, 5))
def test_spans_tile_and_hold_their_own_text(texts: list[str], sampled: int) -> None:
    segments = [say(text, k, sampled=k >= sampled, apart=k == sampled) for k, text in enumerate(texts)]
    ids, spans = Encoder(o200k()).encode(segments)
    assert [0, *(span.end for span in spans)] == [*(span.start for span in spans), len(ids)]
    assert decode(o200k(), ids) == "".join(texts)
    prompt = "".join(texts[:sampled])
    assert (
        decode(o200k(), [token for span in spans if not span.sampled for token in ids[span.start : span.end]]) == prompt
    )


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3", "qwen", "tekken", "llama3"])
@given(st.lists(words(edges=True), min_size=2, max_size=5))
def test_spans_hold_their_own_text_in_any_vocabulary(name: str, texts: list[str]) -> None:
    tokenizer = loaded(name)
    ids, spans = Encoder(tokenizer).encode([say(text, k) for k, text in enumerate(texts)])
    assert ids == tokenizer.encode("".join(texts))
    assert [0, *(span.end for span in spans)] == [*(span.start for span in spans), len(ids)]
    at = 0
    for span in spans:
        begin = sum(len(tokenizer.normalize(text).encode()) for text in texts[: span.message])
        assert begin <= at < begin + len(tokenizer.normalize(texts[span.message]).encode())
        at += sum(len(tokenizer.token_bytes(token)) for token in ids[span.start : span.end])


def test_text_that_spells_a_control_token_may_be_refused() -> None:
    encoder = Encoder(BYTES, refuses=True)
    with pytest.raises(ControlText, match=r"part 1 of message 3 spells the control token '<\|b\|>' at character 2"):
        encoder.encode([mark("<|a|>"), say("x <|b|>", 3, 1)])


class Counting(ByteTokenizer):
    """Counts the characters that it is given."""

    def __init__(self) -> None:
        super().__init__(("<|a|>",))
        self.characters = 0

    def encode(self, text: str) -> list[int]:
        self.characters += len(text)
        return super().encode(text)


def test_text_is_encoded_once_and_headers_are_kept() -> None:
    tokenizer = Counting()
    encoder = Encoder(tokenizer)
    text = "x" * (CACHED_LENGTH + 1)
    for _ in range(3):
        encoder.encode([mark("<|a|>user<|a|>"), say(text)])
    assert tokenizer.characters == len("user") + 3 * len(text)
