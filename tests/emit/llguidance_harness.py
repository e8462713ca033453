"""Grammars in Lark at work: the real llguidance over real vocabularies, one token at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from random import Random
from typing import TypeAlias

import llguidance
import numpy as np

from dragoman.tokenizers import Tokenizer, get_tokenizer
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.tokenizers.engines import llguidance_tokenizer

__all__ = ["Compiled", "Vocabulary", "byte_vocabulary", "o200k"]

Choose: TypeAlias = Callable[[Random, list[int]], int]


class Vocabulary:
    """A tokenizer as llguidance wants it; a control token ends the output."""

    def __init__(self, tokenizer: Tokenizer, end: str) -> None:
        self.tokenizer = tokenizer
        self.eos_token_id = tokenizer.control[end]
        self.wrapped = llguidance_tokenizer(tokenizer, [self.eos_token_id])


@cache
def byte_vocabulary(*control: str) -> Vocabulary:
    """A token for each byte, and control tokens."""
    return Vocabulary(ByteTokenizer(("<|eos|>", *control)), "<|eos|>")


@cache
def o200k() -> Vocabulary:
    """The vocabulary of gpt-oss; it takes a second to prepare."""
    return Vocabulary(get_tokenizer("o200k_harmony"), "<|return|>")


class Compiled:
    """A grammar for a vocabulary; raises `ValueError` if llguidance refuses it, or gives up on the way."""

    def __init__(self, lark: str, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.matcher = llguidance.LLMatcher(
            vocabulary.wrapped, llguidance.LLMatcher.grammar_from_lark(lark), log_level=0
        )
        self.check()

    def check(self) -> None:
        if self.matcher.is_error():
            raise ValueError(self.matcher.get_error())

    def tokens(self, pieces: Iterable[str | int]) -> list[int]:
        encode = self.vocabulary.tokenizer.encode
        return [token for piece in pieces for token in ([piece] if isinstance(piece, int) else encode(piece))]

    def read(self, *pieces: str | int) -> int:
        """How many of the tokens of texts and control tokens pass; the matcher stands behind them."""
        self.matcher.reset()
        passed = self.matcher.try_consume_tokens(self.tokens(pieces))
        self.check()
        return passed

    def accepts(self, *pieces: str | int) -> bool:
        """Whether the output may be this and end."""
        return self.read(*pieces) == len(self.tokens(pieces)) and self.matcher.is_accepting()

    def prefix_ok(self, *pieces: str | int) -> bool:
        """Whether the output may begin like this."""
        return self.read(*pieces) == len(self.tokens(pieces))

    def allowed(self) -> list[int]:
        """The tokens that may come next."""
        return [int(token) for token in np.flatnonzero(self.mask())]

    def mask(self) -> np.ndarray:
        """Of each token, whether it may."""
        packed = np.frombuffer(self.matcher.compute_bitmask(), dtype=np.uint8)
        self.check()
        return np.unpackbits(packed, bitorder="little").astype(bool)

    def hinted(self, random: Random, hints: Sequence[set[int]], *, limit: int = 200) -> list[int] | None:
        """Tokens drawn as in `sample`: out of the first of these sets that has any which may come, as a rule."""
        self.matcher.reset()
        found: list[int] = []
        wanted = [np.array(sorted(hint)) for hint in hints]
        end = self.vocabulary.eos_token_id
        while len(found) < limit and not self.matcher.is_stopped():
            mask = self.mask()
            if mask[end]:
                return found
            fitting = (hint[mask[hint]] for hint in wanted if random.random() < 0.7)
            of = next((fit for fit in fitting if len(fit)), None)
            of = np.flatnonzero(mask) if of is None else of
            found.append(int(of[random.randrange(len(of))]))
            assert self.matcher.consume_token(found[-1]), self.matcher.get_error()
        return found if len(found) < limit else None

    def sample(self, random: Random, *, limit: int = 200, choose: Choose = Random.choice) -> list[int] | None:
        """Tokens drawn from those that may come, up to the end; none if there is no end within the limit.

        `choose` picks one of the tokens that go on; where the output may end, it does half the times.
        """
        self.matcher.reset()
        found: list[int] = []
        end = self.vocabulary.eos_token_id
        while len(found) < limit:
            if self.matcher.is_stopped():
                self.check()
                return found
            allowed = self.allowed()
            on = [token for token in allowed if token != end]
            if end in allowed and (not on or random.random() < 0.5):
                return found
            assert on, "the grammar goes neither on nor to an end"
            found.append(choose(random, on))
            assert self.matcher.consume_token(found[-1]), self.matcher.get_error()
        return None
