"""``make demo``: a real client of a real gateway, from start to stop."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.gateway_demo import MODELS, RESULT

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_every_model_thinks_calls_and_answers() -> None:
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-m", "examples.gateway_demo"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    _, *shown = done.stdout.split("\n━━ ")
    assert [part.split(" ", 1)[0] for part in shown] == [model for model, _ in MODELS]
    for part in shown:
        kinds = re.findall(r"^(\w+): ", part, re.MULTILINE)
        assert kinds[0] == "user"
        assert kinds[-1] == "content"
        assert {"reasoning", "call", "tool"} <= set(kinds)
        assert 'call: forecast {"city": "Zürich"}' in part
        assert f"tool: {RESULT}" in part
