"""Arguments as keys and raw values: the objects and arrays that are open, and what the schema says of each.

A member's value is raw text, or members again: then it is an object, or an array where the schema says so or, where
it says neither, where the first member has the name that the dialect gives to items. Brackets are published when the
first member tells which they are, so nothing is held.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..events import Markup, ProblemKind
from .json import DEPTH_LIMIT
from .notation import Notation
from .schema import ANYWHERE, Shape, allowed
from .value import Sink, sink_for

if TYPE_CHECKING:
    from .frames import CallState
    from .machine import Machine

__all__ = [
    "Scope",
    "begin_member",
    "begin_value",
    "close_members",
    "end_member",
    "open_members",
    "sink_of",
    "take_whole",
]

_STRING = frozenset(["string"])


class Scope(Struct, frozen=True):
    """An object or array that is open, as it was when its last member began; frozen, so that choices can go back to it.

    The first of all is the arguments' object, which has no `outer`.
    """

    outer: Scope | None
    shape: Shape
    element: str | None
    unwrap: tuple[str, ...]
    depth: int
    number: int
    """Tells scopes of one call apart."""
    kind: str = ""
    """``object`` or ``array``; empty before the first member."""
    size: int = 0
    key: str = ""
    wrapper: bool = False
    """Is its first member perhaps not one, but the arguments themselves?"""
    whole: bool = False
    """Was it?"""

    def inside(self) -> Shape:
        """What the schema says of the last member's value."""
        return self.shape.item(self.size - 1) if self.kind == "array" else self.shape.member(self.key)

    def path(self) -> str:
        """Where the last member is."""
        steps: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            steps.append(f"[{scope.size - 1}]" if scope.kind == "array" else f".{scope.key}")
            scope = scope.outer
        return "".join(reversed(steps))[1:]

    def kind_for(self, key: str) -> str:
        """What it is, if this is its first key."""
        kinds = self.shape.kinds or ()
        if self.kind or self.outer is None:
            return self.kind or "object"
        if ("array" in kinds) != ("object" in kinds):
            return "array" if "array" in kinds else "object"
        return "array" if key == self.element else "object"


def open_members(machine: Machine, element: str | None, unwrap: tuple[str, ...]) -> bool:
    """An object or array begins; false where there can be none."""
    call = machine.call
    assert call is not None
    outer = call.scope
    if outer is None:
        if call.started:
            machine.detail = "the arguments are given twice"
            return False
        call.scope = Scope(None, call.tool.inside if call.tool is not None else ANYWHERE, element, unwrap, 1, 0)
        return True
    if outer.depth == DEPTH_LIMIT:
        machine.detail = "nested too deeply"
        return False
    outer = begin_value(machine)
    call.scope = Scope(outer, outer.inside(), element or outer.element, (), outer.depth + 1, len(call.members))
    return True


def begin_member(machine: Machine, key: str, text: str, start: int, end: int) -> bool:
    """A key was read, as this text; false where none can be."""
    call = machine.call
    assert call is not None and call.scope is not None
    scope = call.scope
    machine.fields["key"] = key
    if scope.whole:
        machine.detail = f"{key!r} behind a value that is all of the arguments"
        return False
    if _may_wrap(call, scope, key):
        call.scope = replace(scope, kind="object", size=1, key=key, wrapper=True)
        machine.out.append(Markup(text, start, end))
        return True
    kind = scope.kind_for(key)
    call.scope = after = replace(scope, kind=kind, size=scope.size + 1, key=key)
    before = ", " if scope.size else "[" if kind == "array" else "{"
    if kind == "array":
        call.publish(machine, before, start, end)
        if scope.element not in (None, key):
            call.note(ProblemKind.UNKNOWN_ARGUMENT, f"{after.path()}.{key}", "an item of an array has a name", start)
        return True
    written = encode_basestring(key)
    if scope.outer is None:
        call.keys.append((written[1:-1], ""))
    else:
        call.members.append(after)
    call.publish(machine, f"{before}{written}: ", start, end)
    return True


def begin_value(machine: Machine) -> Scope:
    """The last member's value begins, and is no raw text: so that member is one."""
    call, here = machine.call, machine.base + machine.at
    assert call is not None and call.scope is not None
    if call.scope.wrapper:
        _no_wrapper(call, call.scope)
        call.publish(machine, f"{{{encode_basestring(call.scope.key)}: ", here, here)
    return call.scope


def sink_of(call: CallState, declared: frozenset[str] | None, notation: Notation | None) -> Sink:
    """What makes JSON of the last member's text; `declared` are its types where the markup tells them."""
    scope = call.scope
    assert scope is not None
    kinds = declared or scope.inside().kinds
    if scope.wrapper:
        return sink_for((kinds or _STRING) | {"object"}, notation, before=f"{{{encode_basestring(scope.key)}: ")
    return sink_for(kinds, notation, blank=_blank(kinds) if scope.element is not None else "")


def end_member(call: CallState, kind: str, at: int, *, fits: bool = True) -> None:
    """The last member's value is complete and of this type, which is not what the markup says unless it `fits`."""
    scope = call.scope
    assert scope is not None
    if scope.wrapper:
        scope = _no_wrapper(call, scope)
    kinds = scope.inside().kinds
    if not fits:
        call.note(ProblemKind.WRONG_TYPE, scope.path(), f"the markup says something else, found {kind}", at)
    elif scope.outer is not None and kinds is not None and not allowed(kinds, kind):
        call.note(ProblemKind.WRONG_TYPE, scope.path(), f"expected {' or '.join(sorted(kinds))}, found {kind}", at)
    if scope.outer is None:
        call.keys[-1] = (call.keys[-1][0], kind)


def take_whole(call: CallState, members: list[tuple[str, str]], at: int) -> None:
    """The value of the first member was the arguments themselves."""
    scope = call.scope
    assert scope is not None
    call.scope = replace(scope, wrapper=False, whole=True)
    call.keys += members
    call.note(ProblemKind.UNKNOWN_ARGUMENT, scope.key, "no such argument: its value was taken as the arguments", at)


def close_members(machine: Machine) -> None:
    """The object or array that is open ends."""
    call, here = machine.call, machine.base + machine.at
    assert call is not None and call.scope is not None
    scope = call.scope
    kind = scope.kind or "object"
    json = "]" if kind == "array" else "}"
    if not scope.size:
        json = (_blank(scope.shape.kinds) or '""') if scope.outer is not None else "{}"
        kind = {"[]": "array", "{}": "object"}.get(json, "string")
    if not scope.whole:
        call.publish(machine, json, here, here)
    call.scope = scope.outer
    if scope.outer is not None:
        end_member(call, kind, here)


def _may_wrap(call: CallState, scope: Scope, key: str) -> bool:
    """Whether this may be a name for all of the arguments."""
    return not scope.size and key in scope.unwrap and call.tool is not None and key not in call.tool.arguments


def _no_wrapper(call: CallState, scope: Scope) -> Scope:
    """The first member is one after all."""
    call.keys.append((encode_basestring(scope.key)[1:-1], ""))
    call.scope = replace(scope, wrapper=False)
    return call.scope


def _blank(kinds: frozenset[str] | None) -> str:
    """What an element with nothing in it is; empty where it is a string."""
    if kinds is None or "string" in kinds:
        return ""
    return "{}" if "object" in kinds else "[]" if "array" in kinds else ""
