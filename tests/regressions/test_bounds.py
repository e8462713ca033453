"""What lies just below and just above a bound is read alike in every chunking, and nothing of it is lost.

The bounds themselves are our own choice, so that most tests look only at whether the outcome depends on the cuts:
`events_of` compares all chunkings. Corpus row 26, and the last row of the failure policy.
"""

from __future__ import annotations

import pytest

from dragoman import Parser
from dragoman.events import Event, Problem, merge
from tests.regressions.reading import DIALECTS, Read, call, called, events_of, read, tool

JSON_DIALECTS = tuple(name for name in DIALECTS if name != "qwen3_coder")
each_json = pytest.mark.parametrize("dialect", JSON_DIALECTS)
some_json = pytest.mark.parametrize("dialect", ["hermes", "kimi_k2"])


def kinds(events: list[Event]) -> list[str]:
    return [event.kind.value for event in events if isinstance(event, Problem)]


@some_json
@pytest.mark.parametrize("depth", [254, 255, 256, 257, 300])
@pytest.mark.parametrize("brackets", ["[]", '{"a":}'])
def test_arguments_nested_up_to_the_bound_and_beyond(dialect: str, depth: int, brackets: str) -> None:
    opening, closing = brackets[:-1], brackets[-1]
    arguments = '{"x":' + opening * depth + "1" + closing * depth + "}"
    found = kinds(events_of(dialect, called(dialect, "f", arguments)))
    assert found == ([] if depth < 256 else ["malformed"])


def test_what_one_stream_taught_the_scanner_does_not_change_another() -> None:
    """Short chunks of brackets are learned once for all parsers; each has a bound of its own all the same."""
    output = called("hermes", "f", '{"x":' + "[" * 400 + "]" * 400 + "}")
    whole = Parser("hermes")
    expected = merge(whole.feed(output) + whole.finish("stop"))
    for size in (1, 2, 3, 4, 5, 8, 16):
        parser = Parser("hermes")
        events = [event for at in range(0, len(output), size) for event in parser.feed(output[at : at + size])]
        assert merge(events + parser.finish("stop")) == expected


@some_json
@pytest.mark.parametrize("digits", [1023, 1024, 1025, 2100])
def test_numbers_up_to_the_bound_and_beyond(dialect: str, digits: int) -> None:
    found = kinds(events_of(dialect, called(dialect, "f", f'{{"x": {"7" * digits}}}')))
    assert found in ([], ["malformed"])


@each_json
@pytest.mark.parametrize("length", [128, 129, 200, 201, 255, 256, 257])
def test_names_up_to_the_bound_and_beyond(dialect: str, length: int) -> None:
    events_of(dialect, "One. " * (dialect != "harmony") + called(dialect, "n" * length, '{"x": 1}'))


@pytest.mark.parametrize("length", [127, 128, 129, 255, 256, 257, 600])
def test_names_and_keys_of_tags_up_to_the_bound_and_beyond(length: int) -> None:
    events_of("qwen3_coder", f"One. <function={'n' * length}>\n<parameter=x>\n1\n</parameter>\n</function>Two.")
    events_of("qwen3_coder", f"One. <function=f>\n<parameter={'k' * length}>\n1\n</parameter>\n</function>Two.")


@each_json
@pytest.mark.parametrize("length", [63, 64, 65, 130])
def test_layout_up_to_the_bound_and_beyond(dialect: str, length: int) -> None:
    blank = " " * (length - 1) + "\n"
    output = called(dialect, "f", f'{blank}{{"x": 1}}{blank}')
    events_of(dialect, output)
    events_of(dialect, output.replace(">", ">" + blank))


@pytest.mark.parametrize("length", [60, 63, 64, 65, 66, 130])
def test_layout_of_tags_up_to_the_bound_and_beyond(length: int) -> None:
    blank = " " * (length - 1) + "\n"
    events_of(
        "qwen3_coder",
        f"<tool_call>{blank}<function=f>{blank}<parameter=x>{blank}1{blank}</parameter>{blank}</function>",
    )


@pytest.mark.parametrize("length", [400, 470, 480, 500, 511, 512, 513, 540, 600])
def test_headers_up_to_the_bound_and_beyond(length: int) -> None:
    header = "<|channel|>commentary to=functions." + "n" * (length - 35)
    events_of("harmony", f'{header}<|message|>{{"x": 1}}<|call|>')


@pytest.mark.parametrize("length", [4095, 4096, 4097])
def test_a_value_of_two_types_up_to_the_bound_and_beyond(length: int) -> None:
    """It is an object or a string; which, is known at its end, or assumed when it is long."""
    value = '{"a": "' + "z" * (length - 9) + '"}'
    output = f"<function=f>\n<parameter=x>\n{value}\n</parameter>\n</function>"
    expected = Read((call("f", f'{{"x": {value}}}'),), (), "tool_calls")
    assert read("qwen3_coder", output, tools=[tool("f", x={"type": ["object", "string"]})]) == expected


@pytest.mark.parametrize("length", [60, 64, 120, 127, 128, 129, 130, 300])
def test_the_word_behind_a_fence_up_to_the_bound_and_beyond(length: int) -> None:
    said = f"```{'w' * length}\n<tool_call>x\n```\n"
    events_of("hermes", said)
