"""One render of a chat template in a sandbox: compiled once, run with its variables, its failures told in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from traceback import walk_tb
from types import CodeType
from typing import NoReturn

from jinja2 import Template, TemplateError, TemplateSyntaxError

from ..errors import DragomanError, InvalidChatTemplate
from ..types import JSON
from .sandbox import MESSAGE_STEPS, STEPS, Exhausted, Refused, Sandbox

__all__ = ["TEMPLATE_LIMIT", "run"]

TEMPLATE_LIMIT = 1 << 20
"""Characters of a template; the longest in use have a thirtieth of it."""

TEMPLATES = 64
"""Compiled templates that are kept."""

WAYS_OUT: tuple[tuple[type[BaseException], str, str], ...] = (
    (Refused, "it refuses the conversation", "change what it objects to"),
    (Exhausted, "it was stopped", "don't use this template: it is broken, or hostile"),
    (RecursionError, "it calls itself without end", "don't use this template: it is broken, or hostile"),
    (MemoryError, "it fills the memory", "don't use this template: it is broken, or hostile"),
    (TypeError, "it can't use what it was given", "give the messages and options that it expects"),
    (Exception, "it failed", "give the messages and options that it expects"),
)
"""What went wrong, the first that fits, and what to do."""


def run(
    source: str,
    sandbox: type[Sandbox],
    messages: list[dict[str, JSON]],
    others: Mapping[str, object],
    now: datetime | None,
) -> str:
    """What a template writes; raises `InvalidChatTemplate`, the cause of which is what was raised inside."""
    code = _compiled(source)
    environment = sandbox(_clock(now), STEPS + MESSAGE_STEPS * len(messages))
    template = Template.from_code(environment, code, environment.make_globals(None))
    try:
        return template.render(others, messages=messages)
    except Exception as error:
        _explain(error, code)


@lru_cache(TEMPLATES)
def _compiled(source: str) -> CodeType:
    if len(source) > TEMPLATE_LIMIT:
        raise InvalidChatTemplate(f"it has {len(source)} characters", f"{TEMPLATE_LIMIT} are the most")
    try:
        return Sandbox(_clock(None)).compile(source, filename="<chat template>")
    except TemplateSyntaxError as error:
        raise InvalidChatTemplate(error.message or "a syntax error", "mend the template", error.lineno) from error
    except (TemplateError, RecursionError, MemoryError, ArithmeticError, ValueError, TypeError) as error:
        raise InvalidChatTemplate(f"it can't be compiled: {error}", "mend the template") from error


def _clock(now: datetime | None) -> Callable[[str], str]:
    def strftime_now(form: str) -> str:
        if now is None:
            raise InvalidChatTemplate("it asks for the date", "pass one: render(..., now=datetime(...))")
        return now.strftime(str(form))

    return strftime_now


def _explain(error: Exception, code: CodeType) -> NoReturn:
    if isinstance(error, DragomanError):
        raise error
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == code.co_filename]
    problem, fix = next((problem, fix) for kind, problem, fix in WAYS_OUT if isinstance(error, kind))
    raise InvalidChatTemplate(f"{problem}: {error}", fix, lines[-1] if lines else None) from error
