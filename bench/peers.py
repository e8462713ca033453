"""Other people's renderers and parsers of token ids, as far as this environment has them.

None of them is needed, and most are heavy: `tinker-cookbook` and `tml-renderers` want torch, and the first of them and
`renderers` the tokenizers of transformers. Give them an environment of their own and run ``python -m bench`` there.
Each gets a conversation in its own form, made before the clock runs, and gives back what it is asked for by those
who use it: the ids of a prompt with whatever it knows about them.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from dragoman.tokenizers.vocabularies import o200k_ranks
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall

from .chats import as_dicts
from .vocabularies import fast

__all__ = ["PARSERS", "RENDERERS", "Chat", "Feed", "installed", "why"]

Chat: TypeAlias = tuple[Message, ...]

Render: TypeAlias = Callable[[Chat], Callable[[], object]]
"""Takes a conversation as its peer wants it, and gives what is to be timed; that returns the peer's answer."""

Ids: TypeAlias = Callable[[Any], Sequence[int]]
"""The ids in a peer's answer."""


def installed(package: str) -> str:
    """The version of a package, empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def tinker(family: str) -> tuple[Render, Ids]:
    """Chunks of ids, without a word on whose they are."""
    renderer = _tinker(family)

    def prepare(chat: Chat) -> Callable[[], object]:
        from tinker_cookbook.renderers.base import ToolCall as Theirs

        written: list[Any] = []
        for each in as_dicts(chat, decoded=False):
            thoughts = each.pop("reasoning_content", "")
            if thoughts:
                said = [{"type": "thinking", "thinking": thoughts}, {"type": "text", "text": each["content"]}]
                each["content"] = said
            calls: Any = each.get("tool_calls")
            if calls:
                each["tool_calls"] = [Theirs(**call) for call in calls]
            written.append(each)
        return lambda: renderer.build_generation_prompt(written)

    return prepare, lambda answer: answer.to_ints()


@cache
def _tinker(family: str) -> Any:
    from tinker_cookbook.renderers.gpt_oss import GptOssRenderer
    from tinker_cookbook.renderers.qwen3 import Qwen3Renderer

    if family == "gpt_oss":
        return GptOssRenderer(fast(family), use_system_prompt=True, reasoning_effort="medium")
    return Qwen3Renderer(fast(family))


def prime(family: str) -> tuple[Render, Ids]:
    """Ids, and of each its message and whether it was sampled."""
    renderer = _prime(family)

    def prepare(chat: Chat) -> Callable[[], object]:
        dicts = as_dicts(chat)
        return lambda: renderer.render(dicts, add_generation_prompt=True)

    return prepare, lambda answer: answer.token_ids


@cache
def _prime(family: str) -> Any:
    import renderers

    if family == "gpt_oss":
        _harmony()  # it loads the same vocabulary
        with _vocabulary():
            return renderers.GptOssRenderer(fast(family))
    return renderers.Qwen3Renderer(fast(family))


def tml(family: str) -> tuple[Render, Ids]:
    """Spans of ids, and a parser for the answer; its own vocabulary."""
    from tml_renderers.chat import MessageList

    renderer = _tml(family)

    def prepare(chat: Chat) -> Callable[[], object]:
        dicts = as_dicts(chat, decoded=False)
        for each in dicts:
            thoughts = each.pop("reasoning_content", "")
            if thoughts:
                said = [{"type": "thinking", "thinking": thoughts}, {"type": "text", "text": each["content"]}]
                each["content"] = said
        messages = MessageList.from_oss_messages(dicts)
        return lambda: renderer.render_for_completion(messages)

    return prepare, lambda answer: [token for each in answer[0] for token in each.span.tokens]


@cache
def _tml(family: str) -> Any:
    from tml_renderers import renderers

    return renderers.GptOss() if family == "gpt_oss" else renderers.Qwen3()


def transformers(family: str) -> tuple[Render, Ids]:
    """Ids alone, of the chat template's text."""
    tokenizer = fast(family)

    def prepare(chat: Chat) -> Callable[[], object]:
        dicts = as_dicts(chat)
        for each in dicts:
            if "reasoning_content" in each:
                each["thinking"] = each["reasoning_content"]
        if family == "gpt_oss":  # its template refuses text beside a call
            for each in dicts:
                if "tool_calls" in each:
                    del each["content"]
        return lambda: tokenizer.apply_chat_template(dicts, add_generation_prompt=True, return_dict=False)

    return prepare, lambda answer: answer


def harmony(family: str) -> tuple[Render, Ids]:
    """Ids alone; the conversation is made of its own classes."""
    import openai_harmony as theirs

    if family != "gpt_oss":
        raise NotImplementedError("it knows gpt-oss only")
    encoding = _harmony()

    def prepare(chat: Chat) -> Callable[[], object]:
        whole = theirs.Conversation.from_messages(list(_harmony_messages(theirs, chat)))
        return lambda: encoding.render_conversation_for_completion(whole, theirs.Role.ASSISTANT)

    return prepare, lambda answer: answer


def _harmony_messages(theirs: Any, chat: Chat) -> Iterable[Any]:
    write, role = theirs.Message.from_role_and_content, theirs.Role
    yield write(role.SYSTEM, theirs.SystemContent.new())
    for message in chat:
        match message.role:
            case "system":
                yield write(role.DEVELOPER, theirs.DeveloperContent.new().with_instructions(message.text))
            case "user":
                yield write(role.USER, message.text)
            case "tool":
                answer = theirs.Message.from_author_and_content(
                    theirs.Author.new(role.TOOL, f"functions.{message.name}"), message.text
                )
                yield answer.with_recipient("assistant").with_channel("commentary")
            case _:
                for part in message.parts:
                    match part:
                        case ThinkingPart(text=text):
                            yield write(role.ASSISTANT, text).with_channel("analysis")
                        case TextPart(text=text):
                            yield write(role.ASSISTANT, text).with_channel("final")
                        case ToolCall(name=name, arguments=arguments):
                            call = write(role.ASSISTANT, arguments).with_channel("commentary")
                            yield call.with_recipient(f"functions.{name}").with_content_type("<|constrain|>json")


class _vocabulary:  # noqa: N801
    """A folder with the vocabulary that openai-harmony would fetch, while it is loaded."""

    def __enter__(self) -> None:
        self._folder = TemporaryDirectory()
        lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in o200k_ranks().items())
        Path(self._folder.name, "o200k_base.tiktoken").write_bytes(b"".join(lines))
        self._before = os.environ.get("TIKTOKEN_ENCODINGS_BASE")
        os.environ["TIKTOKEN_ENCODINGS_BASE"] = self._folder.name

    def __exit__(self, *_: object) -> None:
        del os.environ["TIKTOKEN_ENCODINGS_BASE"]
        if self._before is not None:
            os.environ["TIKTOKEN_ENCODINGS_BASE"] = self._before
        self._folder.cleanup()


@cache
def _harmony() -> Any:
    import openai_harmony as theirs

    with _vocabulary():
        return theirs.load_harmony_encoding(theirs.HarmonyEncodingName.HARMONY_GPT_OSS)


RENDERERS: dict[str, Callable[[str], tuple[Render, Ids]]] = {
    "tml-renderers": tml,
    "openai-harmony": harmony,
    "tinker-cookbook": tinker,
    "renderers": prime,
    "transformers": transformers,
}
"""What renders, by its package."""


def harmony_stream(family: str) -> Callable[[], Feed]:
    """Asked after each token what our events say; never for all that came before, which it would copy."""
    import openai_harmony as theirs

    if family != "gpt_oss":
        raise NotImplementedError("it knows gpt-oss only")
    encoding = _harmony()

    def start() -> Feed:
        parser = theirs.StreamableParser(encoding, role=theirs.Role.ASSISTANT)

        def feed(token: int) -> object:
            parser.process(token)
            return parser.current_channel, parser.current_recipient, parser.last_content_delta

        return feed

    return start


def tinker_whole(family: str) -> Callable[[], Feed]:
    """A message."""
    return lambda: _tinker(family).parse_response  # type: ignore[no-any-return]


def tinker_stream(family: str) -> Callable[[], Feed]:
    """Deltas; it gets all ids at once, and feeds itself."""
    renderer = _tinker(family)
    return lambda: lambda ids: list(renderer.parse_response_streaming(ids))


def prime_whole(family: str) -> Callable[[], Feed]:
    """A message."""
    return lambda: _prime(family).parse_response  # type: ignore[no-any-return]


def tml_whole(family: str) -> Callable[[], Feed]:
    """Messages."""
    from tml_renderers.chat import MessageList

    asked = MessageList.from_oss_messages([{"role": "user", "content": "Hello."}])
    renderer = _tml(family)
    return lambda: renderer.render_for_completion(asked)[1].parse_tokens  # type: ignore[no-any-return]


Feed: TypeAlias = Callable[[Any], object]
"""Reads a token, or all that there are."""

PARSERS: tuple[tuple[str, str, Callable[[str], Callable[[], Feed]]], ...] = (
    ("openai-harmony", "token by token", harmony_stream),
    ("tml-renderers", "whole", tml_whole),
    ("tinker-cookbook", "whole", tinker_whole),
    ("tinker-cookbook", "streaming", tinker_stream),
    ("renderers", "whole", prime_whole),
)
"""What reads ids: its package, how it gets them, and what starts anew for each output of a family."""


def why(error: Exception) -> str:
    """Why there is no number, in a line."""
    return f"not measured: {type(error).__name__}: {error}".splitlines()[0][:160]
