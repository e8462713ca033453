"""Constraints: what a dialect lets a model write, given tools and a request, for engines that enforce it.

`constrain` makes the rules, `emit` writes them for an engine; `requests` has the fields that servers take, `processors`
what transformers takes.
"""

from __future__ import annotations

from .constraint import Constraint, constrain
from .emission import Emission, Engine, emit
from .request import ToolChoice

__all__ = ["Constraint", "Emission", "Engine", "ToolChoice", "constrain", "emit"]
