"""``dragoman render``: a conversation as a model gets it, in each of its shapes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.render import Renderer, families, template_family
from dragoman.tokenizers import get_tokenizer

from .conftest import Run

CHAT = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "reasoning_content": "Greet.", "content": "Hello!"},
]
LONGER = [*CHAT, {"role": "user", "content": "Bye"}, {"role": "assistant", "content": "See you."}]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]
QWEN3 = ("--model", "qwen3")

TEMPLATE = """\
{{ bos_token }}{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endfor %}
{%- if add_generation_prompt %}<|start|>assistant{% endif %}"""


@pytest.fixture
def template(tmp_path: Path) -> tuple[str, ...]:
    path = tmp_path / "chat_template.jinja"
    path.write_text(TEMPLATE)
    return ("--template", str(path), "--dialect", "harmony", "--special", "bos_token=<|startoftext|>")


def chat(messages: object = CHAT) -> str:
    return json.dumps(messages)


def test_a_conversation_is_a_table_of_its_stretches_when_piped(dragoman: Run) -> None:
    done = dragoman("render", *QWEN3, stdin=chat())
    assert done.code == 0
    assert done.out == (
        "start  end  message      part  kind      sampled  text\n"
        '0      12   0 user       -     control   -        "<|im_start|>"\n'
        '12     17   0 user       -     markup    -        "user\\n"\n'
        '17     19   0 user       0     text      -        "Hi"\n'
        '19     29   0 user       -     control   -        "<|im_end|>"\n'
        '29     30   0 user       -     markup    -        "\\n"\n'
        '30     42   1 assistant  -     control   -        "<|im_start|>"\n'
        '42     52   1 assistant  -     markup    -        "assistant\\n"\n'
        '52     60   1 assistant  0     markup    yes      "<think>\\n"\n'
        '60     66   1 assistant  0     thinking  yes      "Greet."\n'
        '66     77   1 assistant  0     markup    yes      "\\n</think>\\n\\n"\n'
        '77     83   1 assistant  1     text      yes      "Hello!"\n'
        '83     93   1 assistant  -     stop      yes      "<|im_end|>"\n'
        '93     94   1 assistant  -     markup    -        "\\n"\n'
    )


def test_a_file_is_read_as_the_standard_input_is(dragoman: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(chat())
    assert dragoman("render", str(path), *QWEN3).out == dragoman("render", "-", *QWEN3, stdin=chat()).out


def test_the_prompt_is_shown_as_it_is(dragoman: Run) -> None:
    given = json.dumps({"messages": CHAT[:1], "tools": TOOLS})
    done = dragoman("render", *QWEN3, "--prompt", "--show", "text", stdin=given)
    assert done.out.endswith("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n")
    assert '{"type": "function", "function": {"name": "f"' in done.out


def test_a_prefill_stands_behind_the_prompt(dragoman: Run) -> None:
    out = dragoman("render", *QWEN3, "--prefill", "<think>\n", "--show", "text", stdin=chat(CHAT[:1])).out
    assert out.endswith("<|im_start|>assistant\n<think>\n")


def test_options_are_the_familys_own(dragoman: Run) -> None:
    args = (*QWEN3, "--prompt", "--show", "text", "--option", "enable_thinking=false")
    assert dragoman("render", *args, stdin=chat(CHAT[:1])).out.endswith("assistant\n<think>\n\n</think>\n\n")


def test_a_model_is_known_by_its_id(dragoman: Run) -> None:
    by_id = dragoman("render", "--model", "Qwen/Qwen3-8B", stdin=chat())
    assert by_id.out == dragoman("render", "--family", "qwen3", stdin=chat()).out


def test_text_that_spells_a_control_token_is_text(dragoman: Run) -> None:
    spelling = chat([{"role": "user", "content": "a<|im_end|>b"}])
    assert '0 user   0     text     -        "a<|im_end|>b"\n' in dragoman("render", *QWEN3, stdin=spelling).out
    done = dragoman("render", *QWEN3, "--refuse-control-text", stdin=spelling)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("dragoman: part 0 of message 0 spells the control token '<|im_end|>' at character 1")


class TestTraining:
    def test_weights_are_told_with_what_is_trained_on(self, dragoman: Run) -> None:
        out = dragoman("render", *QWEN3, "--train-on", "last_assistant", stdin=chat()).out
        assert out.startswith("start  end  message      part  kind      weight  text\n")
        assert '77     83   1 assistant  1     text      1       "Hello!"\n' in out
        assert '17     19   0 user       0     text      0       "Hi"\n' in out

    def test_a_format_that_rewrites_history_needs_several_examples(self, dragoman: Run) -> None:
        out = dragoman("render", *QWEN3, "--train-on", "all_assistants", stdin=chat(LONGER)).out
        assert out.startswith("━━ example 1 of 2\nstart")
        assert "\n\n━━ example 2 of 2\nstart" in out

    def test_all_tokens_may_be_trained_on(self, dragoman: Run) -> None:
        spans = json.loads(dragoman("render", *QWEN3, "--train-on", "all", "--json", stdin=chat(LONGER)).out)["spans"]
        assert {span["weight"] for span in spans} == {1.0}

    def test_a_conversation_without_an_answer_is_told(self, dragoman: Run) -> None:
        done = dragoman("render", *QWEN3, "--train-on", "last_turn", stdin=chat(CHAT[:1]))
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "dragoman: --train-on last_turn: expected a message of the assistant's, found none to train on\n"
        )


class TestWithATokenizer:
    def test_a_format_whose_vocabulary_is_shipped_needs_none(self, dragoman: Run, template: tuple[str, ...]) -> None:
        done = dragoman("render", *template, "--prompt", "--show", "ids", stdin=chat(CHAT[:1]))
        assert done.err == ""
        assert json.loads(done.out) == [199998, 200006, 1428, 200008, 12194, 200007, 200006, 173781]

    def test_tokens_are_told_one_by_one(self, dragoman: Run, template: tuple[str, ...]) -> None:
        out = dragoman("render", *template, "--show", "mask", "--train-on", "all_assistants", stdin=chat()).out
        assert out.splitlines()[0].split() == ["token", "id", "weight", "message", "kind", "text"]
        assert out.splitlines()[-3:] == [
            '9      13225   1       1 assistant  text     "Hello"',
            '10     0       1       1 assistant  text     "!"',
            '11     200007  1       1 assistant  stop     "<|end|>"',
        ]

    def test_json_has_ids_weights_and_spans(self, dragoman: Run, template: tuple[str, ...]) -> None:
        args = (*template, "--tokenizer", "o200k_harmony", "--train-on", "all_assistants", "--json")
        whole = json.loads(dragoman("render", *args, stdin=chat()).out)
        assert (whole["family"], whole["tokenizer"]) == ("chat_template", "o200k_harmony")
        assert (whole["spans_count"], len(whole["ids"])) == ("tokens", len(whole["weights"]))
        assert "".join(span["text"] for span in whole["spans"]) == whole["text"]
        assert whole["spans"][-1] == {
            "start": 11,
            "end": 12,
            "kind": "stop",
            "control": True,
            "message": 1,
            "part": None,
            "sampled": True,
            "weight": 1.0,
            "text": "<|end|>",
        }

    def test_a_characters_bytes_may_lie_in_several_tokens(self, dragoman: Run, template: tuple[str, ...]) -> None:
        whole = json.loads(
            dragoman("render", *template, "--json", stdin=chat([{"role": "user", "content": "🧑‍🚀"}])).out
        )
        assert [span["text"] for span in whole["spans"] if span["kind"] == "text"] == ["🧑‍🚀"]


class TestTemplates:
    def test_a_folder_has_the_template_and_the_tokens_it_names(self, dragoman: Run, tmp_path: Path) -> None:
        (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
        config = {"bos_token": {"content": "<|startoftext|>"}, "eos_token": None}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        args = ("--template", str(tmp_path), "--dialect", "harmony", "--show", "text")
        assert dragoman("render", *args, stdin=chat(CHAT[:1])).out == "<|startoftext|><|start|>user<|message|>Hi<|end|>"

    def test_what_it_speaks_is_told_by_it_if_it_can(self, dragoman: Run, tmp_path: Path) -> None:
        path = tmp_path / "template.jinja"
        path.write_text("{% for m in messages %}[INST]{{ m.content }}[/INST]{% endfor %}{# #}{{ '[TOOL_CALLS]' if 0 }}")
        assert dragoman("render", "--template", str(path), stdin=chat(CHAT[:1])).code == 0
        path.write_text("{{ messages[0].content }}")
        done = dragoman("render", "--template", str(path), stdin=chat(CHAT[:1]))
        assert (done.code, "name the dialect" in done.err) == (2, True)

    def test_the_time_is_the_callers(self, dragoman: Run, tmp_path: Path) -> None:
        path = tmp_path / "template.jinja"
        path.write_text("{{ strftime_now('%Y') }}")
        args = ("--template", str(path), "--dialect", "hermes", "--now", "1999-12-31", "--show", "text")
        assert dragoman("render", *args, stdin=chat()).out == "1999"


class TestInATerminal:
    def test_each_line_has_whose_it_is_and_what_is_sampled(self, terminal: Callable[..., str], tmp_path: Path) -> None:
        path = tmp_path / "chat.json"
        path.write_text(chat())
        got = terminal("render", str(path), *QWEN3, NO_COLOR="1", TERM="dumb")
        assert "\x1b[1m" not in got
        assert got.splitlines()[2:] == [
            "0 user      │ <|im_start|>user↵",
            "            │ Hi<|im_end|>↵",
            "1 assistant │ <|im_start|>assistant↵",
            "            ┃ <think>↵",
            "            ┃ Greet.↵",
            "            ┃ </think>↵",
            "            ┃ ↵",
            "            ┃ Hello!<|im_end|>↵",
            "",
            "qwen3 · 94 characters · 41 sampled · for ids, give --tokenizer",
        ]

    def test_control_tokens_and_kinds_have_colours(self, terminal: Callable[..., str], tmp_path: Path) -> None:
        path = tmp_path / "chat.json"
        path.write_text(chat())
        got = terminal("render", str(path), *QWEN3)
        assert "\x1b[7;34m<|im_start|>\x1b[0m" in got
        assert "\x1b[2;3;4mGreet.\x1b[0m" in got
        assert "\x1b[4;7;35m<|im_end|>\x1b[0m" in got

    def test_long_lines_stay_behind_the_gutter(self, terminal: Callable[..., str], tmp_path: Path) -> None:
        path = tmp_path / "chat.json"
        path.write_text(chat([{"role": "user", "content": "天気 " * 20 + "x" * 50}]))
        got = terminal("render", str(path), *QWEN3, NO_COLOR="1", TERM="dumb", COLUMNS="40")
        rows = [line for line in got.splitlines() if "│ " in line]
        assert rows[0] == "0 user │ <|im_start|>user↵"
        assert all(row.startswith("       │ ") for row in rows[1:])
        assert "".join(row.partition("│ ")[2] for row in rows[1:]) == "天気 " * 20 + "x" * 50 + "<|im_end|>↵"

    def test_the_prompt_has_a_name(
        self, terminal: Callable[..., str], tmp_path: Path, template: tuple[str, ...]
    ) -> None:
        path = tmp_path / "chat.json"
        path.write_text(chat(LONGER[:3]))
        got = terminal("render", str(path), *template, "--prompt", NO_COLOR="1", TERM="dumb")
        assert got.splitlines()[2:6] == [
            "0 user      │ <|startoftext|><|start|>user<|message|>Hi<|end|><|start|>assistant",
            "1 assistant ┃ <|message|>Hello!<|end|>",
            "2 user      │ <|start|>user<|message|>Bye<|end|>",
            "prompt      │ <|start|>assistant",
        ]

    def test_a_default_system_prompt_is_nobodys(self, terminal: Callable[..., str], tmp_path: Path) -> None:
        path = tmp_path / "chat.json"
        path.write_text(chat(CHAT[:1]))
        lines = terminal("render", str(path), "--model", "gpt_oss", NO_COLOR="1", TERM="dumb").splitlines()
        assert lines[2].startswith("       │ <|start|>system<|message|>You are ChatGPT")
        assert lines[-3] == "0 user │ <|start|>user<|message|>Hi<|end|>"
        assert lines[-1].startswith("gpt_oss · o200k_harmony · ")

    def test_what_would_steer_the_terminal_is_shown_instead(self, terminal: Callable[..., str], tmp_path: Path) -> None:
        path = tmp_path / "chat.json"
        path.write_text(chat([{"role": "user", "content": "\x1b[2Jgone"}]))
        for more in ((), ("--show", "spans"), ("--show", "text")):
            assert "\x1b[2J" not in terminal("render", str(path), *QWEN3, *more)


class TestStability:
    def test_what_is_rewritten_is_told_by_its_reason(self, dragoman: Run) -> None:
        lines = dragoman("render", *QWEN3, "--stability").out.splitlines()
        assert lines[0] == "qwen3 rewrites its prompts: in 36 of 48 short conversations"
        assert lines[2] == "the turn is rewritten once more follows (26 of 48)"
        assert "  call                    tool         anything" in lines
        assert "for instance, text, followed by user:" in lines
        assert any(line.endswith(r"<think>\n\n</think>\n\nHere.'") for line in lines)
        assert "all stays in place (12 of 48)" in lines

    def test_json_has_every_case(self, dragoman: Run) -> None:
        whole = json.loads(dragoman("render", *QWEN3, "--stability", "--json").out)
        assert (whole["family"], whole["stable"], len(whole["cases"])) == ("qwen3", False, 48)

    def test_a_format_that_can_say_nothing_of_it_is_not_called_stable(self, dragoman: Run, tmp_path: Path) -> None:
        path = tmp_path / "template.jinja"
        path.write_text("{{ raise_exception('never') }}")
        args = ("--template", str(path), "--dialect", "hermes", "--stability")
        assert dragoman("render", *args).out.startswith("chat_template can say none of the short conversations")
        assert json.loads(dragoman("render", *args, "--json").out)["stable"] is None

    def test_a_format_that_only_adds_is_stable(self, dragoman: Run, template: tuple[str, ...]) -> None:
        out = dragoman("render", *template, "--stability").out
        assert out.startswith("chat_template is stable: in all of ")


def test_families_are_listed(dragoman: Run) -> None:
    out = dragoman("render", "--families").out
    assert out.splitlines()[0].split() == ["family", "dialect", "options", "models"]
    assert {line.split()[0] for line in out.splitlines()[1:]} == {family.name for family in families()}
    listed = json.loads(dragoman("render", "--families", "--json").out)
    assert [family["name"] for family in listed] == [family.name for family in families()]


def test_the_ids_are_the_renderers(dragoman: Run, template: tuple[str, ...]) -> None:
    family = template_family(TEMPLATE, dialect="harmony", special_tokens={"bos_token": "<|startoftext|>"})
    renderer = Renderer(family, get_tokenizer("o200k_harmony"))
    prompt = renderer.build_generation_prompt(LONGER[:3])
    done = dragoman("render", *template, "--prompt", "--show", "ids", stdin=chat(LONGER[:3]))
    assert json.loads(done.out) == prompt.ids


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((), "for which model? Give --model or --template; `dragoman render --families` lists what --model knows"),
        (("--model", "qwne3"), "no renderer for 'qwne3'; did you mean 'qwen3'"),
        ((*QWEN3, "--show", "ids"), "ids need a tokenizer: give --tokenizer o200k_harmony, or the path of a "),
        ((*QWEN3, "--show", "mask"), "ids need a tokenizer: "),
        ((*QWEN3, "-t", "o200k_base"), "qwen3: expected the control token '<|im_start|>', found a tokenizer without"),
        ((*QWEN3, "-t", "nowhere"), "nowhere: expected o200k_base, o200k_harmony, or the path of "),
        ((*QWEN3, "-o", "no=1"), "the conversation: expected options of qwen3 (enable_thinking), found "),
        ((*QWEN3, "--now", "2025-01-01"), "qwen3: --dialect, --special and --now are for --template"),
        (("--template", "nowhere"), "nowhere: expected a tokenizer's folder or file, found nothing"),
    ],
)
def test_a_mistake_is_told_in_one_line(dragoman: Run, args: tuple[str, ...], says: str) -> None:
    done = dragoman("render", *args, stdin=chat())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"dragoman: {says}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ("--option", "enable_thinking"),
        ("--option", "=1"),
        ("--option", "tools=1"),
        ("--now", "soon"),
        ("--train-on", "nothing"),
        ("--prompt", "--train-on", "all"),
        ("--template", "a"),
    ],
)
def test_wrong_usage_is_told(dragoman: Run, args: tuple[str, ...]) -> None:
    done = dragoman("render", *QWEN3, *args, stdin=chat())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: dragoman render")


@pytest.mark.parametrize("content", ["[1", "3", '{"a": []}', "[1]", '{"messages": [], "tools": {}}', "null", ""])
def test_what_is_no_conversation_is_told(dragoman: Run, content: str) -> None:
    done = dragoman("render", *QWEN3, stdin=content)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(("dragoman: standard input: expected a list of", "dragoman: standard input: not JSON"))


def test_a_message_that_is_none_is_told_with_its_place(dragoman: Run) -> None:
    done = dragoman("render", *QWEN3, stdin=chat([*CHAT, {"role": 3}]))
    assert (done.code, done.err) == (2, "dragoman: message 2: expected a role, found 3\n")
