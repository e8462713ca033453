"""Any model's own chat template, run as transformers runs it, with the owner of each character of what it writes.

`ChatTemplate.render` gives the text; its segments come of a second render, in a shadow (see `traced`), which is only
made when they are asked for. The settings, variables and filters are those of transformers 5.23,
``utils/chat_template_utils.py``. Needs jinja2, of the extra ``templates``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from ..errors import InvalidChatTemplate, InvalidConversation
from ..segments import Kind, Segment
from ..types import JSON, Message, Tool
from .openai_messages import ASSISTANT, THINKING_KEYS, Mark, Owner, dict_messages, dict_tools, plain
from .provenance import FIRST, Marks, Run, aligned, located, segments
from .sampled import Turn, last_token, opened, stopped, turns

if TYPE_CHECKING:
    from .sandbox import Sandbox

__all__ = ["ChatTemplate", "TemplateText"]

CONTINUED = "\U0010fffa\U0010fffb "
"""Behind the last message while it is rendered, to find its end; the space tells whether the template strips it."""

ENDING = 32
"""Characters of the end of a turn by which it is found again in another render."""


class ChatTemplate(Struct, frozen=True):
    """A chat template with the special tokens that it names (``bos_token`` and the like).

    `stops` are the texts that end the model's turn, beside the ``eos_token``.
    """

    source: str
    special_tokens: Mapping[str, str] = {}
    stops: tuple[str, ...] = ()

    def render(
        self,
        messages: Sequence[Message | Mapping[str, JSON]],
        tools: Sequence[Tool | Mapping[str, JSON]] | None = None,
        *,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        documents: Sequence[Mapping[str, JSON]] | None = None,
        now: datetime | None = None,
        **options: JSON,
    ) -> TemplateText:
        """The text that the template writes; further options are variables of it (``enable_thinking``, ...).

        For messages of ours, the arguments of calls are given as objects, or as JSON text if the template can't write
        an object: when it joins one to a string, or would write Python's notation of it. Dicts are given as they are.
        Raises `InvalidChatTemplate` for a template that can't be run, that refuses the conversation, or that takes
        without end; `InvalidConversation` for messages that no template can be given.
        """
        kept = tuple(each if isinstance(each, Message) else _copy(each, index) for index, each in enumerate(messages))
        given = Given(
            kept,
            None if tools is None else dict_tools(tools),
            None if documents is None else cast("list[JSON]", plain(list(documents), Owner(Kind.TOOLS))),
            cast("dict[str, JSON]", plain(options, Owner(Kind.TOOLS))),
            add_generation_prompt,
            continue_final_message,
            now,
        )
        try:
            text = _text(self, given)
        except InvalidChatTemplate as error:
            if not _may_want_text(error, given):
                raise
            given = replace(given, arguments_as_text=True)
            text = _text(self, given)
        return TemplateText(self, given, text)


class Given(Struct, frozen=True):
    """What a template is rendered with, copied from the caller's."""

    messages: tuple[Message | Mapping[str, JSON], ...]
    tools: list[dict[str, JSON]] | None
    documents: list[JSON] | None
    options: dict[str, JSON]
    add_generation_prompt: bool
    continue_final_message: bool
    now: datetime | None
    arguments_as_text: bool = False


class TemplateText:
    """A rendered conversation; all but `text` takes one more render, or two, when it is first asked for."""

    def __init__(self, template: ChatTemplate, given: Given, text: str) -> None:
        self.text = text
        self._template, self._given = template, given

    @property
    def exact(self) -> bool:
        """Whether the owner of each character is known, not guessed."""
        return self._exact is not None

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The text in pieces: joined, they are the text; ``control`` are those alone that the template itself wrote."""
        marks = self._exact or located(self.text, _pieces(self._given))
        return segments(self.text, marks.runs, marks.generated or self._sampled(marks.runs))

    @cached_property
    def _exact(self) -> Marks | None:
        """What a shadow render tells, with white space in the shadow or, if that leads it astray, without."""
        from .traced import Inks, ShadowSandbox

        if any(char >= FIRST for char in self._template.source):
            return None
        for spaces in (False, True):
            inks = Inks(spaces=spaces)
            try:
                shadow = _render(self._template, self._given, inks, ShadowSandbox)
            except InvalidChatTemplate:
                continue
            marks = aligned(self.text, shadow, inks.owners)
            if marks:
                return marks
        return None

    def _sampled(self, runs: Sequence[Run]) -> list[tuple[int, int]]:
        """What the model would write: each assistant turn, from behind the generation prompt to its stop."""
        messages = self._given.messages
        roles = [_role(message) for message in messages]
        speaking = frozenset(index for index, role in enumerate(roles) if role in ASSISTANT)
        if not speaking:
            return []
        before = {("" if index == 0 else roles[index - 1]): index for index in sorted(speaking)}
        prompts = {index: self._prompt(index) for index in before.values()}
        header = next((header for _, header in prompts.values() if header), "")
        found = turns(self.text, runs, speaking, header)
        stops = self._stops(found)
        spans = []
        for turn in found:
            prompt, header = prompts[before["" if turn.message == 0 else roles[turn.message - 1]]]
            exact = turn.message in prompts and prompt and self.text.startswith(prompt)
            start = len(prompt) if exact else opened(self.text, turn, header)
            open_end = self._given.continue_final_message and turn.message == len(messages) - 1
            spans.append((start, turn.end if open_end else stopped(self.text, turn, stops)))
        return [(start, end) for start, end in spans if start < end]

    def _prompt(self, message: int) -> tuple[str, str]:
        """The conversation up to a message with the generation prompt, and that alone; nothing if it is refused."""
        try:
            bare, prompt = (self._upto(message, prompted) for prompted in (False, True))
        except InvalidChatTemplate:
            return "", ""
        return prompt, prompt[len(bare) :] if prompt.startswith(bare) else ""

    def _stops(self, found: Sequence[Turn]) -> tuple[str, ...]:
        """The stops that are known, or what looks like one at the end of a conversation that ends with the model."""
        known = (*self._template.stops, self._template.special_tokens.get("eos_token", ""))
        if not found or any(
            stop and self.text.find(stop, turn.end, turn.ceiling) >= 0 for turn in found for stop in known
        ):
            return known
        try:
            ended = self._upto(found[-1].message + 1, False)
        except InvalidChatTemplate:
            return known
        ending = self.text[max(found[-1].start, found[-1].end - ENDING) : found[-1].end]
        at = ended.rfind(ending)
        return (*known, last_token(ended[at + len(ending) :])) if at >= 0 else known

    def _upto(self, message: int, prompted: bool) -> str:
        upto = replace(self._given, messages=self._given.messages[:message], continue_final_message=False)
        return _text(self._template, replace(upto, add_generation_prompt=prompted))


def _role(message: Message | Mapping[str, JSON]) -> JSON:
    return message.role if isinstance(message, Message) else message["role"]


def _text(template: ChatTemplate, given: Given) -> str:
    """The plain render."""
    try:
        from .sandbox import Sandbox
    except ImportError as error:
        raise InvalidChatTemplate("jinja2 is not installed", "pip install 'dragoman[templates]'") from error

    def mark(value: JSON, owner: Owner) -> JSON:
        copy = plain(value, owner)
        if owner.kind is Kind.CALL and isinstance(given.messages[owner.message], Message):
            match copy:
                case {"function": {"arguments": dict(arguments)} as function}:
                    cast("dict[str, JSON]", function)["arguments"] = _Arguments(arguments)
        return copy

    return _render(template, given, mark, Sandbox)


def _may_want_text(error: InvalidChatTemplate, given: Given) -> bool:
    """Whether the template might do with arguments that are JSON text, and it is ours to say what they are."""
    ours = any(isinstance(message, Message) and message.tool_calls for message in given.messages)
    return ours and (isinstance(error.__cause__, TypeError) or "argument" in error.problem)


def _render(template: ChatTemplate, given: Given, mark: Mark, sandbox: type[Sandbox]) -> str:
    from .run import run

    keys = _thinking_keys(template.source)
    messages = dict_messages(given.messages, mark, thinking_keys=keys, arguments_as_text=given.arguments_as_text)
    if given.continue_final_message:
        _continue(messages[-1] if messages else {})
    caller = Owner(Kind.TOOLS)
    tokens = {name: given.options.get(name, token) for name, token in template.special_tokens.items()}
    others = {
        "tools": None if given.tools is None else dict_tools(given.tools, mark),
        "documents": None if given.documents is None else mark(given.documents, caller),
        "add_generation_prompt": given.add_generation_prompt,
        **tokens,
        **{name: mark(value, caller) for name, value in given.options.items() if name not in tokens},
    }
    return _cut(run(template.source, sandbox, messages, others, given.now), given)


def _cut(text: str, given: Given) -> str:
    """The text up to the end of the message that is to be continued; as transformers does it."""
    if not given.continue_final_message:
        return text
    at = text.rfind(CONTINUED.strip())
    if at < 0:
        raise InvalidChatTemplate("it leaves out the end of the final message", "don't continue that message")
    return text[:at] if text.startswith(CONTINUED, at) else text[:at].rstrip()


@lru_cache
def _thinking_keys(source: str) -> tuple[str, ...]:
    """What thoughts are called: as transformers has it, and ``reasoning`` for a template that knows no other name."""
    words = set(re.findall(r"\w+", source))
    return THINKING_KEYS if THINKING_KEYS[2] in words and words.isdisjoint(THINKING_KEYS[:2]) else THINKING_KEYS[:2]


def _pieces(given: Given) -> list[tuple[str, Owner]]:
    """Every text of the caller's with its owner, in the order of the messages; tools come first."""
    found: list[tuple[str, Owner]] = []

    def note(value: JSON, owner: Owner) -> JSON:
        match value:
            case str():
                found.append((value, owner))
            case Mapping():
                for key, item in value.items():
                    note(key, owner)
                    note(item, owner)
            case list() | tuple():
                for item in value:
                    note(item, owner)
        return value

    note(given.options, Owner(Kind.TOOLS))
    note(given.documents, Owner(Kind.TOOLS))
    dict_tools(given.tools or (), note)
    dict_messages(given.messages, note, arguments_as_text=given.arguments_as_text)
    return found


class _Arguments(dict[str, JSON]):
    """An object that no template should write in Python's notation."""

    def __repr__(self) -> str:
        raise TypeError("arguments are an object")


def _copy(message: Mapping[str, JSON], index: int) -> Mapping[str, JSON]:
    copy = plain(message, Owner(Kind.TEXT, index))
    if not isinstance(copy, dict):
        raise InvalidConversation(index, "a Message or a dict", f"a {type(message).__name__}")
    return copy


def _continue(message: dict[str, JSON]) -> None:
    """Puts the mark behind the message's text, the last one if it has several."""
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = content + CONTINUED
        return
    for piece in reversed(content if isinstance(content, list) else []):
        if isinstance(piece, dict) and isinstance(text := piece.get("text"), str):
            piece["text"] = text + CONTINUED
            return
    raise InvalidConversation(-1, "a final message with text to continue", "one without")
