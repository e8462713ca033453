"""What was measured, as tables: ruled in a terminal, plain when piped, Markdown for documents, JSON for programs."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .constraints import PRINTED, Emitted
from .families import FAMILY_LIMIT, KINDS, Family
from .hostile import Slope
from .peer import Peer
from .profiling import Costs
from .streaming import GROWTH_LIMIT, Stream
from .whole import Comparison

__all__ = ["Grid", "Results", "as_json", "grids", "profile_grids", "show"]


class Results(Struct):
    """Everything of one run."""

    streams: list[Stream] = []
    comparisons: list[Comparison] = []
    slopes: list[Slope] = []
    peer: Peer | None = None
    families: list[Family] = []
    constraints: list[Emitted] = []

    @property
    def missed(self) -> int:
        """Rows that miss a limit."""
        rows: list[Stream | Comparison | Slope | Family]
        rows = [*self.streams, *self.comparisons, *self.slopes, *self.families]
        return sum(bool(row.missed) for row in rows)


class Grid(Struct, frozen=True):
    """A table: its title, headings and rows; cells of missed limits begin with `MISSED`."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


MISSED = "missed: "


def grids(results: Results) -> list[Grid]:
    """The tables of a run."""
    found = []
    if results.streams:
        found.append(_streams(results))
    if results.comparisons:
        rows = [
            (c.title, f"{c.us:,.1f}", f"{c.us_other:,.2f}", f"{c.ratio:.1f}", _limit(c)) for c in results.comparisons
        ]
        found.append(
            Grid("whole texts, and a new parser", ("what", "us", "us, the other", "ratio", "limit"), tuple(rows))
        )
    if results.slopes:
        slopes = [
            (s.name, s.how, f"{s.ns_per_character:.0f}", f"{s.growth:.2f}", _verdict(s.missed, f"{GROWTH_LIMIT}"))
            for s in results.slopes
        ]
        title = "hostile inputs: time per character, and its growth when there is sixteen times as much"
        found.append(Grid(title, ("input", "fed", "ns/character", "growth", "limit"), tuple(slopes)))
    if results.families:
        found.append(_families(results.families))
    if results.constraints:
        found.append(_constraints(results.constraints))
    return found


def _constraints(rows: Sequence[Emitted]) -> Grid:
    """Every dialect's constraint for many tools, and engines' own."""
    taken = ("xgrammar, ms", "as a tag", "its own tag", "llguidance, ms")
    headings = ("dialect", "tools", *(f"{engine}, ms (KB)" for engine in PRINTED), "again, ms", *taken)
    drawn = []
    for row in rows:
        written = (f"{row.cold_ms[engine]:,.0f} ({row.kilobytes[engine]:,.0f})" for engine in PRINTED)
        compiled = (row.grammar_ms, row.tag_ms, row.builtin_ms, row.lark_ms)
        cells = ("-" if time is None else f"{time:,.0f}" for time in compiled)
        drawn.append((row.dialect, str(row.tools), *written, f"{row.warm_ms:.1f}", *cells))
    return Grid("constraints for many tools, and how long engines take to compile them", headings, tuple(drawn))


def _families(families: Sequence[Family]) -> Grid:
    """Every dialect: floors a chunk, and how many times the core figure that is."""
    headings = ("dialect", *(f"{kind}, / floor (/ core)" for kind in KINDS), "limit")
    rows = []
    for family in families:
        cells = [f"{family.floors[k]:.1f} ({family.shares[k]:.2f})" if k in family.floors else "-" for k in KINDS]
        missed = tuple(f"{kind} > {FAMILY_LIMIT:g} core" for kind in family.missed)
        rows.append((family.dialect, *cells, _verdict(missed, f"{FAMILY_LIMIT:g} core")))
    return Grid("every dialect on the same messages", headings, tuple(rows))


def _streams(results: Results) -> Grid:
    sizes = tuple(f"us/chunk, {round(count / 1024)}k" for count in results.streams[0].chunks)
    headings = ("workload", *sizes, "/ floor", "limit", "growth", "whole, MB/s", "marked chunks", "read")
    with_peer = results.peer is not None and not results.peer.note
    rows = []
    for s in results.streams:
        times = (f"{time:.3f}" for time in s.us_per_chunk)
        kept = f"{s.limit:g}, {GROWTH_LIMIT}"
        row = [s.title, *times, f"{s.ratio:.1f}", _verdict(s.missed, kept), f"{s.growth:.2f}", f"{s.whole_mb_s:.0f}"]
        row += [f"{s.marked:.0%}", "right" if s.correct else "WRONG"]
        if with_peer and results.peer is not None:
            row.append(f"{results.peer.us_peer:.2f}" if s.dialect == "harmony" else "")
        rows.append(tuple(row))
    if with_peer:
        headings += ("openai_harmony, us/token",)
    floor = results.streams[0].us_floor[-1] * 1000
    return Grid(f"chunk by chunk; the floor is {floor:.0f} ns a chunk", headings, tuple(rows))


def _limit(comparison: Comparison) -> str:
    return _verdict(comparison.missed, f"{comparison.limit:g}" if comparison.limit is not None else "")


def _verdict(missed: tuple[str, ...], kept: str) -> str:
    return MISSED + ", ".join(missed) if missed else kept


def notes(results: Results) -> list[str]:
    """What must be said beside the tables."""
    found = [f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"]
    if results.streams:
        lengths = [s.mean_length for s in results.streams]
        found.append(
            f"A chunk has {min(lengths):.1f} to {max(lengths):.1f} characters; 'marked chunks' hold a character that "
            "might begin a marker or end a string."
        )
    if results.peer is not None and results.peer.note:
        found.append(f"{results.peer.name}: {results.peer.note}.")
    elif results.peer is not None:
        p = results.peer
        found.append(f"{p.name}: {p.us_peer:.2f} us a token, ours on the same {p.tokens:,} tokens {p.us_ours:.2f} us.")
    if results.missed:
        found.append("1 row misses a limit." if results.missed == 1 else f"{results.missed} rows miss a limit.")
    return found


def profile_grids(title: str, spent: Costs, hot: Sequence[tuple[str, float, float]]) -> list[Grid]:
    """Where the time of a workload goes."""
    steps = [
        ("the bare loop", spent.loop, ""), ("a method that does nothing", spent.call, ""),
        ("the floor", spent.floor, ""),
        ("a fast chunk", spent.fast, f"{1 - spent.slow_share:.1%} of chunks"),
        ("a slow chunk", spent.slow, f"{spent.slow_share:.1%} of chunks"),
        ("all, in the mean", spent.mean, f"{spent.slow * spent.slow_share / max(1, spent.mean):.0%} of it slow chunks"),
        ("finish", spent.end, "once"),
    ]  # fmt: skip
    rows = tuple((name, f"{ns:,.0f}", share) for name, ns, share in steps)
    worst = tuple((ascii(text), str(times), f"{mean:,.0f}") for text, times, mean in spent.worst)
    calls = tuple((name, f"{each:.2f}", f"{share:.0%}") for name, each, share in hot)
    return [
        Grid(f"{title}: nanoseconds", ("what", "ns", "share"), rows),
        Grid("the dearest slow chunks", ("chunk", "times", "ns each"), worst),
        Grid("under cProfile", ("function", "calls a chunk", "share"), calls),
    ]


def show(console: Console, tables: Sequence[Grid], notes_of: Sequence[str] = (), *, markdown: bool = False) -> None:
    """Print tables and notes."""
    for grid in tables:
        if markdown:
            console.file.write(_markdown(grid))
        elif console.is_terminal:
            console.print(_ruled(grid))
        else:
            console.file.write(_plain(grid))
    for note in notes_of:
        console.file.write(f"{note}\n" if not markdown else f"{note}\n\n")


def as_json(results: Results) -> str:
    """All numbers, for programs."""
    return msgspec.json.format(msgspec.json.encode(results), indent=2).decode()


def _ruled(grid: Grid) -> Table:
    table = Table(title=grid.title, title_justify="left", header_style="bold")
    for k, heading in enumerate(grid.headings):
        table.add_column(heading, justify="right" if k else "left")
    for row in grid.rows:
        table.add_row(*(Text(cell, style="red" if cell.startswith((MISSED, "WRONG")) else "") for cell in row))
    return table


def _plain(grid: Grid) -> str:
    lines = [grid.headings, *grid.rows]
    widths = [max(len(row[k]) for row in lines) for k in range(len(grid.headings))]
    drawn = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines)
    return "\n".join((grid.title, *drawn)) + "\n\n"


def _markdown(grid: Grid) -> str:
    rule = ("---", *("--:" for _ in grid.headings[1:]))
    lines = (
        grid.headings,
        rule,
        *(tuple(cell.replace("|", "\\|").replace("<", "&lt;") for cell in row) for row in grid.rows),
    )
    return (
        "\n".join((f"### {grid.title[0].upper()}{grid.title[1:]}\n", *(f"| {' | '.join(row)} |" for row in lines)))
        + "\n\n"
    )
