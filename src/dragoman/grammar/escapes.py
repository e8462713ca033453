"""What a captured field says, when it is written with escapes."""

from __future__ import annotations

import re
from json import loads
from typing import assert_never

from .nodes import Decoding

__all__ = ["decoded", "unquoted"]

_entity = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def decoded(text: str, how: Decoding) -> str:
    """The text that was meant; a JSON string must be one, an entity that stands for no character stays as it is."""
    match how:
        case Decoding.NONE:
            return text
        case Decoding.JSON:
            return unquoted(text)
        case Decoding.ENTITIES:
            return _entity.sub(_character, text)
        case _:
            assert_never(how)


def unquoted(text: str) -> str:
    """What a JSON string says."""
    value = loads(text)
    assert isinstance(value, str)
    return value


def _character(found: re.Match[str]) -> str:
    name, decimal, hexadecimal = found.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code < 0xD800 or 0xE000 <= code < 0x110000
    return chr(code) if is_character else found.group()
