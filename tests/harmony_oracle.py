"""openai-harmony as an oracle, without a download: its vocabulary is written from the one that is shipped here."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dragoman.render.harmony_system import Harmony
from dragoman.tokenizers.vocabularies import o200k_ranks
from dragoman.types import Message, TextPart, ThinkingPart, Tool, ToolCall

__all__ = ["conversation", "encoding", "harmony_messages", "rendered"]


@cache
def encoding() -> Any:
    """The library's encoding of gpt-oss."""
    import openai_harmony as theirs

    with TemporaryDirectory() as folder:
        lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in o200k_ranks().items())
        Path(folder, "o200k_base.tiktoken").write_bytes(b"".join(lines))
        before = os.environ.get("TIKTOKEN_ENCODINGS_BASE")
        os.environ["TIKTOKEN_ENCODINGS_BASE"] = folder
        try:
            return theirs.load_harmony_encoding(theirs.HarmonyEncodingName.HARMONY_GPT_OSS)
        finally:
            del os.environ["TIKTOKEN_ENCODINGS_BASE"]
            if before is not None:
                os.environ["TIKTOKEN_ENCODINGS_BASE"] = before


def conversation(messages: Sequence[Message], tools: Sequence[Tool], options: Harmony) -> Any:
    """The library's conversation for ours, made from its own classes."""
    import openai_harmony as theirs

    written = [system(options)] if options.with_system else []
    developed = bool(messages) and messages[0].role in ("system", "developer")
    if tools and not developed:
        written.append(developer(None, tools))
    for index, message in enumerate(messages):
        if message.role in ("system", "developer"):
            written.append(developer(message.text, tools if index == 0 else ()))
        else:
            written += harmony_messages(message, messages[:index], tools)
    return theirs.Conversation.from_messages(written)


def system(options: Harmony) -> Any:
    import openai_harmony as theirs

    effort = options.reasoning_effort
    namespaces = {
        "browser": theirs.ToolNamespaceConfig.browser,
        "python": theirs.ToolNamespaceConfig.python,
    }
    channels = theirs.ChannelConfig(
        valid_channels=list(options.valid_channels), channel_required=options.channel_required
    )
    content = theirs.SystemContent(
        model_identity=options.model_identity,
        reasoning_effort=theirs.ReasoningEffort(effort.capitalize()) if effort else None,
        conversation_start_date=options.conversation_start_date,
        knowledge_cutoff=options.knowledge_cutoff,
        channel_config=channels,
        tools={name: namespaces[name]() for name in options.builtin_tools} or None,
    )
    return theirs.Message.from_role_and_content(theirs.Role.SYSTEM, content)


def developer(instructions: str | None, tools: Iterable[Tool]) -> Any:
    import openai_harmony as theirs

    content = theirs.DeveloperContent(instructions=instructions)
    declared = [
        theirs.ToolDescription.new(tool.name, tool.description, parameters=tool.parameters)  # type: ignore[arg-type]
        for tool in tools
    ]
    if declared:
        content = content.with_function_tools(declared)
    return theirs.Message.from_role_and_content(theirs.Role.DEVELOPER, content)


def harmony_messages(message: Message, before: Sequence[Message], tools: Sequence[Tool]) -> Iterator[Any]:
    """The library's messages for one of ours."""
    import openai_harmony as theirs

    if message.role == "user":
        author = theirs.Author(role=theirs.Role.USER, name=message.name)
        yield theirs.Message(author=author, content=texts(message))
        return
    if message.role == "tool":
        calls = {call.id: call.name for each in before for call in each.tool_calls}
        name, channel, _ = way(message.name or calls[message.call_id], tools)
        author = theirs.Author.new(theirs.Role.TOOL, name)
        answer = theirs.Message(author=author, content=texts(message))
        yield answer.with_recipient("assistant").with_channel(channel)
        return
    for part in message.parts or (TextPart(""),):
        match part:
            case ThinkingPart(text=text):
                yield said(text).with_channel("analysis")
            case TextPart(text=text, channel=channel):
                yield said(text).with_channel(channel or "final")
            case ToolCall(name=name, arguments=arguments):
                recipient, channel, content_type = way(name, tools)
                call = said(arguments).with_channel(channel).with_recipient(recipient)
                yield call.with_content_type(content_type)


def way(name: str, tools: Sequence[Tool]) -> tuple[str, str, str]:
    """How a tool is called: the recipient, the channel and the content type."""
    declared = any(tool.name == name for tool in tools)
    if not declared and (name == "python" or name.startswith("browser.")):
        return name, "analysis", "code"
    return f"functions.{name}", "commentary", "<|constrain|>json"


def said(text: str) -> Any:
    import openai_harmony as theirs

    return theirs.Message.from_role_and_content(theirs.Role.ASSISTANT, text)


def texts(message: Message) -> list[Any]:
    import openai_harmony as theirs

    return [theirs.TextContent(text=part.text) for part in message.parts if isinstance(part, TextPart)]


def rendered(whole: Any, *, drop: bool, training: bool = False) -> list[int]:
    """The library's ids, as a prompt or for training."""
    import openai_harmony as theirs

    config = theirs.RenderConversationConfig(auto_drop_analysis=drop)
    if training:
        return list(encoding().render_conversation_for_training(whole, config))
    return list(encoding().render_conversation_for_completion(whole, theirs.Role.ASSISTANT, config))
