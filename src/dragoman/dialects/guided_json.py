r"""Guided JSON: calls that the engine has forced, under ``tool_choice`` "required"; any model.

    [{"name": "get_weather", "parameters": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "parameters": {"city": "Oslo"}}]

An array of objects, or one object; ``arguments`` is read for ``parameters``. `guided` in `dragoman.idioms` puts it
behind the thoughts of a model's dialect, with its stop markers; given a tool's name, the object is its arguments.
"""

from __future__ import annotations

from ..idioms import drawn, guided
from ..idioms.define import SAMPLE
from ..types import Message

DIALECT = guided(doc=__doc__, examples=drawn(__doc__, Message("assistant", SAMPLE.parts[2:])))
