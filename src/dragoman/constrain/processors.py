"""Constraints for transformers: what ``model.generate(..., logits_processor=[...])`` takes.

An engine, xgrammar or llguidance, makes a mask of the vocabulary for each row of the batch before each token. Rows are
known by what they hold, not by where they stand, so that beams may be cut and doubled; and a processor that sees a new
prompt begins anew. A row into which a refused token has come all the same can but end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Protocol, Self
from weakref import WeakKeyDictionary

from ..errors import InvalidRequest
from ..tokenizers.engines import llguidance_tokenizer, xgrammar_tokenizer
from ..tokenizers.protocol import Tokenizer
from .constraint import Constraint
from .emission import Emission, Engine, emit
from .rows import Reader, Row, Watch

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer
    from torch import Tensor
    from xgrammar import CompiledGrammar, GrammarCompiler, GrammarMatcher

__all__ = ["MaskProcessor", "llguidance_processor", "xgrammar_processor"]


class Masking(Reader, Protocol):
    """A reader that tells what may come next."""

    def mask(self) -> Tensor:
        """A bit for each token, 32 in a word, the first in the lowest."""
        ...


class MaskProcessor:
    """A processor of logits: it leaves those tokens that the constraint lets through.

    For any number of rows, which are all under the same constraint. Tokens behind the vocabulary never come.
    """

    def __init__(self, begin: Callable[[], Row[Masking]]) -> None:
        self._begin = begin
        self._rows: dict[tuple[int, ...], Row[Masking]] = {}

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """The scores, with those of tokens that may not come at minus infinity."""
        written: list[tuple[int, ...]] = [tuple(row) for row in input_ids.tolist()]
        self._rows = self._next(written)
        scores = scores.clone()
        for k, key in enumerate(written):
            row = self._rows[key]
            if row.bound is not None:
                barred = (
                    _all_but(row.stops, scores.shape[1]) if row.lost else _barred(row.bound.mask(), scores.shape[1])
                )
                scores[k].masked_fill_(barred.to(scores.device), float("-inf"))
        return scores

    def _next(self, written: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Row[Masking]]:
        """The rows with what is written now; all new if one does not go on from those before."""
        keys = list(dict.fromkeys(written))
        followers = Counter(key[:-1] for key in keys)
        if not followers.keys() <= self._rows.keys():
            return {key: self._begin() for key in keys}
        rows = {}
        for key in keys:
            row = self._rows[key[:-1]]
            rows[key] = row if followers[key[:-1]] == 1 else row.copy()
            rows[key].read(key[-1])
        return rows


def _barred(mask: Tensor, size: int) -> Tensor:
    """Which of so many tokens may not come."""
    import torch

    bits = (mask.unsqueeze(1) >> torch.arange(32, dtype=torch.int32)) & 1
    allowed = bits.flatten()[:size].bool()
    return torch.nn.functional.pad(~allowed, (0, size - len(allowed)), value=True)


def _all_but(tokens: Collection[int], size: int) -> Tensor:
    import torch

    barred = torch.ones(size, dtype=torch.bool)
    barred[list(tokens)] = False
    return barred


def xgrammar_processor(
    constraint: Constraint,
    tokenizer: Tokenizer,
    *,
    stops: Sequence[int] | None = None,
    lazy: bool = False,
    prompt: str = "",
    engine: Engine = Engine.XGRAMMAR,
) -> MaskProcessor:
    """The constraint through xgrammar, which compiles it here, in up to seconds where the vocabulary is large.

    Told by rules, or with `engine` by a structural tag: that compiles many times faster where free text may hold code.
    `stops` are the tokens that end an output, those of the dialect if not given: ``generate`` must stop at them. `lazy`
    and `prompt` are those of `emit`. What is made of a tokenizer is kept as long as it is.
    Raises `InvalidRequest` if nothing stops the model, and for what `emit` does; `InvalidTokenizer` without xgrammar.
    """
    ends = _stops(constraint, tokenizer, stops)
    given = emit(constraint, engine, lazy=lazy, control=tokenizer.control, prompt=prompt)
    compiler = _compiler(tokenizer, ends, given.markers)
    tagged = given.engine is Engine.STRUCTURAL_TAG
    compiled = compiler.compile_structural_tag(given.text) if tagged else compiler.compile_grammar(given.text)
    return _processor(lambda: _XGrammar.begin(compiled), tokenizer, ends, given)


def llguidance_processor(
    constraint: Constraint,
    tokenizer: Tokenizer,
    *,
    stops: Sequence[int] | None = None,
    lazy: bool = False,
    prompt: str = "",
) -> MaskProcessor:
    """The constraint through llguidance, which makes each mask when it is asked for it.

    For the rest see `xgrammar_processor`. Raises `InvalidRequest` also for a grammar that llguidance finds too large.
    """
    ends = _stops(constraint, tokenizer, stops)
    given = emit(constraint, Engine.LARK, lazy=lazy, control=tokenizer.control, prompt=prompt)
    first = _LLGuidance.begin(_vocabulary(tokenizer, ends), given.text)
    return _processor(first.copy, tokenizer, ends, given)


def _processor(
    begin: Callable[[], Masking], tokenizer: Tokenizer, stops: Sequence[int], given: Emission
) -> MaskProcessor:
    watch = Watch(given.triggers, tokenizer.token_bytes) if given.triggers else None
    return MaskProcessor(lambda: Row(begin, stops, watch))


def _stops(constraint: Constraint, tokenizer: Tokenizer, given: Sequence[int] | None) -> tuple[int, ...]:
    if given is None:
        control = tokenizer.control
        given = [control[stop] for stop in constraint.layout.dialect.stops if stop in control]
    if not given:
        raise InvalidRequest("stops", "the tokens that end an output, as the tokenizer has none of the dialect's", [])
    return tuple(given)


class _XGrammar:
    """A matcher of xgrammar."""

    def __init__(self, matcher: GrammarMatcher, words: int) -> None:
        self.matcher, self.words = matcher, words

    @classmethod
    def begin(cls, compiled: CompiledGrammar) -> _XGrammar:
        from xgrammar import GrammarMatcher

        return cls(GrammarMatcher(compiled), (compiled.tokenizer_info.vocab_size + 31) // 32)

    def accept(self, token: int) -> bool:
        return bool(self.matcher.accept_token(token))

    def accept_bytes(self, text: bytes) -> bool:
        return bool(self.matcher.accept_string(text))

    def copy(self) -> Self:
        return type(self)(self.matcher.fork(), self.words)

    def mask(self) -> Tensor:
        import torch

        bits = torch.full((1, self.words), -1, dtype=torch.int32)
        self.matcher.fill_next_token_bitmask(bits)
        return bits[0]


class _LLGuidance:
    """A matcher of llguidance."""

    def __init__(self, matcher: LLMatcher, vocabulary: LLTokenizer) -> None:
        self.matcher, self.vocabulary = matcher, vocabulary

    @classmethod
    def begin(cls, vocabulary: LLTokenizer, grammar: str) -> _LLGuidance:
        from llguidance import LLMatcher

        matcher = LLMatcher(vocabulary, LLMatcher.grammar_from_lark(grammar), log_level=0)
        if matcher.is_error():
            raise InvalidRequest("tools", "fewer or simpler ones", matcher.get_error())
        return cls(matcher, vocabulary)

    def accept(self, token: int) -> bool:
        return bool(self.matcher.consume_token(token))

    def accept_bytes(self, text: bytes) -> bool:
        return bool(self.matcher.consume_tokens(self.vocabulary.tokenize_bytes(text)))

    def copy(self) -> Self:
        return type(self)(self.matcher.deep_copy(), self.vocabulary)

    def mask(self) -> Tensor:
        import torch

        bits = bytearray(self.matcher.compute_bitmask())
        if self.matcher.is_error():
            raise InvalidRequest("tools", "fewer or simpler ones", self.matcher.get_error())
        return torch.frombuffer(bits, dtype=torch.int32)


_compilers: WeakKeyDictionary[Tokenizer, dict[object, GrammarCompiler]] = WeakKeyDictionary()
_vocabularies: WeakKeyDictionary[Tokenizer, dict[object, LLTokenizer]] = WeakKeyDictionary()


def _compiler(tokenizer: Tokenizer, stops: tuple[int, ...], markers: tuple[str, ...]) -> GrammarCompiler:
    known = _compilers.setdefault(tokenizer, {})
    if (stops, markers) not in known:
        info = xgrammar_tokenizer(tokenizer, stops, markers=markers)
        from xgrammar import GrammarCompiler

        known[stops, markers] = GrammarCompiler(info)
    return known[stops, markers]


def _vocabulary(tokenizer: Tokenizer, stops: tuple[int, ...]) -> LLTokenizer:
    known = _vocabularies.setdefault(tokenizer, {})
    if stops not in known:
        known[stops] = llguidance_tokenizer(tokenizer, stops)
    return known[stops]
