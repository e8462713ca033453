"""A constraint as a structural tag: free text, and a tag for each call of each tool.

What servers know best: a call begins at its opener, its arguments are JSON of a schema wherever the dialect writes them
so, else rules. Dialects in which text stands in markup of its own, and answers of a given form, are one grammar.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ..emit.guarantees import Effect, Note
from ..emit.structural_tag import Format, FreeText, Json, Maybe, Separated, Series, Tag, Triggered
from .calls import CallBody
from .constraint import Constraint
from .layout import CALL, END, START, TEXT, THOUGHT, Layout
from .turn import bare

__all__ = ["tag_format", "tag_notes"]


class Group(Struct, frozen=True):
    """What a group of calls is framed by: `begin`, `between` two calls, `end`, and what `each` call begins with."""

    begin: str
    between: str
    end: str
    each: str


def tag_format(constraint: Constraint, *, native: bool = True) -> Format | None:
    """The format that says what the constraint does, ``None`` where that is rules alone.

    Where nothing but a bracket begins a call, free text could begin one and not end it, which only rules can rule out.
    With `native`, arguments that are JSON are left to the engine's own reading of their schema, else they are rules.
    """
    layout, asked = constraint.layout, constraint.asked
    plain = layout.between.get((START, TEXT)) == "" and layout.between.get((TEXT, END)) == ""
    if not constraint.calls or not plain or asked.answer is not None or not _found(layout) or bare(layout):
        return None
    rest = _calls(constraint, native)
    if not _thinks(constraint):
        return rest if asked.start == "content" or asked.scope == "answer" else None
    thought = _thought(layout, opened=asked.start == "reasoning")
    if asked.choice.mode == "required" and asked.lead_in == "none":
        return rest
    return Series((thought if asked.start == "reasoning" or asked.reasoning == "required" else Maybe(thought), rest))


def tag_notes(constraint: Constraint) -> Iterator[Note]:
    """In what its format differs from the constraint, what is in the format itself apart."""
    layout, asked = constraint.layout, constraint.asked
    auto = asked.choice.mode == "auto"
    if THOUGHT in layout.kinds:
        yield Note(Effect.RELAXED, "layout", "", "any whitespace may stand behind thoughts")
        yield Note(Effect.NARROWED, "layout", "", "no whitespace stands before a call that has to come")
        if auto:
            yield Note(Effect.NARROWED, "reasoning", "", "thoughts come first or not at all")
    if layout.prose and auto:
        yield Note(Effect.NARROWED, "code", "", "Markdown code quotes no marker")
        yield Note(Effect.RELAXED, "code", "", "a call may begin in Markdown code, where its reader takes it for text")
    if auto and not asked.parallel and (CALL, CALL) in layout.between:
        yield Note(Effect.NARROWED, "text", "", "nothing stands behind the one call")


def _thinks(constraint: Constraint) -> bool:
    """Whether the format has thoughts in it."""
    asked = constraint.asked
    return asked.scope != "answer" and asked.reasoning != "none" and THOUGHT in constraint.layout.kinds


def _found(layout: Layout) -> str:
    """What begins a group of calls behind text, from its first marker on; empty if nothing fixed does."""
    text = layout.between.get((TEXT, CALL), "")
    begins = [text.index(mark) for mark in layout.marks if mark in text]
    return text[min(begins) :] if begins else text.lstrip()


def _group(layout: Layout) -> Group:
    """The frame of a group, each call's own opener apart."""
    opener, end = _found(layout), layout.between[CALL, END]
    between = layout.between.get((CALL, CALL))
    if between is None:  # a call is the last thing there is
        return Group("", "", end, opener)
    same = 0
    while same < min(len(opener), len(between)) and opener[-1 - same] == between[-1 - same]:
        same += 1
    each = opener[len(opener) - same :]
    return Group(opener[: len(opener) - same], between[: len(between) - same], end, each)


def _thought(layout: Layout, *, opened: bool) -> Tag:
    begin = "" if opened else layout.between[START, THOUGHT]
    behind = layout.between[THOUGHT, TEXT]
    _, closer = min((behind.index(mark), mark) for mark in layout.marks if mark in behind)
    others = tuple(mark for mark in layout.marks if mark != closer)
    return Tag(begin.rstrip(), FreeText(others), closer)


def _calls(constraint: Constraint, native: bool) -> Format:
    layout, asked = constraint.layout, constraint.asked
    group = _group(layout)
    required, single = asked.choice.mode == "required", not asked.parallel or (CALL, CALL) not in layout.between
    if not group.begin and not group.end:  # each call stands by itself
        tags = tuple(_tag(constraint, body, group.each, native) for body in constraint.calls)
        if required:
            return Separated(tags, group.between, at_least_one=True, one_only=single)
        return Triggered((_trigger(layout, group.each),), tags, one_only=single, excludes=_excludes(layout, group.each))
    tags = tuple(_tag(constraint, body, group.each, native) for body in constraint.calls)
    several = Tag(group.begin, Separated(tags, group.between, at_least_one=True, one_only=single), group.end)
    if required:
        return several
    trigger = _trigger(layout, group.begin + group.each)
    trigger = trigger if group.begin.startswith(trigger) else group.begin
    return Triggered((trigger,), (several,), one_only=single, excludes=_excludes(layout, trigger))


def _trigger(layout: Layout, opener: str) -> str:
    """The opener up to and including its first marker, or all of it."""
    begun = [mark for mark in layout.marks if opener.startswith(mark)]
    return begun[0] if begun else opener


def _excludes(layout: Layout, trigger: str) -> tuple[str, ...]:
    """The markers that no text may hold, but for what begins a call."""
    return tuple(mark for mark in layout.marks if mark not in trigger and trigger not in mark)


def _tag(constraint: Constraint, body: CallBody, each: str, native: bool) -> Tag:
    """One call."""
    if native and body.behind is not None:
        return Tag(each + body.opener, Json(constraint.parameters(body.tool), body.tool.name), body.behind)
    return Tag(each + body.opener, constraint.behind(body))
