"""Generic: JSON calls and thoughts between markers that the user names; for models that no other dialect fits.

    <think>
    They want the weather.
    </think>

    Let me look.
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call>

The layout is that of Hermes, with any markers and no stop marker unless one is given. Markup in Markdown code is
text, as everywhere. ``generic(call=("<call>", "</call>"))`` makes a dialect of one's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps

from ..dialect import Dialect, Example
from ..idioms import tagged_json, write
from ..types import Message, TextPart, ThinkingPart, ToolCall


def generic(
    think: tuple[str, str] = ("<think>", "</think>"),
    call: tuple[str, str] = ("<tool_call>", "</tool_call>"),
    stops: tuple[str, ...] = (),
    name: str = "generic",
    turns: tuple[str, ...] = (),
) -> Dialect:
    """A dialect with these markers; raises `DelimiterError` if they can't be told apart."""

    def write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
        blocks = (f'{call[0]}\n{{"name": {dumps(c.name)}, "arguments": {c.arguments}}}\n{call[1]}' for c in calls)
        return ("\n" if after_text else "") + "\n".join(blocks) + ("\n" if more else "")

    def writer(message: Message) -> str:
        return write(
            name,
            message,
            marks=(*think, *call, *stops),
            thinking=lambda text: f"{think[0]}\n{text}\n{think[1]}\n\n",
            calls=write_calls,
        )

    dialect = Dialect(
        name=name,
        title="JSON calls and thoughts between markers of one's own",
        grammar=tagged_json(think, call, stops),
        writer=writer,
        models=(),
        marks=(think[0], call[0]),
        stops=stops,
        turns=turns,
        source="the user; the layout is that of Hermes",
        examples=(
            Example(
                "a thought, a sentence and a call",
                f"{think[0]}\nLook.\n{think[1]}\n\nOne moment.\n"
                f'{call[0]}\n{{"name": "f", "arguments": {{"x": 1}}}}\n{call[1]}',
                Message("assistant", (ThinkingPart("Look."), TextPart("One moment."), ToolCall("f", '{"x": 1}'))),
            ),
            Example(
                "markup in code is text",
                f"Write `{call[0]}` or\n```\n{call[0]}{{}}{call[1]}\n```\n",
                Message("assistant", (TextPart(f"Write `{call[0]}` or\n```\n{call[0]}{{}}{call[1]}\n```\n"),)),
            ),
        ),
    )
    dialect.program()
    return dialect


DIALECT = generic()
