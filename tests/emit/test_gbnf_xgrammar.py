from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.gbnf import gbnf
from dragoman.emit.rules import Chars, Repeat, Rules, Text, choice, sequence

from .meaning import accepts
from .some_rules import rule_sets, sentences
from .test_gbnf import CHARACTERS, HEARD, OUTPUT, printed

pytestmark = pytest.mark.slow


@cache
def xgrammar() -> Any:
    """xgrammar for a vocabulary of bytes."""
    engine = pytest.importorskip("xgrammar")
    tokens = [bytes([code]) for code in range(256)] + [b"</s>"]
    info = engine.TokenizerInfo(tokens, vocab_type=engine.VocabType.RAW, stop_token_ids=[256])
    return engine, engine.GrammarCompiler(info, max_threads=1)


def matches(grammar: str, texts: list[str]) -> list[bool]:
    """Which of the texts are a whole output under the grammar."""
    engine, compiler = xgrammar()
    compiled = compiler.compile_grammar(grammar)
    matchers = [(engine.GrammarMatcher(compiled), text) for text in texts]
    return [(not text or matcher.accept_string(text)) and matcher.is_completed() for matcher, text in matchers]


@given(st.data(), rule_sets())
def test_xgrammar_accepts_what_the_rules_mean(data: st.DataObject, rules: Rules) -> None:
    texts = [data.draw(sentences(rules)) for _ in range(4)]
    assert matches(printed(rules), texts) == [accepts(rules, text) for text in texts]


def test_xgrammar_reads_every_character_in_texts_and_in_classes() -> None:
    for c in CHARACTERS:
        code = ord(c)
        assert matches(gbnf(Rules({"root": Text(f"{c}{c}")})), [c, c + c]) == [False, True]
        for more in ((code, code + 1),), ((code, code),), ((48, 57), (code, code)):
            assert matches(gbnf(Rules({"root": Chars(more)})), [c, "ø"]) == [True, False]
            assert matches(gbnf(Rules({"root": Chars(more, negated=True)})), [c, "ø"]) == [False, True]


def test_xgrammar_counts_as_llama_cpp_does() -> None:
    grammar = gbnf(Rules({"root": sequence("<", Repeat(choice("ab", "c"), 1999, 2001), ">")}))
    texts = [f"<{'c' * count}>" for count in range(1998, 2003)]
    assert matches(grammar, texts) == [False, True, True, True, False]


def test_xgrammar_hears_an_output() -> None:
    assert matches(printed(OUTPUT), [text for text, _ in HEARD]) == [fits for _, fits in HEARD]
