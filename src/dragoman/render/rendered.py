"""A rendered conversation: its token ids, and for each of them which message and part it came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from ..segments import Kind, Segment, text_of
from ..types import JSON, Message
from .encode import Span
from .values import Declaration

__all__ = ["Example", "Rendered", "TrainOn", "Weigh"]


class TrainOn(StrEnum):
    """Which tokens a supervised example trains on."""

    LAST_ASSISTANT = "last_assistant"
    """What the model wrote in the last message."""
    LAST_TURN = "last_turn"
    """What it wrote since the user last spoke."""
    ALL_ASSISTANTS = "all_assistants"
    """What it wrote in any message."""
    ALL = "all"
    """Every token, whoever wrote it: for continued pretraining on chats."""


Weigh: TypeAlias = Callable[[Span, Message], float]
"""The weight of what the model wrote in a span of a message."""


class Rendered(Struct, frozen=True):
    """Token ids and the spans that tile them; `messages` and `tools` are what was rendered."""

    ids: list[int]
    spans: list[Span]
    segments: tuple[Segment, ...]
    messages: tuple[Message, ...]
    tools: tuple[Declaration, ...] = ()

    @property
    def text(self) -> str:
        """The text of all tokens."""
        return text_of(self.segments)

    @property
    def tools_as_given(self) -> tuple[Mapping[str, JSON], ...]:
        """The tools as the caller declared them."""
        return tuple(tool.value for tool in self.tools)

    def message_span(self, index: int) -> tuple[int, int]:
        """The tokens ``[start, end)`` of a message; empty where it has none."""
        own = [span for span in self.spans if span.message == index]
        return (own[0].start, own[-1].end) if own else (0, 0)

    def mask(self, wanted: Callable[[Span], bool]) -> list[bool]:
        """Whether each token lies in a span that is wanted."""
        out: list[bool] = []
        for span in self.spans:
            out += [wanted(span)] * (span.end - span.start)
        return out

    def count(self, kind: Kind) -> int:
        """The number of tokens of a kind."""
        return sum(span.end - span.start for span in self.spans if span.kind is kind)


class Example(Struct, frozen=True):
    """A supervised example: ids, and a weight for each, the loss of predicting it."""

    rendered: Rendered
    weights: list[float]

    @property
    def ids(self) -> list[int]:
        """The token ids."""
        return self.rendered.ids


def weights_of(spans: Sequence[Span], weigh: Callable[[Span], float]) -> list[float]:
    """The weight of each token, by its span."""
    out: list[float] = []
    for span in spans:
        out += [weigh(span)] * (span.end - span.start)
    return out
