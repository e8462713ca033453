"""The kit that proves a dialect: every promise of the contract, tried on its examples and on messages made up.

`check_dialect` needs nothing but the dialect. It makes messages that the dialect can express, writes them, cuts them
short, moves their markers about, chunks them in every way, and checks what the parser says each time. The single
promises are functions too, so that a test-suite can run them over inputs of its own: each takes a `Trial` and
raises `Broken`.
"""

from __future__ import annotations

from ..made_up import made_up_message, mutations
from .kit import Report, Result, check_dialect, made_up_trial, markers, trials
from .promises import PROMISES
from .trial import Broken, Trial, chunkings, read, require_same, require_same_bytes

__all__ = [
    "PROMISES",
    "Broken",
    "Report",
    "Result",
    "Trial",
    "check_dialect",
    "chunkings",
    "made_up_message",
    "made_up_trial",
    "markers",
    "mutations",
    "read",
    "require_same",
    "require_same_bytes",
    "trials",
]
