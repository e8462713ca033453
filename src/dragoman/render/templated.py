"""A model's own chat template as a family, so that a `Renderer` works for every model that has one.

Prompts, weights, stops and extension are the renderer's as for any family; what a template writes, and whose each
character is, `dragoman.render.template` finds out. It costs some renders more, and what a model samples is found by
comparing them instead of being written down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from ..dialect import Dialect
from ..recognise import by_template
from ..registry import get_dialect
from ..segments import NOBODY, Kind, Segment
from .family import Family
from .page import AnyOptions, Chat, Page
from .template import ChatTemplate

__all__ = ["template_family"]


def template_family(
    source: str,
    *,
    dialect: str | Dialect | None = None,
    special_tokens: Mapping[str, str] | None = None,
    stops: tuple[str, ...] = (),
    now: datetime | None = None,
) -> Family:
    """The family whose conversations this chat template writes.

    The `dialect` in which its models answer is told by the template if it is not given; raises `AmbiguousDialect` or
    `Unrecognised` where it does not tell. `special_tokens` are the template's ``bos_token`` and such, `stops` what ends
    a turn if not the ``eos_token`` or a stop of the dialect, `now` the time for templates that write it.
    """
    spoken = get_dialect(dialect) if isinstance(dialect, str) else dialect
    if spoken is None:
        spoken = by_template(source).dialect
    tokens = dict(special_tokens or {})
    ends = tuple(dict.fromkeys(filter(None, (*stops, *spoken.stops, tokens.get("eos_token", "")))))
    template = ChatTemplate(source, tokens, ends)

    def write(chat: Chat, page: Page) -> None:
        assert isinstance(chat.options, AnyOptions)
        tools = [tool.value for tool in chat.tools] or None
        values: dict[str, Any] = dict(chat.options.values)  # by any name
        text = template.render(chat.messages, tools, add_generation_prompt=chat.asked, now=now, **values)
        page.segments.extend(_attributed(text.segments, page.control))

    return Family(
        name="chat_template",
        doc=__doc__,
        dialect=spoken.name,
        spoken=spoken,
        write=write,
        prompt=lambda chat, index: "",
        ends=ends,
        options=AnyOptions,
        source="the template itself",
    )


def _attributed(segments: Iterable[Segment], control: re.Pattern[str]) -> list[Segment]:
    """The segments, of which those that the model wrote each know their message, and the last is its stop marker."""
    out: list[Segment] = []
    turn: list[Segment] = []
    for segment in segments:
        if segment.sampled:
            turn.append(segment)
            continue
        out += _turn(turn, control)
        turn = []
        out.append(segment)
    return out + _turn(turn, control)


def _turn(turn: list[Segment], control: re.Pattern[str]) -> list[Segment]:
    if not turn:
        return []
    owner = next((segment.message for segment in turn if segment.message != NOBODY), NOBODY)
    own: list[Segment] = []
    for segment in turn:
        owner = segment.message if segment.message != NOBODY else owner
        own.append(replace(segment, message=owner))
    own[0] = replace(own[0], apart=True)
    last = own[-1]
    spelled = [found.span() for found in control.finditer(last.text)] if last.control else []
    if spelled and spelled[-1][1] == len(last.text):
        at = spelled[-1][0]
        own[-1:] = [replace(last, text=last.text[:at])] if at else []
        own.append(replace(last, text=last.text[at:], kind=Kind.STOP, apart=last.apart and not at))
    return own
