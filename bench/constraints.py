"""Constraints for many tools: how long it takes to write them, and for engines to take them, beside their own.

xgrammar makes masks of a whole vocabulary when it compiles, here of o200k; llguidance makes them when it is asked.
Engines are measured if they are installed; see tests/engines.txt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from time import process_time
from typing import Any

from msgspec import Struct

from dragoman import Tool
from dragoman.constrain.emission import Engine
from dragoman.tokenizers import get_tokenizer
from dragoman.tokenizers.engines import xgrammar_tokenizer

from .emission import EMITTED, Emission, forget, text
from .tools import tools

__all__ = ["PRINTED", "Emitted", "constraints"]

XGRAMMAR, LLGUIDANCE = "xgrammar", "llguidance"

PRINTED = (Engine.GBNF, Engine.XGRAMMAR, Engine.STRUCTURAL_TAG, Engine.LARK)


class Emitted(Struct, frozen=True):
    """Milliseconds of this process for one dialect; ``None`` where the engine is not installed.

    `cold_ms`: from tools to text in each notation, of so many `kilobytes`, with nothing remembered; `warm_ms`: asked
    for again. `grammar_ms`: xgrammar with its EBNF, `tag_ms` with the structural tag, `builtin_ms` with what it writes
    itself for that dialect. `lark_ms`: llguidance's check.
    """

    dialect: str
    tools: int
    cold_ms: dict[str, float]
    kilobytes: dict[str, float]
    warm_ms: float
    grammar_ms: float | None
    tag_ms: float | None
    builtin_ms: float | None
    lark_ms: float | None


def constraints(counts: Sequence[int], step: Callable[[], None] = lambda: None) -> list[Emitted]:
    """Measure all dialects with so many tools; `step` is called after each."""
    found = []
    for each in EMITTED:
        for count in counts:
            found.append(measured(each, tools(count)))
            step()
    return found


def measured(given: Emission, offered: Sequence[Tool]) -> Emitted:
    """One dialect with these tools."""
    cold, texts = {}, {}
    for engine in PRINTED:
        cold[engine], texts[engine] = min((_cold(given, offered, engine) for _ in range(2)), key=lambda run: run[0])
    warm, _ = min((_timed(lambda: text(given, offered, PRINTED[-1])) for _ in range(3)), key=lambda run: run[0])
    grammar_ms = tag_ms = builtin_ms = lark_ms = None
    if find_spec(XGRAMMAR):
        compiler = _compiler()
        builtin = _builtin(given, offered)
        grammar_ms, _ = _timed(lambda: compiler.compile_grammar(texts[Engine.XGRAMMAR]))
        tag_ms, _ = _timed(lambda: compiler.compile_structural_tag(texts[Engine.STRUCTURAL_TAG]))
        builtin_ms, _ = _timed(lambda: compiler.compile_structural_tag(builtin))
    if find_spec(LLGUIDANCE):
        lark_ms, _ = _timed(lambda: _checked(texts[Engine.LARK]))
    sizes = {engine: len(text.encode()) / 1024 for engine, text in texts.items()}
    return Emitted(given.name, len(offered), cold, sizes, warm, grammar_ms, tag_ms, builtin_ms, lark_ms)


def _cold(given: Emission, offered: Sequence[Tool], engine: Engine) -> tuple[float, str]:
    forget()
    return _timed(lambda: text(given, offered, engine))


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = process_time()
    found = run()
    return (process_time() - began) * 1000, found


@cache
def _compiler() -> Any:
    """xgrammar for o200k, on one thread, with nothing remembered between two grammars."""
    engine: Any = import_module(XGRAMMAR)
    tokenizer = get_tokenizer("o200k_harmony")
    info = xgrammar_tokenizer(tokenizer, [tokenizer.control["<|return|>"]])
    return engine.GrammarCompiler(info, max_threads=1, cache_enabled=False)


def _builtin(given: Emission, offered: Sequence[Tool]) -> Any:
    """What xgrammar writes itself, without thoughts."""
    engine: Any = import_module(XGRAMMAR)
    functions = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in offered]
    return engine.get_model_structural_tag(given.builtin, tools=functions, reasoning="disabled")


def _checked(grammar: str) -> None:
    engine: Any = import_module(LLGUIDANCE)
    error = engine.LLMatcher.validate_grammar(engine.LLMatcher.grammar_from_lark(grammar))
    assert not error, error
