"""Conversations to tokens: layouts and chat templates write segments, which are encoded with their provenance.

Start with `Renderer`, for a family of models or for any chat template (`template_family`). The name `families` is the
function here; the families' own files are in the folder of that name, and found by it.
"""

from __future__ import annotations

from .encode import Span
from .family import Family, families, family_of, get_family
from .rendered import Example, Rendered, TrainOn, Weigh
from .renderer import Renderer
from .responses import Termination
from .stability import Stability, prefix_stability
from .template import ChatTemplate
from .templated import template_family

__all__ = [
    "ChatTemplate",
    "Example",
    "Family",
    "Rendered",
    "Renderer",
    "Span",
    "Stability",
    "Termination",
    "TrainOn",
    "Weigh",
    "families",
    "family_of",
    "get_family",
    "prefix_stability",
    "template_family",
]
