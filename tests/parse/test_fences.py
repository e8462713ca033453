"""What `dragoman.parse.fences` promises, by example and by property; the oracles are a line reader and markdown-it."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json as msgspec_json

from dragoman.events import CallBegin, ContentDelta, Event, Markup, Problem, ProblemKind, ReasoningDelta, Stop
from dragoman.events import merge as merge_plain
from dragoman.parse.fences import (
    LONGEST_FENCE_LINE,
    CodeBegin,
    CodeDelta,
    CodeEnd,
    FencedEvent,
    Fences,
    merge,
)

EVERYWHERE = range(1 << 30)

# --- helpers -------------------------------------------------------------------------------------------------------


def label(events: Iterable[Event]) -> list[FencedEvent]:
    fences = Fences()
    return merge([*fences.feed(events), *fences.finish()])


def pieces(event: Event, cuts: Container[int]) -> list[Event]:
    """Cut a content event at the positions of the stream that lie inside it; any other event stays whole."""
    if not isinstance(event, ContentDelta):
        return [event]
    edges = [event.start, *(at for at in range(event.start + 1, event.end) if at in cuts), event.end]
    return [
        ContentDelta(event.text[start - event.start : end - event.start], start, end, event.channel)
        for start, end in pairwise(edges)
    ]


def recut(events: Iterable[Event], cuts: Container[int]) -> list[Event]:
    return [piece for event in events for piece in pieces(event, cuts)]


def chunkings(events: list[Event]) -> Iterator[list[Event]]:
    """The events whole, per character, and with each single cut."""
    size = max(event.end for event in events)
    yield events
    yield recut(events, EVERYWHERE)
    for cut in range(1, size):
        yield recut(events, [cut])


def read(*events: Event) -> list[FencedEvent]:
    """Label ``events`` in all their chunkings, which must agree."""
    whole = label(events)
    for chunks in chunkings(list(events)):
        assert label(chunks) == whole
    return whole


def content(text: str, start: int = 0, channel: str | None = None) -> ContentDelta:
    return ContentDelta(text, start, start + len(text), channel)


def markup(text: str, start: int) -> Markup:
    return Markup(text, start, start + len(text))


def problem(at: int) -> Problem:
    return Problem(ProblemKind.INVALID_UTF8, "ff", "", at, at)


def begin(text: str, start: int, language: str | None = None, fence: str = "```", info: str | None = None) -> CodeBegin:
    return CodeBegin(language, (language or "") if info is None else info, fence, text, start, start + len(text))


def code(text: str, start: int) -> CodeDelta:
    return CodeDelta(text, start, start + len(text))


def close(text: str, start: int) -> CodeEnd:
    return CodeEnd(text, True, start, start + len(text))


def cut_off(at: int) -> CodeEnd:
    return CodeEnd("", False, at, at)


# --- fences ----------------------------------------------------------------------------------------------------------


def test_text_without_fences_passes_as_it_is() -> None:
    events = [content("one\n"), content("two `x` ~~gone~~", 4), content("\n", 20)]
    assert Fences().feed(events) == events


def test_a_fence_that_opens_and_closes_within_one_chunk_is_labelled() -> None:
    assert read(content("a\n```python\nx = 1\n\n```\nb")) == [
        content("a\n"),
        begin("```python\n", 2, "python"),
        code("x = 1\n\n", 12),
        close("```\n", 19),
        content("b", 23),
    ]


def test_several_fences_follow_each_other_at_once() -> None:
    assert read(content("```a\n```\n```b\n```\n")) == [
        begin("```a\n", 0, "a"),
        close("```\n", 5),
        begin("```b\n", 9, "b"),
        close("```\n", 14),
    ]


def test_four_backticks_hold_a_line_of_three() -> None:
    assert read(content("````md\n```py\n```\n````\n")) == [
        begin("````md\n", 0, "md", "````"),
        code("```py\n```\n", 7),
        close("````\n", 17),
    ]


def test_a_longer_line_closes_a_shorter_fence() -> None:
    assert read(content("```\n`````\n")) == [begin("```\n", 0), close("`````\n", 4)]


def test_tildes_make_a_fence_that_backticks_do_not_close() -> None:
    assert read(content("~~~sh\n```\n~~~\n")) == [
        begin("~~~sh\n", 0, "sh", "~~~"),
        code("```\n", 6),
        close("~~~\n", 10),
    ]


def test_the_info_string_after_tildes_may_hold_both_fence_characters() -> None:
    assert read(content("~~~a`b ~~~\n~~~\n")) == [begin("~~~a`b ~~~\n", 0, "a`b", "~~~", "a`b ~~~"), close("~~~\n", 11)]


def test_backticks_before_and_after_text_on_one_line_are_inline_code() -> None:
    assert read(content("```x``` tail\n```\n")) == [content("```x``` tail\n"), begin("```\n", 13), cut_off(17)]


def test_a_fence_in_the_middle_of_a_line_is_text() -> None:
    assert read(content("see ```py\n")) == [content("see ```py\n")]


def test_two_characters_are_no_fence() -> None:
    assert read(content("``\n~~\n``x")) == [content("``\n~~\n``x")]


@pytest.mark.parametrize("indent", ["", " ", "  ", "   "])
def test_up_to_three_spaces_may_stand_before_both_fences(indent: str) -> None:
    width = len(indent)
    assert read(content(f"{indent}```py\n{indent}x\n{indent}```\n")) == [
        begin(f"{indent}```py\n", 0, "py"),
        code(f"{indent}x\n", 6 + width),
        close(f"{indent}```\n", 8 + 2 * width),
    ]


@pytest.mark.parametrize("indent", ["    ", "\t", " \t", "\xa0"])
def test_deeper_or_other_indentation_makes_no_fence(indent: str) -> None:
    assert read(content(f"{indent}```\n")) == [content(f"{indent}```\n")]


def test_an_indented_line_does_not_close() -> None:
    assert read(content("```\n    ```\n```\n")) == [begin("```\n", 0), code("    ```\n", 4), close("```\n", 12)]


@pytest.mark.parametrize("line", ["``\n", "~~~\n", "``` x\n", "```x\n", "x```\n", "```\xa0\n", "``` ```\n", "\n"])
def test_only_a_bare_line_of_the_same_character_and_length_closes(line: str) -> None:
    assert read(content(f"```\n{line}")) == [begin("```\n", 0), code(line, 4), cut_off(4 + len(line))]


@pytest.mark.parametrize("tail", ["\n", " \n", "\t \n", "\r\n", " \r\n", "", "  "])
def test_blanks_may_follow_the_closing_fence(tail: str) -> None:
    assert read(content(f"```\n```{tail}")) == [begin("```\n", 0), close(f"```{tail}", 4)]


def test_a_carriage_return_before_the_line_break_is_not_part_of_the_language() -> None:
    assert read(content("```py\r\nx\r\n```\r\n")) == [
        begin("```py\r\n", 0, "py"),
        code("x\r\n", 7),
        close("```\r\n", 10),
    ]


@pytest.mark.parametrize(
    ("line", "language", "info"),
    [
        ("```\n", None, ""),
        ("``` \t\n", None, ""),
        ("```  python \n", "python", "python"),
        ('```python  title="a b.py"\n', "python", 'python  title="a b.py"'),
        ("```c++\tx\n", "c++", "c++\tx"),
        ("```{.haskell #id}\n", "{.haskell", "{.haskell #id}"),
        ("```a\xa0b\xa0\n", "a\xa0b\xa0", "a\xa0b\xa0"),
    ],
)
def test_the_language_is_the_first_word_of_the_info_string(line: str, language: str | None, info: str) -> None:
    assert read(content(line)) == [begin(line, 0, language, "```", info), cut_off(len(line))]


# --- the end ---------------------------------------------------------------------------------------------------------


def test_a_closing_fence_without_a_line_break_closes_at_the_end() -> None:
    assert read(content("```\nx\n```")) == [begin("```\n", 0), code("x\n", 4), close("```", 6)]


def test_an_opening_fence_without_a_line_break_opens_at_the_end() -> None:
    assert read(content("a\n```py")) == [content("a\n"), begin("```py", 2, "py"), cut_off(7)]


def test_a_reply_that_ends_inside_code_is_not_closed() -> None:
    assert read(content("```py\nx = 1\n``")) == [begin("```py\n", 0, "py"), code("x = 1\n``", 6), cut_off(14)]


def test_held_text_that_is_no_fence_comes_out_at_the_end() -> None:
    assert read(content("a\n  ``")) == [content("a\n  ``")]


def test_nothing_gives_nothing() -> None:
    fences = Fences()
    assert [*fences.feed([]), *fences.feed([content("")]), *fences.finish(), *fences.finish()] == []


def test_empty_content_is_dropped_and_changes_nothing() -> None:
    events = [content("a"), content("", 1), content("\n``", 1), content("", 4, "commentary"), content("`\n", 4)]
    assert read(*events) == [content("a\n"), begin("```\n", 2), cut_off(6)]


def test_after_the_end_everything_begins_anew() -> None:
    fences = Fences()
    fences.feed([content("```\ncode")])
    fences.finish()
    assert fences.feed([content("x\n", 8)]) == [content("x\n", 8)]
    assert fences.finish() == []


# --- other events ----------------------------------------------------------------------------------------------------


def test_what_is_held_comes_before_any_other_event() -> None:
    fences = Fences()
    assert fences.feed([content("  ``")]) == []
    assert fences.feed([problem(4)]) == [content("  ``"), problem(4)]


def test_markup_that_follows_a_closing_fence_ends_its_line() -> None:
    assert read(content("```\nx\n```"), markup("<|im_end|>", 9), Stop("stop", "<|im_end|>", 19, 19)) == [
        begin("```\n", 0),
        code("x\n", 4),
        close("```", 6),
        markup("<|im_end|>", 9),
        Stop("stop", "<|im_end|>", 19, 19),
    ]


def test_content_after_markup_begins_a_line() -> None:
    assert read(content("so:"), markup("</think>", 3), content("```py\n", 11)) == [
        content("so:"),
        markup("</think>", 3),
        begin("```py\n", 11, "py"),
        cut_off(17),
    ]


def test_code_stays_open_across_a_call_and_thoughts() -> None:
    call = CallBegin(0, "f", None, 6, 9)
    thought = ReasoningDelta("hm", 9, 11)
    assert read(content("```\na\n"), call, thought, content("b\n```\n", 11)) == [
        begin("```\n", 0),
        code("a\n", 4),
        call,
        thought,
        code("b\n", 11),
        close("```\n", 13),
    ]


def test_a_problem_inside_a_line_of_text_does_not_break_it() -> None:
    assert read(content("caf\ufffd"), problem(4), content("```\n", 4)) == [
        content("caf\ufffd"),
        problem(4),
        content("```\n", 4),
    ]


def test_a_problem_at_the_beginning_of_a_line_leaves_it_one() -> None:
    assert read(content("a\n"), problem(2), content("```\n", 2)) == [
        content("a\n"),
        problem(2),
        begin("```\n", 2),
        cut_off(6),
    ]


def test_a_problem_inside_a_fence_line_decides_what_came_before_it() -> None:
    assert read(content("``"), problem(2), content("```\n~~~", 2), problem(9), content("~~~\ny\n", 9)) == [
        content("``"),
        problem(2),
        content("```\n", 2),
        begin("~~~", 6, None, "~~~"),
        problem(9),
        code("~~~\ny\n", 9),
        cut_off(15),
    ]


def test_each_channel_has_code_of_its_own() -> None:
    events = [
        content("```\na", 0),
        content("~~~js\nb", 5, "commentary"),
        content("```\n", 12),
        content("c\n~~~", 16, "commentary"),
        content("d", 21),
    ]
    assert read(*events) == [
        begin("```\n", 0),
        code("a", 4),
        CodeBegin("js", "js", "~~~", "~~~js\n", 5, 11, "commentary"),
        CodeDelta("b", 11, 12, "commentary"),
        close("```\n", 12),
        CodeDelta("c\n", 16, 18, "commentary"),
        CodeEnd("~~~", True, 18, 21, "commentary"),
        content("d", 21),
    ]


def test_finish_ends_the_open_code_of_every_channel_after_all_characters() -> None:
    assert read(content("```\n"), content("```\n", 4, "commentary"), markup("<|end|>", 8)) == [
        begin("```\n", 0),
        CodeBegin(None, "", "```", "```\n", 4, 8, "commentary"),
        markup("<|end|>", 8),
        cut_off(15),
        CodeEnd("", False, 15, 15, "commentary"),
    ]


def test_a_stop_ends_open_code_and_what_follows_is_read_anew() -> None:
    assert read(content("```\nx"), Stop("length", None, 5, 5), content("~~~\n```\n", 5)) == [
        begin("```\n", 0),
        code("x", 4),
        cut_off(5),
        Stop("length", None, 5, 5),
        begin("~~~\n", 5, None, "~~~"),
        code("```\n", 9),
        cut_off(13),
    ]


def test_a_gap_in_the_spans_ends_the_line() -> None:
    assert read(content("``"), content("```\n", 7)) == [content("``"), begin("```\n", 7), cut_off(11)]


# --- holding back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "delta"),
    [
        ("", "word"),
        ("a", "```"),
        ("a\n", "b\n"),
        ("", "``x"),
        ("", "    "),
        ("", "```x`"),
        ("```\n", "``` x"),
        ("~~~\n", "`"),
    ],
)
def test_text_that_cannot_be_part_of_a_fence_line_is_not_held(before: str, delta: str) -> None:
    fences = Fences()
    fences.feed([content(before)])
    assert "".join(text_of(event) for event in fences.feed([content(delta, len(before))])) == delta


@pytest.mark.parametrize("ending", ["", "\n"])
def test_a_fence_line_of_the_longest_length_is_a_fence(ending: str) -> None:
    line = "```" + "x" * (LONGEST_FENCE_LINE - 3)
    assert read(content(line + ending)) == [begin(line + ending, 0, line[3:]), cut_off(len(line + ending))]


@pytest.mark.parametrize("ending", ["", "\n", "\ny\n"])
def test_a_longer_opening_line_is_text(ending: str) -> None:
    line = "```" + "x" * (LONGEST_FENCE_LINE - 2)
    assert read(content(line + ending)) == [content(line + ending)]


def test_a_fence_right_after_a_line_that_is_too_long_is_a_fence() -> None:
    line = "```" + "x" * (LONGEST_FENCE_LINE - 2) + "\n"
    assert read(content(line + "```\n")) == [content(line), begin("```\n", len(line)), cut_off(len(line) + 4)]


@pytest.mark.parametrize("ending", ["", "\n", "\ny\n"])
def test_a_longer_closing_line_is_code(ending: str) -> None:
    line = "```" + " " * (LONGEST_FENCE_LINE - 2) + ending
    assert read(content("```\n" + line)) == [begin("```\n", 0), code(line, 4), cut_off(4 + len(line))]


def test_a_copy_goes_its_own_way() -> None:
    fences = Fences()
    fences.feed([content("```\n"), content("~~~\n", 4, "b"), content("```", 8)])
    twin = fences.copy()
    assert fences.feed([content("\n", 11)]) == [CodeEnd("```\n", True, 8, 12)]
    assert fences.finish() == [CodeEnd("", False, 12, 12, "b")]
    assert twin.feed([content("x", 11)]) == [code("```x", 8)]
    assert twin.finish() == [cut_off(12), CodeEnd("", False, 12, 12, "b")]


def test_code_events_are_written_as_tagged_json() -> None:
    assert json.loads(msgspec_json.encode(label([content("```py\nx")]))) == [
        {"type": "code_begin", "language": "py", "info": "py", "fence": "```", "text": "```py\n"}
        | {"start": 0, "end": 6, "channel": None},
        {"type": "code_delta", "text": "x", "start": 6, "end": 7, "channel": None},
        {"type": "code_end", "text": "", "closed": False, "start": 7, "end": 7, "channel": None},
    ]


def test_merge_joins_only_neighbours_of_one_channel() -> None:
    events: list[FencedEvent] = [
        code("a", 0),
        code("b", 1),
        code("d", 3),
        CodeDelta("e", 4, 5, "b"),
        content("f", 5),
        content("g", 6),
    ]
    assert merge(events) == [code("ab", 0), code("d", 3), CodeDelta("e", 4, 5, "b"), content("fg", 5)]


# --- properties ------------------------------------------------------------------------------------------------------

marks = st.sampled_from(["`", "``", "```", "````", "~", "~~~", "~~~~", "`" * 130])
breaks = st.sampled_from(["\n", "\n```", "\n```\n", "\n~~~", "\n~~~\n", "\r\n", "\r"])
fillers = st.sampled_from([" ", "   ", "    ", "\t", "a", "py", "x" * 250, " " * 250])
fragments = marks | breaks | fillers
texts = st.lists(fragments, max_size=12).map("".join) | st.text("`~\n a", max_size=40)
cuts = st.sets(st.integers(0, 600), max_size=12)


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    """Events whose spans tile, as a parser gives them."""
    events: list[Event] = []
    at = 0
    for kind in draw(st.lists(st.sampled_from("ccccbmprs"), max_size=8)):
        text = draw(texts) if kind in "cb" else "" if kind in "ps" else draw(st.sampled_from(["", "<x>", "\n"]))
        end = at + len(text)
        match kind:
            case "c" | "b":
                events.append(ContentDelta(text, at, end, None if kind == "c" else "b"))
            case "m":
                events.append(Markup(text, at, end))
            case "r":
                events.append(ReasoningDelta(text, at, end))
            case "p":
                events.append(problem(at))
            case _:
                events.append(Stop(None, None, at, at))
        at = end
    return events


def text_of(event: FencedEvent) -> str:
    match event:
        case ContentDelta() | Markup() | ReasoningDelta() | CodeBegin() | CodeDelta() | CodeEnd():
            return event.text
        case _:
            return ""


def unlabel(events: Iterable[FencedEvent]) -> list[Event]:
    """The events that were fed, up to their cuts, from what `Fences` made of them."""
    restored: list[Event] = []
    for event in events:
        if isinstance(event, CodeBegin | CodeDelta | CodeEnd):
            restored.append(ContentDelta(event.text, event.start, event.end, event.channel))
        else:
            restored.append(event)
    return normal(restored)


def normal(events: Iterable[Event]) -> list[Event]:
    return merge_plain([event for event in events if not (isinstance(event, ContentDelta) and not event.text)])


@given(streams(), cuts)
def test_labels_do_not_depend_on_the_chunks(events: list[Event], cuts: set[int]) -> None:
    whole = label(normal(events))
    assert label(events) == whole
    assert label(recut(events, cuts)) == whole
    assert label(recut(events, EVERYWHERE)) == whole


@given(streams(), cuts)
def test_every_event_and_character_is_recoverable_and_the_spans_tile(events: list[Event], cuts: set[int]) -> None:
    fences = Fences()
    labelled = [*fences.feed(recut(events, cuts)), *fences.finish()]
    assert unlabel(labelled) == normal(events)
    at = 0
    for event in labelled:
        assert (event.start, event.end) == (at, at + len(text_of(event)))
        at = event.end


@given(streams())
def test_no_more_is_held_than_the_longest_fence_line(events: list[Event]) -> None:
    fences = Fences()
    said = 0
    for event in recut(events, EVERYWHERE):
        out = fences.feed([event])
        said += sum(len(text_of(e)) for e in out)
        assert event.end - said <= (LONGEST_FENCE_LINE if isinstance(event, ContentDelta) else 0)


@given(streams(), cuts)
def test_a_copy_at_any_point_says_the_same(events: list[Event], cuts: set[int]) -> None:
    chunks = recut(events, cuts)
    fences, said = Fences(), list[FencedEvent]()
    for index, chunk in enumerate(chunks):
        twin = fences.copy()
        rest = [*twin.feed(chunks[index:]), *twin.finish()]
        assert merge([*said, *rest]) == label(events)
        said += fences.feed([chunk])


@given(streams(), cuts)
def test_labels_are_those_of_a_reader_that_has_every_line_whole(events: list[Event], cuts: set[int]) -> None:
    assert label(recut(events, cuts)) == merge(line_by_line(normal(events)))


@given(st.text("`~\n a\t", max_size=60) | st.lists(st.sampled_from(["```", "~~~~", "\n", " ", "a"])).map("".join))
def test_blocks_are_those_of_a_commonmark_parser(text: str) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    expected = [
        (token.map[0], token.markup, token.info.strip())
        for token in markdown_it.MarkdownIt("commonmark").parse(text)
        if token.type == "fence"
    ]
    assert expected == [
        (text.count("\n", 0, event.start), event.fence, event.info)
        for event in label([content(text)])
        if isinstance(event, CodeBegin)
    ]


# --- the line reader -------------------------------------------------------------------------------------------------


def line_by_line(events: list[Event]) -> list[FencedEvent]:
    """Label merged events: `Fences` once more, with no streaming, no regular expression and no thought of speed."""
    out: list[FencedEvent] = []
    opened: dict[str | None, str] = {}
    at, broken = 0, False
    line: tuple[str | None, int] = (None, 0)  # the channel and the end of the last one; ``broken``: it may go on
    for event in events:
        if isinstance(event, ContentDelta):
            within = broken and line == (event.channel, event.start)
            out += lines_of(event, opened, within=within)
            broken, line = not event.text.endswith("\n"), (event.channel, event.end)
        else:
            if isinstance(event, Stop):
                out += (CodeEnd("", False, at, at, channel) for channel in opened)
                opened.clear()
                broken = False
            out.append(event)
        at = event.end
    return [*out, *(CodeEnd("", False, at, at, channel) for channel in opened)]


def lines_of(event: ContentDelta, opened: dict[str | None, str], *, within: bool) -> Iterator[FencedEvent]:
    at = event.start
    for number, line in enumerate(part for part in event.text.replace("\n", "\n\0").split("\0") if part):
        start, at = at, at + len(line)
        fence, info = fence_of(line)
        known = opened.get(event.channel)
        if within and number == 0:
            fence = ""
        if known is None and fence and not ("`" in fence and "`" in info):
            opened[event.channel] = fence
            words = info.replace("\t", " ").replace("\r", " ").split(" ")
            yield CodeBegin(words[0] or None, info, fence, line, start, at, event.channel)
        elif known is None:
            yield ContentDelta(line, start, at, event.channel)
        elif fence.startswith(known) and not info:
            del opened[event.channel]
            yield CodeEnd(line, True, start, at, event.channel)
        else:
            yield CodeDelta(line, start, at, event.channel)


def fence_of(line: str) -> tuple[str, str]:
    """The run of fence characters with which a line begins, if long enough, and what follows it."""
    body = line.removesuffix("\n")
    inner = body.lstrip(" ")
    rest = inner.lstrip(inner[:1]) if inner[:1] in ("`", "~") else inner
    fence = inner[: len(inner) - len(rest)]
    if len(fence) < 3 or len(body) - len(inner) > 3 or len(body) > LONGEST_FENCE_LINE:
        return "", ""
    return fence, rest.strip(" \t\r")
