"""A constraint in the notation of an engine, with what that engine can't be told.

All engines get the same rules: plain ones where they know nothing else, their own constructs where that says the same
in less. What they let through is read by the parser without a problem, but for what a note says is relaxed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec
from msgspec import Struct, structs

from ..emit.ebnf import xgrammar_ebnf
from ..emit.expand import expand
from ..emit.gbnf import gbnf
from ..emit.guarantees import Effect, Guarantees, Note
from ..emit.lark import lark
from ..emit.rules import Rules
from ..emit.structural_tag import format_notes, structural_tag
from ..errors import InvalidRequest
from ..kept import keep
from ..types import JSON
from .constraint import Constraint
from .markers import markers_of
from .schemas import whole_schema
from .tags import tag_format, tag_notes
from .triggers import Trigger, triggers_of

__all__ = ["Emission", "Engine", "emit"]


class Engine(StrEnum):
    """What takes a constraint."""

    GBNF = "gbnf"
    """llama.cpp."""
    XGRAMMAR = "xgrammar"
    """xgrammar's EBNF; vLLM, SGLang."""
    STRUCTURAL_TAG = "structural_tag"
    """xgrammar's structural tags; vLLM, SGLang."""
    LARK = "lark"
    """llguidance."""
    JSON_SCHEMA = "json_schema"
    """Any engine that knows JSON Schema and nothing else: forced calls and answers, nothing around them."""


class Emission(Struct, frozen=True):
    """What an engine is given: a `text` in its notation, or for tags and schemas a `value`, whose JSON the text is.

    `markers` are what of the output may be control tokens, which have to come through to the parser as text. With
    `triggers`, the engine begins to constrain at one of them; else it constrains from the first token on.
    """

    engine: Engine
    text: str
    guarantees: Guarantees
    value: Mapping[str, JSON] | None = None
    markers: tuple[str, ...] = ()
    triggers: tuple[Trigger, ...] = ()


def emit(
    constraint: Constraint,
    engine: Engine | str,
    *,
    lazy: bool = False,
    control: Mapping[str, int] | None = None,
    prompt: str = "",
) -> Emission:
    """The constraint in the notation of an engine; what was emitted before is not printed again.

    `control` are the control tokens of the model's vocabulary, if not those that were asked for: llguidance is told
    them by their ids, a `lazy` engine that an opener is one, and `markers` are those of them that the output may hold.
    A lazy grammar begins at a trigger, which the end of the `prompt` must not hold. Raises `InvalidRequest` for what
    this engine can't be told.
    """
    engine = _engine(engine)
    control = (constraint.asked.control or None) if control is None else control
    triggers: tuple[Trigger, ...] = ()
    rules = constraint.rules
    if lazy:
        rules, triggers = _lazy(constraint, engine, control, prompt)
    key = (id(constraint), engine, lazy, frozenset(control.items()) if control and engine is Engine.LARK else None)
    known = _known.get(key)
    if known is None:
        known = keep(_known, key, (constraint, _printed(constraint, engine, rules, control)), KEPT)
    return structs.replace(known[1], markers=markers_of(constraint, control), triggers=triggers)


_known: dict[tuple[object, ...], tuple[Constraint, Emission]] = {}
KEPT = 128
"""Emissions that are kept; each keeps its constraint, so that the identity by which it is found stays its own."""


def _engine(name: Engine | str) -> Engine:
    try:
        return Engine(name)
    except ValueError:
        raise InvalidRequest("engine", f"one of {', '.join(Engine)}", name) from None


def _lazy(
    constraint: Constraint, engine: Engine, control: Mapping[str, int] | None, prompt: str
) -> tuple[Rules, tuple[Trigger, ...]]:
    """The rules from a trigger on, and the triggers."""
    if engine in (Engine.STRUCTURAL_TAG, Engine.JSON_SCHEMA):
        raise InvalidRequest("lazy", f"false: {engine} takes no triggers from outside", True)
    mode = constraint.asked.choice.mode
    if mode != "auto":
        raise InvalidRequest("lazy", f'false where tool_choice is "{mode}": it waits for a call that may come', True)
    triggers = triggers_of(constraint.layout, control, prompt) if constraint.lazy is not None else ()
    if constraint.lazy is None or not triggers:
        raise InvalidRequest("lazy", "false, as nothing fixed stands before a call that may come", True)
    return constraint.lazy, triggers


def _printed(constraint: Constraint, engine: Engine, rules: Rules, control: Mapping[str, int] | None) -> Emission:
    spelled = (SPELLED,) if constraint.asked.control else ()
    match engine:
        case Engine.GBNF:
            plain, notes = expand(rules)
            return Emission(engine, gbnf(plain), constraint.guarantees.less((*notes, *spelled)))
        case Engine.XGRAMMAR:
            text, notes = xgrammar_ebnf(rules)
            return Emission(engine, text, constraint.guarantees.less((*notes, *spelled)))
        case Engine.LARK:
            text, notes = lark(rules, control)
            return Emission(engine, text, constraint.guarantees.less(notes))
        case Engine.STRUCTURAL_TAG:
            return _tag(constraint, spelled)
        case Engine.JSON_SCHEMA:
            value = whole_schema(constraint)
            note = Note(Effect.RELAXED, "types", "", "as far as the engine enforces JSON Schema")
            return Emission(engine, _json(value), constraint.guarantees.less((note,)), value)


SPELLED = Note(
    Effect.RELAXED, "markers", "", "a marker may be spelled in ordinary tokens, which a parser of tokens takes for text"
)
"""What is lost where control tokens were asked for, and the engine knows characters alone."""


def _tag(constraint: Constraint, notes: Iterable[Note]) -> Emission:
    known: dict[int, tuple[str, tuple[Note, ...]]] = {}

    def ebnf(rules: Rules) -> tuple[str, tuple[Note, ...]]:
        """The rules in it, printed once for their text and their notes."""
        if id(rules) not in known:
            known[id(rules)] = xgrammar_ebnf(rules)
        return known[id(rules)]

    given = tag_format(constraint)
    asked = given if given is not None else constraint.rules
    value = structural_tag(asked, lambda rules: ebnf(rules)[0])
    lost = (*notes, *format_notes(asked, lambda rules: ebnf(rules)[1]), *(tag_notes(constraint) if given else ()))
    return Emission(Engine.STRUCTURAL_TAG, _json(value), constraint.guarantees.less(lost), value)


def _json(value: Mapping[str, JSON]) -> str:
    return msgspec.json.encode(value).decode()
