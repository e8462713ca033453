"""The conformance suite: for every dialect, literal outputs and what each must be read as, by scenario.

The cases are written by hand from the format's own definition, one TOML file a dialect (`tests/conformance/`, and
in an installed package the same files as data). `cases` reads them, `notation` is how they say what is expected,
`checks` holds a dialect to them: each case in every chunking, and cut off at every character. Promises that need no
expectation are in `dragoman.testing`.
"""

from __future__ import annotations

from .cases import SCENARIOS, Case, Suite, folder, read_suite, suite_of
from .checks import check_case, check_suite

__all__ = ["SCENARIOS", "Case", "Suite", "check_case", "check_suite", "folder", "read_suite", "suite_of"]
