"""A model as the gateway serves it: its names, its dialect, and how its prompts are written.

What is not said is found out from what is: the layout by the model's name or its chat template, the dialect by the
layout or the name, the tokenizer only where it comes with the package. A model without a tokenizer is prompted by text,
one without a layout only by workers that lay out chats themselves.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import msgspec

from ..dialect import Dialect
from ..errors import DragomanError, InvalidConfig, InvalidConversation, InvalidPrompt, Refused, UnknownDialect
from ..kept import keep
from ..parse.prefill import prefill_in
from ..recognise import recognise
from ..registry import get_dialect
from ..render import Family, Renderer, family_of, get_family, template_family
from ..render.encode import Encoder
from ..segments import Kind, Segment, text_of
from ..stream.chat_chunks import ReasoningField
from ..tokenizers import Tokenizer, control_pattern, decode, get_tokenizer
from ..tokenizers.bytes import ByteTokenizer
from ..types import JSON, Tool
from .workers.order import Prompt

__all__ = ["ServedModel", "load_model", "safe_text"]

KEPT = 32
"""Renderers that a model keeps, one for each set of options that callers ask for."""

WORD_JOINER = "\u2060"
"""What is put into a marker that a caller's text spells, where a prompt goes as text: no token has it inside."""

USUAL = r"<[|｜][^<>|｜\n]{1,64}[|｜]>"
"""How control tokens are mostly spelled, for the ones of a worker's vocabulary that nobody has told us."""

HARMONY = "harmony"
HARMONY_TOKENIZER = "o200k_harmony"


class ServedModel:
    """One model.

    `name` and `aliases` are what clients call it. `options` are defaults of its chat template's options; those of a
    request go before them. `reasoning` is the field in which clients find thoughts.
    """

    def __init__(
        self,
        name: str,
        dialect: Dialect,
        *,
        family: Family | None = None,
        tokenizer: Tokenizer | None = None,
        aliases: Sequence[str] = (),
        options: Mapping[str, JSON] | None = None,
        reasoning: ReasoningField = "reasoning_content",
    ) -> None:
        self.reasoning: ReasoningField = reasoning
        self.name, self.aliases = name, tuple(aliases)
        self.dialect, self.family, self.tokenizer = dialect, family, tokenizer
        self.options = dict(options or {})
        self._renderers: dict[str, Renderer] = {}
        if family is not None:
            self.renderer(self.options)

    def renderer(self, options: Mapping[str, JSON]) -> Renderer | None:
        """Who writes its prompts with these options; raises `Refused` for one that there is not."""
        if self.family is None:
            return None
        merged = {**self.options, **options}
        key = msgspec.json.encode(merged, order="deterministic").decode()
        found = self._renderers.get(key)
        if found is None:
            vocabulary = self.tokenizer
            if vocabulary is None:
                spoken = self.dialect
                known = (*self.family.needs, *self.family.ends, *spoken.marks, *spoken.turns, *spoken.others)
                vocabulary = ByteTokenizer(known)
            try:
                found = Renderer(self.family, vocabulary, refuse_control_text=False, **merged)
            except (InvalidConversation, TypeError) as error:  # a TypeError for the names of our own parameters
                said = str(error) if isinstance(error, InvalidConversation) else "these are no options of the model"
                raise Refused(400, "invalid_value", said, param="chat_template_kwargs") from error
            found = keep(self._renderers, key, found, KEPT)
        return found

    @property
    def stop_ids(self) -> tuple[int, ...]:
        """The tokens that end its turn; none where its tokenizer is not known."""
        if self.tokenizer is None:
            return ()
        control = self.tokenizer.control
        return tuple(control[end] for end in self._ends if end in control)

    @property
    def stop_texts(self) -> tuple[str, ...]:
        """The same, and those that are no tokens, spelled out."""
        return self._ends

    @property
    def _ends(self) -> tuple[str, ...]:
        own = (*self.family.ends, *self.family.stop_texts) if self.family is not None else ()
        return tuple(dict.fromkeys((*own, *self.dialect.stops)))

    @property
    def lead(self) -> str:
        """What it writes before its text, and what is no part of that."""
        return self.family.lead if self.family is not None else ""

    def accepts(self, option: str) -> bool:
        """Whether its layout has an option of this name."""
        if self.family is None:
            return False
        return not self.family.options.__struct_fields__ or option in self.family.options.__struct_fields__

    def raw_prompt(self, text: str) -> Prompt:
        """A text that is the whole prompt, in which control tokens are spelled; linear."""
        if self.tokenizer is None:
            return Prompt(None, text)
        return Prompt(tuple(Encoder(self.tokenizer).encode([Segment(text, control=True)])[0]), text)

    def id_prompt(self, ids: Sequence[int]) -> Prompt:
        """Ids that are the whole prompt; raises `UnknownToken`."""
        text = decode(self.tokenizer, ids) if self.tokenizer is not None else None
        return Prompt(tuple(ids), text)

    def prompt(
        self,
        messages: Sequence[Mapping[str, JSON]],
        tools: Sequence[Tool | Mapping[str, JSON]],
        options: Mapping[str, JSON],
        *,
        goes_on: bool = False,
    ) -> Prompt:
        """The conversation as the model is given it; with `goes_on`, its last message is not over.

        Linear in the conversation. Raises `InvalidConversation`, `InvalidChatTemplate`, and `Refused` for options.
        """
        renderer = self.renderer(options)
        if renderer is None:
            return Prompt()
        if goes_on:
            segments = _unended(renderer.segments(messages, tools or None))
            ids = renderer.encode(segments)[0]
        else:
            rendered = renderer.build_generation_prompt(messages, tools or None)
            segments, ids = rendered.segments, rendered.ids
        begun = self._begun(text_of(segments))
        if self.tokenizer is None:
            return Prompt(None, safe_text(segments, _guarded(control_pattern(renderer.tokenizer))), begun)
        return Prompt(tuple(ids), safe_text(segments, control_pattern(self.tokenizer)), begun)

    def _begun(self, text: str) -> str:
        try:
            return prefill_in(text, self.dialect)
        except InvalidPrompt:
            return ""  # a dialect that does not tell how a turn begins starts with nothing open


def _guarded(known: re.Pattern[str]) -> re.Pattern[str]:
    """What may be a control token of a vocabulary of which only some are known."""
    return re.compile(f"{known.pattern}|{USUAL}")


def _unended(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """A conversation without the end of its last message."""
    last = len(segments)
    while last and segments[last - 1].kind in (Kind.STOP, Kind.MARKUP):
        last -= 1
    return tuple(segments[:last])


def safe_text(segments: Sequence[Segment], control: re.Pattern[str]) -> str:
    """The text of a prompt, in which a marker that somebody's text spells is no marker any more.

    It is looked for in the whole text, since what one text begins the next may end. Linear.
    """
    text = text_of(segments)
    ends = list(accumulate(len(segment.text) for segment in segments))

    def broken(found: re.Match[str]) -> str:
        spelled = found.group()
        first, last = bisect_right(ends, found.start()), bisect_right(ends, found.end() - 1)
        if all(segment.control for segment in segments[first : last + 1]):
            return spelled
        return f"{spelled[:1]}{WORD_JOINER}{spelled[1:]}"

    return control.sub(broken, text)


def load_model(
    name: str,
    *,
    dialect: str | None = None,
    family: str | None = None,
    tokenizer: str | None = None,
    chat_template: str | None = None,
    template: str | None = None,
    aliases: Sequence[str] = (),
    options: Mapping[str, JSON] | None = None,
    reasoning: ReasoningField = "reasoning_content",
) -> ServedModel:
    """The model of this name, and of these files; raises `InvalidConfig` where they do not tell enough.

    `chat_template` is the path of one, `template` its text, for a model that has neither a path nor a folder.
    """
    where = f"models.{name}"
    try:
        template = _template(chat_template, tokenizer) or template
        layout = get_family(family) if family else _layout(name, template, dialect)
        spoken = get_dialect(dialect) if dialect else layout.speaks() if layout else recognise(name).dialect
        vocabulary = get_tokenizer(tokenizer) if tokenizer else None
        if vocabulary is None and spoken.name == HARMONY:
            vocabulary = get_tokenizer(HARMONY_TOKENIZER)
        if layout is None and spoken.name == HARMONY:
            layout = get_family("gpt_oss")
        return ServedModel(
            name,
            spoken,
            family=layout,
            tokenizer=vocabulary,
            aliases=aliases,
            options=options,
            reasoning=reasoning,
        )
    except InvalidConfig:
        raise
    except UnknownDialect as error:
        expected = "a model whose dialect is known by its name, or one with dialect=, family= or chat_template="
        raise InvalidConfig(where, expected, str(error)) from error
    except DragomanError as error:
        raise InvalidConfig(where, "a model that can be served", str(error)) from error


def _layout(name: str, template: str | None, dialect: str | None) -> Family | None:
    if template is not None:
        try:
            return template_family(template, dialect=dialect)
        except UnknownDialect:
            if dialect is not None:
                raise
            return template_family(template, dialect=recognise(name).dialect.name)  # one that lays out turns alone
    found = family_of(name)
    if found is not None:
        return found
    try:
        return get_family(dialect or name)
    except DragomanError:
        return None


def _template(chat_template: str | None, tokenizer: str | None) -> str | None:
    """The text of a chat template: a file's, or that in the tokenizer's folder."""
    if chat_template is not None:
        path = Path(chat_template)
        if not path.is_file():
            raise InvalidConfig("chat_template", "the path of a file", repr(chat_template))
        return path.read_text(encoding="utf-8")
    folder = Path(tokenizer) if tokenizer else None
    if folder is None or not folder.is_dir():
        return None
    if (folder / "chat_template.jinja").is_file():
        return (folder / "chat_template.jinja").read_text(encoding="utf-8")
    config = folder / "tokenizer_config.json"
    if config.is_file():
        found = msgspec.json.decode(config.read_bytes(), type=dict[str, object]).get("chat_template")
        return found if isinstance(found, str) else None
    return None
