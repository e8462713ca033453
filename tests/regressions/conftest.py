"""The helpers' assertions show what they compared."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.regressions.reading")
