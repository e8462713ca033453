"""``dragoman parse`` in each of its shapes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman import Parser
from dragoman.events import merge
from dragoman.recordings import recordings

from .conftest import COMMAND, Run, environment

OUTPUT = '<think>\nHm.\n</think>\n\nHi é.\n<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call><|im_end|>'
TOOLS = '[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]'
HERMES = ("--dialect", "hermes")


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(TOOLS)
    return str(path)


def test_the_live_view_is_plain_when_piped(dragoman: Run) -> None:
    done = dragoman("parse", *HERMES, stdin=OUTPUT)
    assert done.code == 0
    assert done.out == ('╭ reasoning\n│ Hm.\nHi é.\n╭ call 0 f\n│ {"x": 1}\n╰ complete\n■ stop <|im_end|>\n')


def test_the_live_view_has_colours_in_a_terminal(terminal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(OUTPUT)
    got = terminal("parse", str(path), *HERMES)
    assert "\x1b[2;3mHm." in got
    assert "\x1b[1;36mf" in got


def test_no_colour_is_respected(terminal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(OUTPUT)
    assert "\x1b[1;36m" not in terminal("parse", str(path), *HERMES, NO_COLOR="1")


def test_text_is_shown_while_the_input_is_still_open() -> None:
    with subprocess.Popen(
        [*COMMAND, "parse", *HERMES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin
        assert process.stdout
        for word in (b"One ", b"two "):
            process.stdin.write(word)
            process.stdin.flush()
            assert process.stdout.read(4) == word
        process.stdin.close()
        assert process.stdout.read().startswith(b"\n")


def test_json_is_one_event_a_line(dragoman: Run) -> None:
    done = dragoman("parse", "--json", *HERMES, stdin="Hi")
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"type": "content_delta", "text": "Hi", "start": 0, "end": 2, "channel": None},
        {"type": "stop", "reason": None, "marker": None, "start": 2, "end": 2},
    ]


def test_message_is_the_whole_message(dragoman: Run) -> None:
    done = dragoman("parse", "--message", *HERMES, stdin=OUTPUT)
    assert json.loads(done.out) == {
        "role": "assistant",
        "parts": [
            {"type": "thinking", "text": "Hm."},
            {"type": "text", "text": "Hi é.", "channel": None},
            {"type": "tool_call", "name": "f", "arguments": '{"x": 1}', "id": None},
        ],
    }


def test_spans_are_a_table_when_piped(dragoman: Run) -> None:
    done = dragoman("parse", "--spans", *HERMES, stdin="<think>\nHm.\n</think>\n\nHi")
    assert done.out == (
        "start  end  kind       text\n"
        '0      8    markup     "<think>\\n"\n'
        '8      11   reasoning  "Hm."\n'
        '11     22   markup     "\\n</think>\\n\\n"\n'
        '22     24   content    "Hi"\n'
    )


def test_spans_are_the_output_in_colours_in_a_terminal(terminal: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(OUTPUT)
    got = terminal("parse", "--spans", str(path), *HERMES)
    assert "\x1b[7;34m<think>" in got
    assert "\x1b[2;3mHm.\x1b[0m" in got


@pytest.mark.parametrize("size", ["1", "7", "4096"])
def test_the_size_of_the_chunks_changes_nothing(dragoman: Run, size: str) -> None:
    whole = dragoman("parse", "--spans", *HERMES, stdin=OUTPUT).out
    assert dragoman("parse", "--spans", "--chunk", size, *HERMES, stdin=OUTPUT).out == whole


def test_a_file_is_read_as_the_standard_input_is(dragoman: Run, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_bytes(OUTPUT.encode())
    assert dragoman("parse", str(path), *HERMES).out == dragoman("parse", "-", *HERMES, stdin=OUTPUT).out


def test_tools_are_known_by_their_file(dragoman: Run, tools: str) -> None:
    call = '<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'
    assert "unknown_tool" in dragoman("parse", "--tools", tools, *HERMES, stdin=call).out
    assert "unknown_tool" not in dragoman("parse", *HERMES, stdin=call).out


def test_an_empty_list_of_tools_makes_every_tool_unknown(dragoman: Run, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text("[]")
    assert "unknown_tool" in dragoman("parse", "--tools", str(path), *HERMES, stdin=OUTPUT).out


def test_the_output_may_begin_inside_reasoning(dragoman: Run) -> None:
    done = dragoman("parse", "--start", "reasoning", *HERMES, stdin="Hm.\n</think>\n\nHi")
    assert done.out.startswith("╭ reasoning\n│ Hm.\nHi\n")


def test_the_prompt_may_hold_the_beginning_of_the_output(dragoman: Run, tmp_path: Path) -> None:
    done = dragoman("parse", "--prefill", "<think>\n", *HERMES, stdin="Hm.\n</think>\n\nHi")
    assert done.out.startswith("╭ reasoning\n│ Hm.\nHi\n")
    prompt = tmp_path / "prompt.txt"
    prompt.write_bytes("<|im_start|>user\né?<|im_end|>\n<|im_start|>assistant\n<think>\n".encode())
    assert dragoman("parse", "--prompt", str(prompt), *HERMES, stdin="Hm.\n</think>\n\nHi").out == done.out


def test_a_prompt_without_a_turn_of_the_assistant_is_told(dragoman: Run, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Hello")
    done = dragoman("parse", "--prompt", str(prompt), *HERMES)
    assert (done.code, done.out) == (2, "")
    assert "expected '<|im_start|>assistant\\n' or" in done.err
    prompt.write_bytes(b"\xff")
    done = dragoman("parse", "--prompt", str(prompt), *HERMES)
    assert (done.code, done.err) == (2, f"dragoman: {prompt}: not UTF-8: invalid start byte at byte 0\n")


def test_the_engines_reason_is_the_last_word(dragoman: Run) -> None:
    assert dragoman("parse", "--reason", "length", *HERMES, stdin="Hi").out == "Hi\n■ stop length\n"


def test_problems_change_the_exit_code_only_when_asked(dragoman: Run) -> None:
    assert dragoman("parse", *HERMES, stdin="Hi</think>").code == 0
    assert dragoman("parse", "--strict", *HERMES, stdin="Hi</think>").code == 1
    assert dragoman("parse", "--strict", *HERMES, stdin="Hi").code == 0


def test_bytes_that_are_no_text_are_problems_and_not_errors(dragoman: Run) -> None:
    done = dragoman("parse", "--strict", *HERMES, stdin=bytes(range(256)))
    assert done.code == 1
    assert "invalid_utf8" in done.out
    assert done.err == ""


def test_spans_count_bytes_that_are_no_text_as_the_parser_does(dragoman: Run) -> None:
    done = dragoman("parse", "--spans", "--chunk", "1", *HERMES, stdin=b"a\xe2\x82b\xff")
    assert done.out.splitlines()[-1] == '0      5    content  "a\ufffd\ufffdb\ufffd"'


def test_a_dialect_may_be_a_file(dragoman: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("from dragoman.dialects.hermes import DIALECT\n")
    assert dragoman("parse", "--dialect", str(path), stdin="Hi").out.startswith("Hi\n")


@pytest.mark.parametrize("code", ["", "DIALECT = 1", "1 / 0", "def"])
def test_a_file_that_is_no_dialect_is_told(dragoman: Run, tmp_path: Path, code: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(code)
    done = dragoman("parse", "--dialect", str(path), stdin="Hi")
    assert done.code == 2
    assert done.err.startswith(f"dragoman: {path}: expected ")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not JSON"),
        ("3", "expected an array of tools"),
        ('{"tools": 3}', "expected an array of tools"),
        ("[3]", "expected an array of tools"),
        ('[{"name": ""}]', "should be a non-empty string"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_wrong_tools_are_told(dragoman: Run, tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(content)
    done = dragoman("parse", "--tools", str(path), *HERMES, stdin="Hi")
    assert done.code == 2
    assert says in done.err
    assert done.err.count("\n") == 1


def test_tools_of_a_whole_request_are_found(dragoman: Run, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(f'{{"model": "m", "tools": {TOOLS}}}')
    assert dragoman("parse", "--tools", str(path), *HERMES, stdin=OUTPUT).code == 0


@pytest.mark.parametrize("option", ["file", "--tools", "--prompt"])
def test_files_that_cannot_be_read_are_told(dragoman: Run, tmp_path: Path, option: str) -> None:
    for path, reason in ((tmp_path / "missing", "No such file or directory"), (tmp_path, "Is a directory")):
        args = [str(path)] if option == "file" else [option, str(path)]
        done = dragoman("parse", *HERMES, *args)
        assert (done.code, done.err) == (2, f"dragoman: {path}: {reason}\n")


def test_an_unknown_start_is_told(dragoman: Run) -> None:
    done = dragoman("parse", "--start", "nowhere", *HERMES)
    assert done.code == 2
    assert "can't start in 'nowhere'" in done.err


def test_every_recording_gives_the_events_of_the_library(dragoman: Run) -> None:
    recording = recordings("hermes")[0]
    parser = Parser("hermes")
    events = merge(parser.feed(recording.text) + parser.finish())
    done = dragoman("parse", "--json", *HERMES, stdin=recording.text)
    assert len(done.out.splitlines()) >= len(events)
