"""A renderer: the conversations of one family of models with one tokenizer, there and back.

`Renderer` is what training and serving by token ids need: prompts, supervised examples with weights, stop tokens, and
the message that sampled ids are. Everything is made from the family's segments (`page`) and the dialect's grammar; a
chat template in place of a family gives the same (`dragoman.render.template`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ..errors import CannotExtend, InvalidConversation, InvalidTokenizer
from ..parse.parser import Parser
from ..segments import NOBODY, Segment, text_of
from ..tokenizers import Tokenizer, control_pattern, decode
from ..types import JSON, Message, TextPart, Tool
from .encode import Encoder, Span
from .extend import extended
from .family import Family, get_family
from .openai_messages import read_messages
from .page import Chat, Page
from .rendered import Example, Rendered, TrainOn, Weigh, weights_of
from .responses import Termination, read_response, spans_of
from .values import Declaration, declarations

__all__ = ["Renderer"]

Conversation = Sequence[Message | Mapping[str, JSON]]
Tools = Sequence[Tool | Mapping[str, JSON]]


class Renderer:
    """Renders the conversations of a family with a tokenizer, and reads what its models answer.

    `options` are the family's own (`enable_thinking`, `reasoning_effort`, ...). Text that spells a control token is
    encoded as ordinary text; with `refuse_control_text`, `ControlText` is raised instead. Raises `UnknownFamily`,
    `InvalidTokenizer` if it lacks the family's control tokens, `InvalidConversation` for unknown options.
    """

    def __init__(
        self,
        family: str | Family,
        tokenizer: Tokenizer,
        *,
        refuse_control_text: bool = False,
        **options: JSON,
    ) -> None:
        self.family = get_family(family) if isinstance(family, str) else family
        self.tokenizer = tokenizer
        self.options = self.family.read_options(options)
        self.dialect = self.family.speaks()
        missing = [token for token in self.family.needs if token not in tokenizer.control]
        if missing:
            raise InvalidTokenizer(self.family.name, f"the control token {missing[0]!r}", "a tokenizer without it")
        self._encoder = Encoder(tokenizer, refuses=refuse_control_text)
        self._control = control_pattern(tokenizer)

    def segments(self, messages: Conversation, tools: Tools | None = None) -> tuple[Segment, ...]:
        """A conversation in segments, without a generation prompt."""
        chat = self._chat(messages, tools)
        return tuple(self._page(chat).segments)

    def render(self, messages: Conversation, tools: Tools | None = None) -> Rendered:
        """A whole conversation, without a generation prompt. Linear in its text."""
        chat = self._chat(messages, tools)
        return self._encoded(chat, self._page(chat).segments)

    def build_generation_prompt(
        self, messages: Conversation, tools: Tools | None = None, *, prefill: str = ""
    ) -> Rendered:
        """The prompt at which the model goes on; `prefill` is how its turn begins, as raw text of the dialect."""
        chat = self._chat(messages, tools)
        return self._encoded(chat, self._prompt(chat, prefill))

    def build_supervised_example(
        self,
        messages: Conversation,
        tools: Tools | None = None,
        *,
        train_on: TrainOn | str | Weigh = TrainOn.LAST_ASSISTANT,
    ) -> Example:
        """A conversation with the weights of its tokens, of which only those that the model would sample have any.

        `train_on` may be a function of a span and its message. Raises `InvalidConversation` where a message to be
        trained on does not stand here as it was sampled, because the format rewrites it, or what is before it, once
        more follows: `build_supervised_examples` makes an example for each.
        """
        chat = self._chat(messages, tools)
        wanted = self._trained(chat, train_on)
        segments = self._page(chat).segments
        if train_on != TrainOn.ALL:
            covered = self._as_sampled(chat, segments, wanted)
            for index in wanted:
                if index not in covered:
                    found = "one that the format rewrites; see build_supervised_examples"
                    raise InvalidConversation(index, "a turn as the model sampled it", found)
        return self._example(chat, segments, wanted, train_on)

    def build_supervised_examples(
        self,
        messages: Conversation,
        tools: Tools | None = None,
        *,
        train_on: TrainOn | str | Weigh = TrainOn.ALL_ASSISTANTS,
    ) -> list[Example]:
        """The fewest examples in which every message to be trained on stands as it was sampled, in order.

        Raises `InvalidConversation` for a message that no prompt of this format leads to.
        """
        chat = self._chat(messages, tools)
        left = self._trained(chat, train_on)
        examples: list[Example] = []
        while left:
            ending = Chat(chat.messages[: left[-1] + 1], chat.tools, chat.options)
            segments = self._page(ending).segments
            covered = self._as_sampled(ending, segments, left)
            if left[-1] not in covered:
                raise InvalidConversation(left[-1], "a turn that begins as the prompt does", "one that does not")
            examples.append(self._example(ending, segments, covered, train_on))
            left = [index for index in left if index not in covered]
        return examples[::-1]

    def stop_sequences(self) -> list[int] | list[str]:
        """The ids of the tokens that end the model's turn, or the texts that do where the format has no such token."""
        return list(self.family.stop_texts) or list(self.stop_ids)

    def extend(
        self,
        so_far: Rendered | Sequence[int],
        sampled: Sequence[int],
        messages: Conversation,
        *,
        history: Conversation | None = None,
        tools: Tools | None = None,
    ) -> Rendered:
        """The prompt behind what was sampled and further messages, with all ids so far as they are.

        Where `so_far` is no `Rendered`, `history` and `tools` are what its ids render: without them it can't be told
        whether the format would rewrite them. Raises `CannotExtend`; see `dragoman.render.extend`.
        """
        if not isinstance(so_far, Rendered):
            if history is None:
                raise CannotExtend("ids alone do not tell what was rendered", "history= or a Rendered", "ids")
            known = self.build_generation_prompt(history, tools)
            if known.ids != list(so_far):
                raise CannotExtend("the ids are not those of this history", known.text[-60:], self.text(so_far)[-60:])
            so_far = known
        return extended(self, so_far, sampled, read_messages(messages))

    def parse_response(
        self,
        ids: Sequence[int],
        tools: Tools | None = None,
        *,
        prompt: Rendered | None = None,
        prefill: str = "",
    ) -> tuple[Message, Termination]:
        """The message that sampled ids are, and how it ended; see `dragoman.render.responses`.

        Where the model began is told by the `prompt` that it was given, else by the options and the `prefill`.
        """
        given = prompt.ids if prompt is not None else self._begun() + prefill
        family = self.family
        return read_response(self.dialect, self.tokenizer, family.ends, ids, tools, given, lead=family.lead)

    def _begun(self) -> str:
        """The prompt of a conversation of one question: how the model's turn begins."""
        return text_of(self._prompt(Chat((Message("user", (TextPart("?"),)),), (), self.options)))

    # For those who make prompts of prompts

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """The ids of the tokens that end the model's turn."""
        control = self.tokenizer.control
        return tuple(control[end] for end in self.family.ends if end in control)

    def text(self, ids: Sequence[int]) -> str:
        """The text that ids spell."""
        return decode(self.tokenizer, ids)

    def encode(self, segments: Sequence[Segment]) -> tuple[list[int], list[Span]]:
        """The ids of segments, and the spans that tile them."""
        return self._encoder.encode(segments)

    def written(self, messages: tuple[Message, ...], tools: tuple[Declaration, ...]) -> list[Segment]:
        """A conversation in segments, without a generation prompt."""
        return self._page(Chat(messages, tools, self.options)).segments

    def prompted(self, messages: tuple[Message, ...], tools: tuple[Declaration, ...]) -> list[Segment]:
        """A conversation in segments, with its generation prompt."""
        return self._prompt(Chat(messages, tools, self.options))

    def spans_of(self, sampled: Sequence[int], prompt: Rendered, message: int) -> list[Span]:
        """The spans of sampled ids behind a prompt, as parts of a message, which start where the prompt ends."""
        parser = Parser(self.dialect, prompt.tools_as_given, prompt=prompt.ids, tokenizer=self.tokenizer)
        parser.feed_tokens(sampled)
        parser.finish()
        return spans_of(parser.token_labels(), len(prompt.ids), message)

    # Inside

    def _chat(self, messages: Conversation, tools: Tools | None) -> Chat:
        return Chat(read_messages(messages), declarations(tools), self.options)

    def _page(self, chat: Chat) -> Page:
        page = Page(self.dialect, self._control)
        self.family.write(chat, page)
        return page

    def _prompt(self, chat: Chat, prefill: str = "") -> list[Segment]:
        page = self._page(replace(chat, asked=True))
        page.at(NOBODY)
        page.mark(self.family.prompt(chat, len(chat.messages)))
        page.mark(prefill, apart=True)
        return page.segments

    def _encoded(self, chat: Chat, segments: list[Segment]) -> Rendered:
        ids, spans = self._encoder.encode(segments)
        return Rendered(ids, spans, tuple(segments), chat.messages, chat.tools)

    def _trained(self, chat: Chat, train_on: TrainOn | str | Weigh) -> list[int]:
        """The messages to be trained on."""
        said = [k for k, message in enumerate(chat.messages) if message.role == "assistant"]
        if callable(train_on):
            return said
        match TrainOn(train_on):
            case TrainOn.LAST_ASSISTANT:
                return said[-1:]
            case TrainOn.LAST_TURN:
                asked = chat.last("user")
                return [k for k in said if k > asked]
            case _:
                return said

    def _as_sampled(self, chat: Chat, segments: list[Segment], wanted: Sequence[int]) -> list[int]:
        """The messages among these that stand in the segments behind the very prompt at which they were sampled."""
        text, found = text_of(segments), []
        begins = _begins(segments)
        for index in wanted:
            before = Chat(chat.messages[:index], chat.tools, chat.options)
            if index in begins and text[: begins[index]] == text_of(self._prompt(before)):
                found.append(index)
        return found

    def _example(
        self, chat: Chat, segments: list[Segment], wanted: Sequence[int], train_on: TrainOn | str | Weigh
    ) -> Example:
        rendered = self._encoded(chat, segments)
        if train_on == TrainOn.ALL:
            return Example(rendered, [1.0] * len(rendered.ids))
        trained = frozenset(wanted)

        def weigh(span: Span) -> float:
            if not span.sampled or span.message not in trained:
                return 0.0
            return float(train_on(span, chat.messages[span.message])) if callable(train_on) else 1.0

        return Example(rendered, weights_of(rendered.spans, weigh))


def _begins(segments: Sequence[Segment]) -> dict[int, int]:
    """Where in the text each message begins that the model sampled."""
    begins: dict[int, int] = {}
    at = 0
    for segment in segments:
        if segment.sampled:
            begins.setdefault(segment.message, at)
        at += len(segment.text)
    return begins
