"""Schemas as rules: what satisfies a schema passes however it is laid out, and what passes satisfies the schema."""

from __future__ import annotations

import json
import random

import pytest
from emit_schemas import made_schemas  # placeholder
