"""The body of ``POST /v1/chat/completions``: OpenAI's fields, and those that users of vLLM and SGLang send as well.

`read_chat` decodes and checks; what it gives can be trusted by the stages. A field that nobody here knows is not an
error, as in those servers; `ChatRequest.ignored` has their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, structs

from ...constrain import ToolChoice
from ...errors import InvalidRequest
from ...types import JSON, Tool
from ..workers.order import Sampling
from .refusals import decoded, invalid, unreadable
from .sampling import SAMPLING, check_sampling, check_stops, sampling_of

__all__ = ["ChatRequest", "ResponseFormat", "StreamOptions", "read_chat"]

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

MOST_CHOICES = 128
MOST_TOP_LOGPROBS = 20
MOST_MESSAGES, MOST_TOOLS = 1 << 16, 1024


class StreamOptions(Struct, frozen=True):
    """What a stream holds beside the answer."""

    include_usage: bool = False
    continuous_usage_stats: bool = False
    include_obfuscation: bool = False


class JsonSchemaFormat(Struct, frozen=True):
    name: str = "answer"
    schema: dict[str, Any] | None = None
    strict: bool | None = None
    description: str | None = None


class ResponseFormat(Struct, frozen=True):
    """What the answer has to be."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchemaFormat | None = None

    @property
    def schema(self) -> Mapping[str, JSON] | None:
        """The JSON Schema of the answer, ``None`` for free text."""
        match self.type:
            case "text":
                return None
            case "json_object":
                return {"type": "object"}
            case "json_schema":
                return (self.json_schema.schema if self.json_schema else None) or {}


class ChatFields(Struct, kw_only=True, frozen=True):
    """The fields that are read, but for those of `sampling`; see OpenAI's reference for what its own mean."""

    messages: list[dict[str, Any]]
    model: str = ""
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: Effort | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    stop: str | list[str] | None = None
    stop_token_ids: list[int] | None = None
    include_stop_str_in_output: bool | None = None
    n: int | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    logprobs: bool | None = None
    top_logprobs: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    continue_final_message: bool | None = None
    include_reasoning: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    session_id: str | None = None


class ChatRequest(ChatFields, kw_only=True, frozen=True):
    """A chat, and how it is to be answered.

    `ignored` are the names of the fields that were sent and mean nothing here, `raw` is all that was sent.
    """

    sampling: Sampling = Sampling()
    ignored: tuple[str, ...] = ()
    raw: Mapping[str, JSON] = {}

    @property
    def stops(self) -> tuple[str, ...]:
        """The caller's own stop strings."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def choice(self) -> ToolChoice:
        """Whether there may be or must be calls."""
        if self.tool_choice is None:
            return ToolChoice("auto" if self.tools else "none")
        return ToolChoice.of(self.tool_choice)

    @property
    def declared(self) -> tuple[Tool, ...]:
        """The tools as values; raises `InvalidTool`."""
        return tuple(Tool.from_openai(tool) for tool in self.tools or ())

    @property
    def is_strict(self) -> bool:
        """Whether a tool asks that its arguments satisfy its schema."""
        return any(
            isinstance(tool.get("function"), dict) and tool["function"].get("strict") for tool in self.tools or ()
        )

    @property
    def has_media(self) -> bool:
        """Whether a message has a part that no prompt of text can hold."""
        contents = [content for message in self.messages if isinstance(content := message.get("content"), list)]
        return any(isinstance(part, dict) and part.get("type") in MEDIA for content in contents for part in content)

    @property
    def session(self) -> str | None:
        """What the caller calls the conversation, or themselves."""
        return self.session_id or self.prompt_cache_key or self.safety_identifier or self.user


KNOWN = frozenset(ChatFields.__struct_fields__)

HARMLESS = frozenset(
    {"store", "metadata", "service_tier", "verbosity", "modalities", "rid", "request_id", "skip_special_tokens"}
    | {"spaces_between_special_tokens", "no_stop_trim", "stream_reasoning", "return_token_ids", "prediction"}
    | {"prompt_cache_retention", "prompt_cache_options", "moderation", "add_special_tokens", "echo"}
)
"""Fields that change nothing in an answer here, and about which nobody needs to be told."""

ELSEWHERE = frozenset({"kv_transfer_params", "bootstrap_host", "bootstrap_port", "bootstrap_room"})
"""Fields by which a worker is told of another host, as for prefill elsewhere: of no worker a client's to set."""

MEDIA = ("audio_url", "file", "image", "image_url", "input_audio", "video", "video_url")
"""Parts of messages that only workers with a layout of their own may take."""

ALWAYS = frozenset({"add_generation_prompt", "separate_reasoning"})
"""What is done here in any case: who asks that it be not done is told so."""

LEGACY = {"functions": "tools", "function_call": "tool_choice"}
"""What calls were asked for by, once; it would be worse to answer as if nobody had asked."""


def read_chat(body: bytes) -> ChatRequest:
    """The request in a body; raises `Refused` with the path of the first field that is wrong."""
    sent = decoded(body, dict[str, Any])
    raw = {key: value for key, value in sent.items() if key not in ELSEWHERE}
    try:
        fields = msgspec.convert({key: raw[key] for key in KNOWN & raw.keys()}, ChatFields)
    except msgspec.ValidationError as error:
        raise unreadable(error) from None
    most = _limit(fields)
    top = (fields.top_logprobs or 0) if fields.logprobs else None
    sampling = sampling_of(raw, max_tokens=most, logprobs=top)
    unheard = {name for name in ALWAYS if raw.get(name) is False and not fields.continue_final_message}
    ignored = tuple(sorted((sent.keys() - KNOWN - SAMPLING - HARMLESS - ALWAYS) | unheard))
    request = ChatRequest(**structs.asdict(fields), sampling=sampling, ignored=ignored, raw=raw)
    _check(request)
    check_sampling(sampling)
    return request


def _limit(request: ChatFields) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        value = getattr(request, name)
        if value is not None:
            if value < 1:
                raise invalid(name, f"'{name}' must be at least 1, found {value}", "integer_below_min_value")
            return int(value)
    return None


def _check(request: ChatRequest) -> None:
    """Refuse what the types allow and the API does not."""
    if not request.messages:
        raise invalid("messages", "'messages' must hold at least one message", "empty_array")
    if len(request.messages) > MOST_MESSAGES:
        raise invalid("messages", f"'messages' may hold up to {MOST_MESSAGES} messages")
    if request.n is not None and not 1 <= request.n <= MOST_CHOICES:
        raise invalid("n", f"'n' must be from 1 to {MOST_CHOICES}, found {request.n}")
    check_stops(request.stops, "stop")
    if request.top_logprobs is not None:
        if not request.logprobs:
            raise invalid("top_logprobs", "'top_logprobs' needs 'logprobs' to be true")
        if not 0 <= request.top_logprobs <= MOST_TOP_LOGPROBS:
            raise invalid("top_logprobs", f"'top_logprobs' must be from 0 to {MOST_TOP_LOGPROBS}")
    if request.stream_options is not None and not request.stream:
        raise invalid("stream_options", "'stream_options' needs 'stream' to be true")
    asked = request.response_format
    if asked is not None and asked.type == "json_schema" and asked.json_schema is None:
        raise invalid("response_format.json_schema", "'json_schema' is required where type is 'json_schema'")
    _check_tools(request)
    if request.continue_final_message and request.messages[-1].get("role") != "assistant":
        raise invalid("continue_final_message", "the last message must be the assistant's to be continued")


def _check_tools(request: ChatRequest) -> None:
    for old, new in LEGACY.items():
        if request.raw.get(old) is not None:
            raise invalid(old, f"'{old}' is of an older API: say it with '{new}'", "unsupported_parameter")
    if len(request.tools or ()) > MOST_TOOLS:
        raise invalid("tools", f"'tools' may hold up to {MOST_TOOLS} tools, found {len(request.tools or ())}")
    for index, tool in enumerate(request.tools or ()):
        if tool.get("type", "function") != "function":
            raise invalid(f"tools[{index}].type", f"tools must be of type 'function', found {tool['type']!r}")
    try:
        choice = request.choice
        choice.among(request.declared)
    except InvalidRequest as error:
        raise invalid("tool_choice", str(error)) from None
    if choice.mode == "required" and not request.tools:
        raise invalid("tool_choice", "'tool_choice' asks for a call, and there are no 'tools'")
