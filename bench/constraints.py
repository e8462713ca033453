"""Constraints for many tools: how long it takes to write them, and for engines to take them, beside their own.

xgrammar makes masks of a whole vocabulary when it compiles, here of o200k; llguidance makes them when it is asked.
Both are measured if they are installed: ``pip install xgrammar llguidance``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

from msgspec import Struct

from dragoman import Tool
from dragoman.emit.ebnf import xgrammar_ebnf
from dragoman.emit.structural_tag import structural_tag
from dragoman.tokenizers import get_tokenizer

from .emission import EMITTED, Emission, emission
from .tools import tools

__all__ = ["Emitted", "constraints"]

XGRAMMAR, LLGUIDANCE = "xgrammar", "llguidance"


class Emitted(Struct, frozen=True):
    """Milliseconds for one dialect; ``None`` where the engine is not installed.

    `emit_ms`: tools to rules to text of so many `kilobytes`. `grammar_ms`: xgrammar with this text, `tag_ms` with the
    same as a structural tag, `builtin_ms` with what it writes itself for that dialect. `llguidance_ms`: llguidance's
    check of what it writes itself for JSON between the same marks.
    """

    dialect: str
    tools: int
    emit_ms: float
    kilobytes: float
    grammar_ms: float | None
    tag_ms: float | None
    builtin_ms: float | None
    llguidance_ms: float | None


def constraints(count: int, step: Callable[[], None] = lambda: None) -> list[Emitted]:
    """Measure all dialects with so many tools; `step` is called after each."""
    found = []
    for each in EMITTED:
        found.append(measured(each, tools(count)))
        step()
    return found


def measured(given: Emission, offered: Sequence[Tool]) -> Emitted:
    """One dialect with these tools."""
    emit_ms, text = min((_timed(lambda: _text(given, offered)) for _ in range(3)), key=lambda run: run[0])
    rules = emission(given, offered)
    grammar_ms = tag_ms = builtin_ms = llguidance_ms = None
    if find_spec(XGRAMMAR):
        compiler = _compiler()
        tag = json.dumps(structural_tag(rules))
        builtin = _builtin(given, offered)
        grammar_ms, _ = _timed(lambda: compiler.compile_grammar(text))
        tag_ms, _ = _timed(lambda: compiler.compile_structural_tag(tag))
        builtin_ms, _ = _timed(lambda: compiler.compile_structural_tag(builtin))
    if find_spec(LLGUIDANCE):
        struct_tag = _struct_tag(given, offered)
        llguidance_ms, _ = _timed(lambda: _checked(struct_tag))
    kilobytes = len(text.encode()) / 1024
    return Emitted(given.name, len(offered), emit_ms, kilobytes, grammar_ms, tag_ms, builtin_ms, llguidance_ms)


def _text(given: Emission, offered: Sequence[Tool]) -> str:
    return xgrammar_ebnf(emission(given, offered))[0]


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = perf_counter()
    found = run()
    return (perf_counter() - began) * 1000, found


@cache
def _compiler() -> Any:
    """xgrammar for o200k, on one thread, with nothing remembered between two grammars."""
    engine: Any = import_module(XGRAMMAR)
    tokenizer = get_tokenizer("o200k_harmony")
    tokens = [tokenizer.token_bytes(token) for token in range(tokenizer.size)]
    stop = tokenizer.control["<|return|>"]
    info = engine.TokenizerInfo(tokens, vocab_type=engine.VocabType.RAW, stop_token_ids=[stop])
    return engine.GrammarCompiler(info, max_threads=1, cache_enabled=False)


def _builtin(given: Emission, offered: Sequence[Tool]) -> Any:
    """What xgrammar writes itself, without thoughts."""
    engine: Any = import_module(XGRAMMAR)
    functions = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in offered]
    return engine.get_model_structural_tag(given.builtin, tools=functions, reasoning="disabled")


def _struct_tag(given: Emission, offered: Sequence[Tool]) -> str:
    """What llguidance writes itself for calls as JSON between the dialect's marks."""
    engine: Any = import_module(LLGUIDANCE)
    tags = [
        engine.StructTag(
            trigger=given.opener, begin=f"{given.opener}{tool.name}", grammar=tool.parameters, end=given.closer
        )
        for tool in offered
    ]
    return str(engine.StructTag.to_grammar(tags, assume_special=False))


def _checked(grammar: str) -> None:
    error = import_module(LLGUIDANCE).LLMatcher.validate_grammar(grammar)
    assert not error, error
