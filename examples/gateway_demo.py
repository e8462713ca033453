"""A gateway on a free port, and OpenAI's own client talking to two models through it: `make demo`.

The models are recordings, each in the raw format of its family; the client knows nothing of that. It asks, gets
thoughts, text and a call of a tool as they are written, answers the call, and gets the answer. In a terminal each
kind of text has its own dress, piped it is plain. `dragoman demo` shows the parser alone.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from openai import OpenAI
from openai.types.chat import (
    ChatCompletionChunk,
    ChatCompletionMessageFunctionToolCallParam,
    ChatCompletionMessageParam,
    ChatCompletionToolParam,
)
from rich.panel import Panel
from rich.text import Text

from dragoman.cli.output import Ink, open_console, visible

MODELS = (("harmony", "gpt-oss: channels"), ("qwen3_coder", "Qwen3-Coder: elements"))
"""What is asked for, and what its raw output is like."""

QUESTION = "What is the weather in Zürich?"
RESULT = '{"city": "Zürich", "sky": "clear", "celsius": 21}'
TOOL: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "forecast",
        "description": "The forecast for a city.",
        "parameters": {"type": "object", "required": ["city"], "properties": {"city": {"enum": ["Zürich"]}}},
    },
}
PATIENCE = 60.0
"""Seconds until a gateway that does not stop is no longer waited for."""


def main() -> int:
    """Run the demonstration; gives the exit code."""
    console = open_console()
    with gateway() as url:
        console.print(Text(f"a gateway at {url}, and OpenAI's client", style="bold"))
        client = OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
        called = [talk(client, model, about) for model, about in MODELS]
        client.close()
    console.print(Text("the gateway has stopped", style="bold"))
    return 0 if all(called) else 1


@contextmanager
def gateway() -> Iterator[str]:
    """A gateway as a process of its own; gives its URL, and stops it as an operator would."""
    command = [sys.executable, "-m", "dragoman.cli", "serve", "--port", "0", "--json", "--log-level", "warning"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise SystemExit("the gateway did not start")
            yield json.loads(line)["url"]
            process.send_signal(signal.SIGTERM)
            if process.wait(PATIENCE):
                raise SystemExit("the gateway did not stop as it should")
        finally:
            process.kill()


def talk(client: OpenAI, model: str, about: str) -> bool:
    """Two turns with a model: a question that needs a tool, and the tool's result; whether it called the tool."""
    view = View()
    view.title(f"{model} ({about})", QUESTION)
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": QUESTION}]
    stream = client.chat.completions.create(model=model, messages=messages, tools=[TOOL], stream=True)
    calls = view.watch(stream)
    messages.append({"role": "assistant", "tool_calls": [_sent(*call) for call in calls]})
    for call_id, *_ in calls:
        messages.append({"role": "tool", "tool_call_id": call_id, "content": RESULT})
    if calls:
        view.result(RESULT)
        view.watch(client.chat.completions.create(model=model, messages=messages, tools=[TOOL], stream=True))
    return bool(calls)


def _sent(call_id: str, name: str, arguments: str) -> ChatCompletionMessageFunctionToolCallParam:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


class View:
    """Shows an answer while it is written."""

    def __init__(self) -> None:
        self._console = open_console()
        self._ink = Ink(self._console)
        self._kind = ""

    def title(self, model: str, question: str) -> None:
        self._ink.line("")
        self._ink.line(f"━━ {model}", "bold")
        self._ink.line(f"user: {question}", "bold cyan")

    def result(self, text: str) -> None:
        self._ink.line(f"tool: {text}", "bold cyan")

    def watch(self, stream: Iterator[ChatCompletionChunk]) -> list[tuple[str, str, str]]:
        """Show a stream; gives the calls: id, name, arguments."""
        calls: dict[int, list[str]] = {}
        self._kind = ""
        for chunk in stream:
            for choice in chunk.choices:
                delta = choice.delta
                self._write("reasoning", getattr(delta, "reasoning_content", None) or "", "dim italic")
                self._write("content", delta.content or "", "")
                for part in delta.tool_calls or ():
                    call = calls.setdefault(part.index, ["", "", ""])
                    function = part.function
                    call[0] += part.id or ""
                    call[1] += (function.name or "") if function else ""
                    call[2] += (function.arguments or "") if function else ""
        self._ink.fresh_line()
        for _, name, arguments in calls.values():
            self._call(name, arguments)
        return [(call[0], call[1], call[2]) for call in calls.values()]

    def _write(self, kind: str, text: str, style: str) -> None:
        if not text:
            return
        if kind != self._kind:
            self._ink.fresh_line()
            self._kind = kind
            if not self._ink.styled:
                self._ink.write(f"{kind}: ")
        self._ink.write(text, style)

    def _call(self, name: str, arguments: str) -> None:
        if self._ink.styled:
            body = Text(visible(arguments), style="cyan")
            title = f"call {visible(name)}"
            self._console.print(Panel(body, title=title, title_align="left", expand=False, style="cyan"))
        else:
            self._ink.line(f"call: {name} {arguments}")


if __name__ == "__main__":
    sys.exit(main())
