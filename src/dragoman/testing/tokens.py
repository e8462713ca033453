"""The promise about tokens: ids are read as the text that they stand for, and control tokens as nothing else."""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random

from ..events import ContentDelta, Event, Markup, ReasoningDelta, Stop, merge
from ..grammar.raised import has_raised
from ..parse.parser import Parser
from ..registry import AUTO
from ..tokenizers import control_pattern
from ..tokenizers.bytes import ByteTokenizer
from .trial import SELDOM, Trial, encodable

__all__ = ["token_aware"]


def token_aware(trial: Trial, random: Random) -> None:
    """Token ids, of which markers are control tokens, are read alike however they come; spelled out, they are text."""
    if trial.dialect.name == AUTO or not encodable(trial.text):  # the tokens themselves tell the dialect
        return
    vocabulary, find = _vocabulary((*trial.dialect.marks, *trial.dialect.stops))
    ids = [
        token
        for k, piece in enumerate(find.split(trial.text))
        for token in ([vocabulary.control[piece]] if k % 2 else vocabulary.encode(piece))
    ]
    whole, single = (
        Parser(trial.dialect, trial.tools, start=trial.start, prefill=trial.prefill, tokenizer=vocabulary)
        for _ in range(2)
    )
    expected = merge(whole.feed_tokens(ids) + whole.finish(trial.reason))
    found: list[Event] = []
    for at in range(0, len(ids), size := random.choice((1, 1, 2, 9))):
        found += single.feed_tokens(ids[at : at + size])
        single = single if at % 16 else single.copy()
    if merge(found + single.finish(trial.reason)) != expected:
        raise trial.fail("its tokens, one after the other, give other events than all at once")
    written = "".join(event.text for event in expected if isinstance(event, Markup | ContentDelta | ReasoningDelta))
    if random.random() > SELDOM and not has_raised(written):
        return
    if has_raised(written) or len(single.token_labels()) != len(ids):
        raise trial.fail("the events of its tokens are not spelled out, or some tokens have no label")
    spelled = Parser(trial.dialect, trial.tools, tokenizer=vocabulary)
    for event in spelled.feed_tokens(vocabulary.encode(trial.text)):
        if isinstance(event, Stop) and event.marker in vocabulary.control:
            raise trial.fail(f"{event.marker!r} in ordinary tokens stops it")


@lru_cache(maxsize=256)
def _vocabulary(markers: tuple[str, ...]) -> tuple[ByteTokenizer, re.Pattern[str]]:
    """A vocabulary in which these markers are control tokens, and what finds them in text."""
    vocabulary = ByteTokenizer(markers)
    return vocabulary, re.compile(f"({control_pattern(vocabulary).pattern})")
