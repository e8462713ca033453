"""What was measured, as tables and JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from statistics import median

import msgspec
from msgspec import Struct

from ..tables import MISSED, Grid
from .rounds import Measured, Soak
from .systems import NAMES

__all__ = ["GatewayResults", "gateway_grids", "gateway_json", "gateway_notes"]

RATIO_LIMIT = 1.0
"""How many times the other gateway's processor time a token may cost."""

IDLE_LIMIT = 60_000_000
GROWTH_LIMIT = 1.05
"""How much more memory the last part of a long run may take than the first."""


class GatewayResults(Struct):
    """Everything of one run."""

    rows: list[Measured] = []
    soaks: list[Soak] = []


def gateway_grids(results: GatewayResults) -> list[Grid]:
    """One table for each script and pattern, and one of memory."""
    keys = dict.fromkeys((row.script, row.pattern) for row in results.rows)
    found = [_pattern([row for row in results.rows if (row.script, row.pattern) == key]) for key in keys]
    if results.soaks:
        headings = ("system", "tokens", "MB, first quarter", "MB, last quarter", "growth", "lost")
        rows = [(f"{each.system}, {each.script}", *_soak(each)) for each in results.soaks]
        found.append(Grid("memory in a long run", headings, tuple(rows)))
    return found


def _pattern(rows: Sequence[Measured]) -> Grid:
    headings = (
        "system", "us/token", "least", "most", "/ smg", "us/request", "tokens/s", "events/token",
        "first text, median ms", "p99", "added p99", "longest gap, p99 ms", "lost", "wrong", "MB idle", "MB",
    )  # fmt: skip
    by_name = {row.system: row for row in rows}
    drawn = []
    for row in rows:
        if not row.us_per_token:
            drawn.append((row.system, f"{MISSED}{'; '.join(row.why)}"[:80], *[""] * (len(headings) - 2)))
            continue
        added = _p(row.first_ms, 99) - _p(by_name["direct"].first_ms, 99) if "direct" in by_name else float("nan")
        cells = (
            f"{row.us:.1f}", f"{min(row.us_per_token):.1f}", f"{max(row.us_per_token):.1f}", _ratio(row, by_name),
            f"{median(row.us_per_request):,.0f}", f"{median(row.tokens_per_second):,.0f}",
            f"{median(row.events_per_token):.2f}", f"{median(row.first_ms):.1f}", f"{_p(row.first_ms, 99):.1f}",
            f"{added:.1f}", f"{_p(row.gap_ms, 99):.0f}", _none(row.lost), _none(row.wrong), _idle(row),
            f"{row.resident / 1e6:.0f}",
        )  # fmt: skip
        drawn.append((row.system, *cells))
    return Grid(f"{rows[0].script}: {rows[0].pattern}", headings, tuple(drawn))


def _ratio(row: Measured, by_name: dict[str, Measured]) -> str:
    """The median of the rounds' own ratios: what disturbs one round disturbs both."""
    other = by_name.get("smg")
    if other is None or not other.us_per_token:
        return ""
    pairs = zip(row.us_per_token, other.us_per_token, strict=False)
    ratio = median(mine / theirs for mine, theirs in pairs)
    return f"{MISSED * (row.system == 'ours' and ratio > RATIO_LIMIT)}{ratio:.2f}"


def _idle(row: Measured) -> str:
    return f"{MISSED * (row.system == 'ours' and row.resident_idle > IDLE_LIMIT)}{row.resident_idle / 1e6:.0f}"


def _none(count: int) -> str:
    return f"{MISSED}{count}" if count else "0"


def _soak(run: Soak) -> tuple[str, ...]:
    if not run.resident:
        return ("0", "", "", "", _none(run.lost))
    quarter = max(1, len(run.resident) // 4)
    first, last = median(run.resident[:quarter]), median(run.resident[-quarter:])
    growth = f"{MISSED * (run.system == 'ours' and last / first > GROWTH_LIMIT)}{last / first:.3f}"
    return (f"{run.tokens[-1]:,}", f"{first / 1e6:.1f}", f"{last / 1e6:.1f}", growth, _none(run.lost))


def _p(values: Sequence[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def gateway_notes(results: GatewayResults) -> list[str]:
    """What must be said beside the tables."""
    cores, load = os.cpu_count(), os.getloadavg()[0]
    found = [
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {cores} cores, load {load:.1f}"
    ]
    measured = {row.system for row in results.rows} | {each.system for each in results.soaks}
    found += [f"{name}: {title}." for name, title in NAMES.items() if name in measured]
    found += [f"{row.system}, {row.script}, {row.pattern}: {row.why[0]}" for row in results.rows if row.why]
    return found


def gateway_json(results: GatewayResults) -> str:
    """All numbers, for programs."""
    return msgspec.json.format(msgspec.json.encode(results), indent=2).decode()
