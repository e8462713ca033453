"""What gpt-oss answers, for servers: several choices at once, in chunks of ids as an engine sends them, or whole.

Every id is read by itself, so that nothing depends on how an engine cuts its stream, and nothing that a model writes
raises: what is not as it should be comes as a `Problem`, with its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ..events import Event, Stop, merge
from ..parse.assemble import Assembler
from ..parse.parser import Parser
from ..parse.tokens import Label
from ..tokenizers import Tokenizer, get_tokenizer
from ..types import JSON, Message, Tool
from .harmony_messages import PROMPT

__all__ = ["HarmonyAnswer", "HarmonyOutput"]


class HarmonyAnswer(Struct, frozen=True):
    """How a choice has ended: its message and the last events, or all of them where it was read whole.

    `finish_reason` is ``tool_calls`` where the model stopped behind a call, else what the engine says, or ``stop``;
    ``None`` if neither says anything. `reasoning_tokens` are the ids of thoughts, without their headers.
    """

    message: Message
    finish_reason: str | None
    reasoning_tokens: int
    events: list[Event]


class Choice:
    """One output that is being read."""

    __slots__ = ("assembler", "parser", "reason")

    def __init__(self, parser: Parser) -> None:
        self.parser, self.assembler = parser, Assembler()
        self.reason: str | None = None

    def feed(self, ids: Sequence[int]) -> list[Event]:
        """The events of more ids."""
        return self._seen(self.parser.feed_tokens(ids))

    def finish(self, reason: str | None, before: Sequence[Event] = ()) -> HarmonyAnswer:
        """The answer, with the events that were there `before`."""
        events = merge([*before, *self._seen(self.parser.finish(reason))])
        thoughts = self.parser.token_labels().count(Label.REASONING)
        return HarmonyAnswer(self.assembler.message, self.reason, thoughts, events)

    def _seen(self, events: list[Event]) -> list[Event]:
        self.assembler.feed(events)
        for event in events:
            if isinstance(event, Stop):
                self.reason = event.reason
        return events


class HarmonyOutput:
    """Reads the choices of one request, each by its number; the functions that may be called are its `tools`.

    Raises `InvalidTool`, and `UnknownToken` for an id that the vocabulary does not have.
    """

    def __init__(
        self,
        tools: Sequence[Tool | Mapping[str, JSON]] | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self.tools = tools
        self.tokenizer = tokenizer if tokenizer is not None else get_tokenizer("o200k_harmony")
        self._choices: dict[int, Choice] = {}

    def parse_complete(self, output_ids: Sequence[int], reason: str | None = None) -> HarmonyAnswer:
        """A whole output; `reason` is what the engine says about its end (``stop``, ``length``)."""
        choice = self._begin()
        return choice.finish(reason, choice.feed(output_ids))

    def parse_chunk(self, choice: int, ids: Sequence[int]) -> list[Event]:
        """The events that the next ids of a choice decide."""
        known = self._choices.get(choice)
        if known is None:
            known = self._choices[choice] = self._begin()
        return known.feed(ids)

    def finalize(self, choice: int, reason: str | None = None) -> HarmonyAnswer:
        """The end of a choice, and what is left of its events; a choice of this number begins anew."""
        known = self._choices.pop(choice, None) or self._begin()
        return known.finish(reason)

    def _begin(self) -> Choice:
        return Choice(Parser("harmony", self.tools, prompt=PROMPT, tokenizer=self.tokenizer))
