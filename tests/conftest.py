"""How thoroughly hypothesis looks: a little in the core suite, much with ``HYPOTHESIS_PROFILE=thorough``."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

# What explains a failure takes minutes where a parser is traced, and says nothing that the example does not.
COMMON = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)

settings.register_profile("core", COMMON, max_examples=6)
settings.register_profile("thorough", COMMON, max_examples=25)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "core"))
