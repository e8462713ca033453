"""xgrammar under test: what a grammar or structural tag accepts, and outputs sampled through its masks.

Masks are made for real vocabularies, as a server makes them, and read with numpy. A sample is random but comes to an
end: now and then, and always when it has become long, one of the given words is written where the grammar allows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from dragoman.tokenizers import Tokenizer, get_tokenizer
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.tokenizers.engines import xgrammar_tokenizer
from tests.oracles import loaded

__all__ = ["VOCABULARIES", "XGrammar", "Xgrammar", "vocabulary"]

VOCABULARIES = ("bytes", "o200k", "qwen")

JSON_CLOSERS = ('"', "}", "]", "0", "\n")


@cache
def vocabulary(name: str) -> Xgrammar:
    """xgrammar with one of the vocabularies, made once."""
    match name:
        case "o200k":
            return Xgrammar(get_tokenizer("o200k_harmony"), "<|return|>")
        case "qwen":
            return Xgrammar(loaded("qwen"), "<|im_end|>")
        case _:
            return Xgrammar(
                AsciiTokenizer(["<|end|>", "<tool_call>", "</tool_call>", "<think>", "</think>"]), "<|end|>"
            )


class AsciiTokenizer(ByteTokenizer):
    """Bytes without those beyond ASCII: xgrammar lets through such as are no UTF-8, which no text could tell."""

    def token_bytes(self, token: int) -> bytes:
        return b"" if 128 <= token < 256 else super().token_bytes(token)


class Xgrammar:
    """A compiler for one vocabulary."""

    def __init__(self, tokenizer: Tokenizer, stop: str) -> None:
        self.engine: Any = pytest.importorskip("xgrammar")
        self.tokenizer = tokenizer
        self.stop = tokenizer.control[stop]
        self.info = xgrammar_tokenizer(tokenizer, [self.stop])
        self.compiler = self.engine.GrammarCompiler(self.info, max_threads=2, cache_enabled=False)
        self.control = {spelling: token for spelling, token in tokenizer.control.items() if token != self.stop}

    def compile(self, source: str | Mapping[str, object]) -> XGrammar:
        """EBNF, or the value of a structural tag."""
        if isinstance(source, str):
            return XGrammar(self, self.compiler.compile_grammar(source))
        return XGrammar(self, self.compiler.compile_structural_tag(json.dumps(source)))

    def ids(self, word: str) -> list[int]:
        """The tokens of a word, which is a control token where there is one so spelled."""
        return [self.control[word]] if word in self.control else self.tokenizer.encode(word)


class XGrammar:
    """A compiled grammar."""

    def __init__(self, home: Xgrammar, compiled: Any) -> None:
        self.home, self.compiled = home, compiled
        self._bits = np.zeros((1, (home.tokenizer.size + 31) // 32), dtype=np.int32)

    def accepts(self, text: str) -> bool:
        """Whether this is a whole output."""
        matcher = self._matcher()
        return self._passes(matcher, text) and bool(matcher.is_completed())

    def prefix_ok(self, text: str) -> bool:
        """Whether this can be the beginning of one."""
        return self._passes(self._matcher(), text)

    def accepts_ids(self, ids: Sequence[int]) -> bool:
        """Whether these tokens are a whole output, each allowed by the mask before it."""
        matcher = self._matcher()
        return all(self._allows(matcher, token) and matcher.accept_token(token) for token in ids) and bool(
            matcher.is_completed()
        )

    def language(self, alphabet: str, length: int) -> set[str]:
        """All whole outputs of these characters that are not longer."""
        matcher, found = self._matcher(), set()

        def go(text: str) -> None:
            if matcher.is_completed():
                found.add(text)
            for character in alphabet if len(text) < length else "":
                if matcher.accept_string(character):
                    go(text + character)
                    matcher.rollback(1)

        go("")
        return found

    def sample(
        self, random: Random, words: Sequence[str] = (), closers: Sequence[str] = JSON_CLOSERS, patience: int = 24
    ) -> list[int]:
        """The tokens of a whole output, without the stop token.

        `words` are written now and then, where they fit; from `patience` tokens on, `closers` and `words` only, where
        any fits. Fails if that leads nowhere.
        """
        matcher, ids = self._matcher(), list[int]()
        while not self._done(matcher, random, len(ids), patience):
            assert len(ids) < 40 * patience, f"no end in sight: {self.text(ids)[-200:]!r}"
            late = len(ids) > patience
            hints = [*closers, *words] if late else words
            if hints and (late or random.random() < 0.2):
                written = self._write(matcher, random.choice(hints))
                ids += written
                if written or (late and random.random() < 0.8 and self._any_fits(matcher, hints)):
                    continue
            token = self._any(matcher, random)
            if token == self.home.stop:
                break
            assert matcher.accept_token(token), f"the mask allows {token}, and it is refused: {self.text(ids)!r}"
            ids.append(token)
        return ids

    def text(self, ids: Sequence[int]) -> str:
        """What the tokens spell."""
        return b"".join(map(self.home.tokenizer.token_bytes, ids)).decode(errors="replace")

    def _matcher(self) -> Any:
        return self.home.engine.GrammarMatcher(self.compiled)

    @staticmethod
    def _passes(matcher: Any, text: str) -> bool:
        return not text or bool(matcher.accept_string(text))

    @staticmethod
    def _done(matcher: Any, random: Random, count: int, patience: int) -> bool:
        return bool(matcher.is_completed()) and (count > patience or random.random() < 0.02)

    def _write(self, matcher: Any, word: str) -> list[int]:
        """The tokens of the word as far as the grammar takes them, at once taken."""
        written = []
        for token in self.home.ids(word):
            if not (self._allows(matcher, token) and matcher.accept_token(token)):
                break
            written.append(token)
        return written

    def _any_fits(self, matcher: Any, words: Sequence[str]) -> bool:
        return any(self._allows(matcher, self.home.ids(word)[0]) for word in words)

    def _allows(self, matcher: Any, token: int) -> bool:
        matcher.fill_next_token_bitmask(self._bits)
        return bool(self._bits[0, token >> 5] >> (token & 31) & 1)

    def _any(self, matcher: Any, random: Random) -> int:
        """One of the allowed tokens; the one that stops only where no other is."""
        matcher.fill_next_token_bitmask(self._bits)
        size = self.home.tokenizer.size
        allowed = np.flatnonzero(np.unpackbits(self._bits.view(np.uint8), bitorder="little", count=size))
        others = allowed[allowed != self.home.stop]
        assert len(allowed), "nothing is allowed"
        return int(random.choice(others)) if len(others) else self.home.stop
