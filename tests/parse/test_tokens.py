"""Token ids in, events out: control tokens by id, the same characters as text."""

from __future__ import annotations

import pytest

from dragoman.errors import NoTokenizer, ParserFinished, UnknownToken
from dragoman.events import CallEnd, CallStatus, ContentDelta, Event, Markup, Problem, ProblemKind, Stop, merge
from dragoman.parse.assemble import assemble
from dragoman.parse.parser import Parser
from dragoman.parse.tokens import TONGUES, Label, tongue_of
from dragoman.registry import get_dialect
from dragoman.tokenizers import control_pattern
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall

QWEN = ByteTokenizer(("<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>"))
HARMONY = ByteTokenizer(
    ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|call|>", "<|return|>")
)


def ids_of(tokenizer: ByteTokenizer, *pieces: str) -> list[int]:
    """A piece that is a control token is its id, all others are text, whatever they spell."""
    control = tokenizer.control
    return [token for piece in pieces for token in ([control[piece]] if piece in control else tokenizer.encode(piece))]


def read(dialect: str, tokenizer: ByteTokenizer, *pieces: str, reason: str | None = "stop") -> list[Event]:
    parser = Parser(dialect, tokenizer=tokenizer)
    return merge(parser.feed_tokens(ids_of(tokenizer, *pieces)) + parser.finish(reason))


def message(dialect: str, tokenizer: ByteTokenizer, *pieces: str) -> Message:
    return assemble(read(dialect, tokenizer, *pieces))


def test_a_marker_counts_as_a_token_and_not_as_text() -> None:
    assert message(
        "hermes", QWEN, "<think>", "\nHm\n", "</think>", "\n\nSay ", "<think", ">x</think", "> now"
    ).parts == (
        ThinkingPart("Hm"),
        TextPart("Say <think>x</think> now"),
    )


def test_a_stop_marker_in_ordinary_tokens_is_text() -> None:
    events = read("hermes", QWEN, "a <|im_end", "|> b", "<|im_end|>")
    assert events[0] == ContentDelta("a <|im_end|> b", 0, 14)
    assert events[1] == Stop("stop", "<|im_end|>", 14, 24)


def test_code_and_quotes_do_not_make_text_of_a_token() -> None:
    call = '\n{"name": "f", "arguments": {}}\n'
    said = message("hermes", QWEN, "```\nsee\n", "<tool_call>", call, "</tool_call>")
    assert said.parts == (TextPart("```\nsee\n"), ToolCall("f", "{}"))
    assert message("hermes", QWEN, "a ", "<think>", "' b", "</think>").parts[1] == ThinkingPart("' b")


def test_a_token_ends_a_string_of_json_that_is_open() -> None:
    header = ("<|channel|>", "commentary to=functions.f ", "<|constrain|>", "json", "<|message|>")
    events = read("harmony", HARMONY, *header, '{"a": "b', "<|call|>")
    ends = [event for event in events if isinstance(event, CallEnd)]
    assert [end.status for end in ends] == [CallStatus.INCOMPLETE]
    assert [event.marker for event in events if isinstance(event, Stop)] == ["<|call|>"]
    spelled = message("harmony", HARMONY, *header, '{"a": "b<|call', '|>"}', "<|call|>")
    assert spelled.parts == (ToolCall("f", '{"a": "b<|call|>"}'),)


def test_a_token_ends_a_name_in_a_header() -> None:
    header = ("<|channel|>", "commentary to=functions.f", "<|constrain|>", "json", "<|message|>")
    assert message("harmony", HARMONY, *header, "{}", "<|call|>").parts == (ToolCall("f", "{}"),)


def test_events_spell_control_tokens_out() -> None:
    events = read("hermes", QWEN, "<tool_call>", "\n{broken", "<|im_end|>")
    text = "<tool_call>\n{broken"
    (problem,) = [event for event in events if isinstance(event, Problem) and event.kind is ProblemKind.MALFORMED]
    assert problem.raw == text
    assert "".join(event.text for event in events if isinstance(event, Markup))[:11] == "<tool_call>"


def test_a_control_token_that_was_held_is_spelled_out_when_it_comes() -> None:
    tokenizer = ByteTokenizer(("</parameter>",))
    parser = Parser("qwen3_coder", tokenizer=tokenizer)
    parser.feed_tokens(tokenizer.encode("<tool_call>\n<function=f>\n<parameter=a>1"))
    parser.feed_tokens([*b"2", *tokenizer.control.values()])
    events = [event for byte in b"\n</function>\n</tool_call>" for event in parser.feed_tokens([byte])]
    spelled = "".join(event.text for event in events + parser.finish() if isinstance(event, Markup))
    assert spelled == "</parameter>\n</function>\n</tool_call>"


def test_a_control_token_that_the_dialect_does_not_know_is_text() -> None:
    tokenizer = ByteTokenizer((*QWEN.control, "<|fim_pad|>"))
    assert message("hermes", tokenizer, "a", "<|fim_pad|>", "b").parts == (TextPart("a<|fim_pad|>b"),)


def test_spans_count_characters_and_tokens_know_where_they_end() -> None:
    parser = Parser("hermes", tokenizer=QWEN)
    ids = ids_of(QWEN, "<think>", "é", "</think>", "b")
    events = merge(parser.feed_tokens(ids) + parser.finish("stop"))
    assert [(event.start, event.end) for event in events] == [(0, 7), (7, 8), (8, 16), (16, 17), (17, 17)]
    assert parser.token_ends() == [7, 7, 8, 16, 17]
    markup, content = Label.MARKUP, Label.CONTENT
    assert parser.token_labels() == [markup, Label.REASONING, Label.REASONING, markup, content]


def test_labels_tell_of_every_token_what_it_is() -> None:
    parser = Parser("hermes", tokenizer=QWEN)
    ids = ids_of(QWEN, "<tool_call>", '\n{"name": "f", "arguments": {"a": 1}}\n', "</tool_call>", "<|im_end|>")
    parser.feed_tokens(ids[:6])
    assert len(parser.token_labels()) < 6  # the end is not decided yet
    parser.feed_tokens(ids[6:])
    parser.finish("stop")
    labels = parser.token_labels()
    assert len(labels) == len(ids)
    of = {label: bytes(t for t, one in zip(ids, labels, strict=True) if one is label and t < 256) for label in Label}
    assert (of[Label.NAME], of[Label.ARGUMENTS]) == (b'"f"', b'{"a": 1}')
    assert labels[-1] is Label.STOP


def test_bytes_that_are_no_characters_are_reported() -> None:
    parser = Parser("hermes", tokenizer=QWEN)
    events = merge(parser.feed_tokens([65, 0xF0, 0x9F, QWEN.control["<think>"], 66]) + parser.finish(None))
    assert [event.raw for event in events if isinstance(event, Problem)][:2] == ["f0", "9f"]
    assert assemble(events).parts == (TextPart("A\ufffd\ufffd"), ThinkingPart("B"))


def test_the_prompt_may_be_ids() -> None:
    prompt = ids_of(
        QWEN, "<|im_start|>", "user\n<|im_start|>assistant\nx", "<|im_end|>", "\n", "<|im_start|>", "assistant\n"
    )
    parser = Parser("hermes", prompt=[*prompt, QWEN.control["<think>"]], tokenizer=QWEN)
    events = parser.feed_tokens(ids_of(QWEN, "Hm", "</think>", "x")) + parser.finish("stop")
    assert assemble(events).parts == (ThinkingPart("Hm"), TextPart("x"))


def test_a_marker_that_models_also_spell_counts_both_ways() -> None:
    from msgspec.structs import replace

    dialect = replace(get_dialect("hermes"), spelled=("<think>",))
    parser = Parser(dialect, tokenizer=QWEN)
    ids = [*QWEN.encode("<think>a"), QWEN.control["</think>"], QWEN.control["<think>"], *QWEN.encode("b</think>")]
    said = assemble(parser.feed_tokens(ids) + parser.finish("stop"))
    assert said.parts == (ThinkingPart("a"), ThinkingPart("b</think>"))


def test_a_dialect_is_prepared_for_a_tokenizer_once() -> None:
    assert tongue_of(get_dialect("hermes"), QWEN) is tongue_of(get_dialect("hermes"), QWEN)


def test_no_more_dialects_are_kept_prepared_than_there_is_room_for() -> None:
    from msgspec.structs import replace

    tokenizer = ByteTokenizer(QWEN.control)
    first, *others = (replace(get_dialect("hermes"), name=f"own{k}") for k in range(TONGUES + 1))
    prepared = tongue_of(first, tokenizer)
    for dialect in others[:-1]:
        tongue_of(dialect, tokenizer)
    assert tongue_of(first, tokenizer) is prepared
    tongue_of(others[-1], tokenizer)
    assert tongue_of(first, tokenizer) is not prepared


def test_auto_is_told_by_the_tokens() -> None:
    assert Parser("auto", tokenizer=HARMONY).dialect.name == "harmony"


def test_the_callers_mistakes_are_named() -> None:
    with pytest.raises(NoTokenizer, match=r"token ids need a tokenizer: Parser\('hermes', tokenizer=...\)"):
        Parser("hermes").feed_tokens([1])
    with pytest.raises(NoTokenizer):
        Parser("hermes").token_labels()
    parser = Parser("hermes", tokenizer=QWEN)
    with pytest.raises(UnknownToken, match="no token has the id 999; the vocabulary's ids are below 262"):
        parser.feed_tokens([999])
    parser.finish()
    with pytest.raises(ParserFinished):
        parser.feed_tokens([1, 2])


def test_control_tokens_are_found_in_text() -> None:
    assert control_pattern(QWEN).findall("a<think>b<|im_end|>") == ["<think>", "<|im_end|>"]
