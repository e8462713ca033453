"""How each kind of span is dressed: in a terminal, whose own colours these are, and in a picture."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["LOOKS", "Look"]


class Look(Struct, frozen=True):
    """A kind of span: its word in legends, its style in a terminal, its colours in a picture."""

    word: str
    style: str
    colour: str
    ground: str = ""
    weight: str = "normal"
    slant: str = "normal"


LOOKS = {
    "reasoning": Look("thought", "dim italic", "#aab4c3", slant="italic"),
    "content": Look("text", "", "#f2f4f8"),
    "name": Look("call name", "bold yellow", "#ffd166", weight="bold"),
    "arguments": Look("arguments", "green", "#7fdca4"),
    "markup": Look("markup", "blue reverse", "#a9c7ff", "#2c3d5e"),
    "stop": Look("stop", "magenta reverse", "#ffadd2", "#552544"),
    "tag": Look("tagged text", "cyan", "#7fd7e8"),
    "problem": Look("problem", "yellow reverse", "#ffe08a", "#57470f"),
    "malformed": Look("malformed", "red reverse", "#ffb4ab", "#5e2420"),
}
"""The look of every kind that has characters, in the order of legends."""
