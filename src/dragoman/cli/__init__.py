"""The command ``dragoman``: one file per subcommand, and nothing that a library should need.

Needs the extra ``cli`` (rich). `main` is the way in; `live` and `output` draw, `inputs` reads.
"""

from __future__ import annotations

__all__: list[str] = []
