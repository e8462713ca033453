"""Requests to gpt-oss for servers, token ids in and token ids out.

`HarmonyBuilder` makes the ids of a request from what a client sent to either of OpenAI's APIs, and those of the next
one from what the model sampled, without changing a sampled token. `HarmonyOutput` reads what comes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ..dialect import Dialect
from ..errors import InvalidConversation
from ..tokenizers import Tokenizer, control_pattern, get_tokenizer
from ..types import JSON, Message, Tool, ToolCall
from .encode import Encoder
from .family import get_family
from .harmony_messages import CALL, END, PROMPT, RETURN, entries, write_entry
from .openai_items import Items, preambles, read_items, read_tools
from .openai_messages import read_messages
from .page import Page
from .renderer import Renderer
from .responses import read_response

__all__ = ["HarmonyBuilder", "HarmonyRequest"]

SELECTION_LENGTH = 1000
"""Characters of `selection_text`: enough to tell conversations apart, and no more to be copied about."""


class HarmonyRequest(Struct, frozen=True):
    """What an engine is given: the prompt's ids and the ids that stop it; the rest is for the server.

    `selection_text` is how the last text of the user begins, to choose a worker by. `messages` is the conversation, and
    `tools` its functions, which the parser of the output wants too.
    """

    input_ids: list[int]
    stop_token_ids: tuple[int, ...]
    selection_text: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()


class HarmonyBuilder:
    """Makes requests in the tokens of gpt-oss, or of another tokenizer that has Harmony's.

    `options` are those of the family `gpt_oss`, for all requests; each request may have others. Raises
    `InvalidConversation` for unknown ones and for what can't be said, `InvalidTool`, `InvalidTokenizer`, and with
    `refuse_control_text` `ControlText`.
    """

    def __init__(
        self, tokenizer: Tokenizer | None = None, *, refuse_control_text: bool = False, **options: JSON
    ) -> None:
        self.tokenizer = tokenizer if tokenizer is not None else get_tokenizer("o200k_harmony")
        self.options = options
        self._refuses = refuse_control_text
        renderer = self._renderer(options)
        self._dialect: Dialect = renderer.dialect
        self._stops = renderer.stop_ids
        self._encoder = Encoder(self.tokenizer, refuses=refuse_control_text)

    def from_chat(
        self,
        messages: Sequence[Message | Mapping[str, JSON]],
        tools: Sequence[Tool | Mapping[str, JSON]] | None = None,
        **options: JSON,
    ) -> HarmonyRequest:
        """A request from messages and tools of the chat API; its text before calls is a preamble."""
        read = tuple(
            message if isinstance(given, Message) else preambles(message)
            for given, message in zip(messages, read_messages(messages), strict=True)
        )
        return self._request(read, tools, options)

    def from_responses(
        self,
        items: Items,
        *,
        instructions: str | None = None,
        tools: Sequence[Tool | Mapping[str, JSON]] | None = None,
        history: Items = (),
        **options: JSON,
    ) -> HarmonyRequest:
        """A request from input items of the Responses API, behind the items of a `history`."""
        earlier: Items = read_items(history)
        told = read_items([{"type": "message", "role": "developer", "content": instructions}] if instructions else ())
        return self._request((*told, *earlier, *read_items(items)), tools, options)

    def append_tool_results(
        self,
        request: HarmonyRequest,
        output_ids: Sequence[int],
        results: Sequence[Message | Mapping[str, JSON]],
    ) -> HarmonyRequest:
        """The request that goes on behind the calls in `output_ids`, which stay as they were sampled.

        `results` are messages of tools; those without a name answer the calls in their order. What stands behind a stop
        token is left out; one that the engine has left out, or a ``<|return|>``, which no prompt holds, becomes the one
        of a call. Raises `InvalidConversation` where nothing was called, or a result is no call's.
        """
        control = self.tokenizer.control
        ends = (control[CALL], control[RETURN])
        at = next((k for k, token in enumerate(output_ids) if token in ends), len(output_ids))
        message, _ = read_response(
            self._dialect, self.tokenizer, (RETURN, CALL), [*output_ids[:at], ends[0]], request.tools, PROMPT
        )
        index = len(request.messages)
        if not message.tool_calls:
            raise InvalidConversation(index, "output that calls a tool", "none that does")
        answers = _named(read_messages(results), message.tool_calls, index + 1)
        closed = at and output_ids[at - 1] == control[END]
        close = [] if closed else [control[CALL] if isinstance(message.parts[-1], ToolCall) else control[END]]
        page = Page(self._dialect, control_pattern(self.tokenizer))
        for entry in entries(answers, frozenset(tool.name for tool in request.tools)):
            page.at(entry.message)
            write_entry(page, entry)
            page.mark(END)
        page.mark(PROMPT)
        written, _ = self._encoder.encode(page.segments)
        ids = [*request.input_ids, *output_ids[:at], *close, *written]
        return replace(request, input_ids=ids, messages=(*request.messages, message, *answers))

    def _renderer(self, options: Mapping[str, JSON]) -> Renderer:
        return Renderer("gpt_oss", self.tokenizer, refuse_control_text=self._refuses, **options)

    def _request(
        self,
        messages: tuple[Message, ...],
        tools: Sequence[Tool | Mapping[str, JSON]] | None,
        options: Mapping[str, JSON],
    ) -> HarmonyRequest:
        functions, builtin = read_tools(tools)
        chosen: dict[str, JSON] = {**self.options, **options}
        if builtin:
            already = get_family("gpt_oss").read_options(chosen)
            chosen["builtin_tools"] = tuple({*getattr(already, "builtin_tools", ()), *builtin})
        prompt = self._renderer(chosen).build_generation_prompt(messages, functions)
        asked = next((message.text for message in reversed(messages) if message.role == "user"), "")
        return HarmonyRequest(prompt.ids, self._stops, asked[:SELECTION_LENGTH], messages, functions)


def _named(results: Sequence[Message], calls: Sequence[ToolCall], first: int) -> tuple[Message, ...]:
    """The results, each with the name of its tool."""
    out: list[Message] = []
    for k, result in enumerate(results):
        if result.role != "tool" or not (result.name or k < len(calls)):
            raise InvalidConversation(first + k, "what a tool has answered", f"a {result.role} message, of no call")
        out.append(result if result.name else replace(result, name=calls[k].name))
    return tuple(out)
