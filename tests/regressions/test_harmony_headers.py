"""Headers of Harmony as models really write them: section 3.7 of our study of renderers, and openai/harmony's issues.

The column "ours" says what must come out; openai-harmony 0.0.8 raises, loses text or misreads most of these.
"""

from __future__ import annotations

import pytest

from tests.regressions.reading import Read, call, read, text, think

FINAL = "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    "header",
    [
        "<|channel|>commentary to=functions.f <|constrain|>json",
        "<|channel|>commentary to=functions.f<|constrain|>json",
        "<|channel|>commentary to=functions.f <|constrain|> json",
        " to=functions.f<|channel|>commentary <|constrain|>json",
        " to=functions.f<|channel|>commentary<|constrain|>json",
        "<|start|>assistant to=functions.f<|channel|>commentary json",
        "<|start|>assistant<|channel|>commentary to=functions.f json",
    ],
)
def test_a_recipient_stands_in_the_role_or_the_channel_and_the_type_with_or_without_a_space(header: str) -> None:
    assert read("harmony", f'{header}<|message|>{{"n": 1}}<|call|>') == Read((call("f", '{"n": 1}'),), (), "tool_calls")


@pytest.mark.parametrize("type_", [" <|constrain|>json", "<|constrain|>json", " <|constrain|> json", " json"])
def test_a_content_type_without_a_recipient_is_no_recipient(type_: str) -> None:
    """openai/harmony PR 144."""
    assert read("harmony", f'<|channel|>final{type_}<|message|>{{"n": 1}}<|return|>') == Read((text('{"n": 1}'),))


def test_the_role_may_be_written_although_the_prompt_has_it() -> None:
    assert read("harmony", f"{FINAL}Hi.<|return|>") == Read((text("Hi."),))


@pytest.mark.parametrize(
    "header",
    [
        "<|start|><|start|>assistant<|channel|>final<|message|>",
        "<|start|>assistant<|start|>assistant<|channel|>final<|message|>",
        "<|start|>assistantassistant<|channel|>final<|message|>",
        "<|start|>assistant assistant<|channel|>final<|message|>",
        "<|start|>assistant<|channel|>final<|channel|>final<|message|>",
    ],
)
def test_a_doubled_beginning_is_recovered_from(header: str) -> None:
    """openai/harmony#33, #82."""
    found = read("harmony", f"{header}Hi.<|return|>")
    assert (found.parts, found.stop) == ((text("Hi."),), "stop")


def test_a_doubled_recipient_is_recovered_from() -> None:
    output = '<|channel|>commentary to=functions.f to=functions.f <|constrain|>json<|message|>{"n": 1}<|call|>'
    found = read("harmony", output)
    assert (found.parts, found.stop) == ((call("f", '{"n": 1}'),), "tool_calls")


def test_text_between_messages_is_kept_and_reported() -> None:
    output = f"<|channel|>analysis<|message|>a<|end|>stray {FINAL}b<|return|>"
    found = read("harmony", output)
    assert found == Read((think("a"), text("stray "), text("b")), (("malformed_header", ""),))


def test_whitespace_between_messages_is_layout() -> None:
    output = f"<|channel|>analysis<|message|>a<|end|>\n\n{FINAL}b<|return|>"
    assert read("harmony", output) == Read((think("a"), text("b")))


@pytest.mark.parametrize("channel", ["commentary?", "final answer", "analysis of it", "commentary json code"])
def test_words_behind_the_channel_do_not_lose_the_message(channel: str) -> None:
    """About one turn in 25 of gpt-oss-20b was reported to have them."""
    found = read("harmony", f"<|channel|>{channel}<|message|>Hi.<|return|>")
    assert [getattr(part, "text", None) for part in found.parts] == ["Hi."]
    assert found.stop == "stop"


def test_an_unknown_channel_is_content_and_reported() -> None:
    found = read("harmony", "<|channel|>thoughts<|message|>Hi.<|return|>")
    assert (found.parts, [kind for kind, _ in found.problems]) == ((text("Hi."),), ["unknown_channel"])


def test_a_message_without_a_channel_is_content_and_reported() -> None:
    found = read("harmony", "<|message|>Hi.<|return|>")
    assert [getattr(part, "text", None) for part in found.parts] == ["Hi."]
    assert len(found.problems) == 1


def test_a_first_message_without_its_marker_is_kept() -> None:
    found = read("harmony", f"<|channel|>final Hello there.<|end|>{FINAL}b<|return|>")
    shown = "".join(part.text for part in found.parts if hasattr(part, "text"))
    assert "Hello there." in shown
    assert shown.endswith("b")
    assert [kind for kind, _ in found.problems] == ["malformed_header"]


def test_a_later_message_without_its_marker_is_kept() -> None:
    output = f"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final Hello there.<|end|>{FINAL}b"
    found = read("harmony", output)
    assert found.parts[0] == think("a")
    assert "Hello there." in "".join(part.text for part in found.parts if hasattr(part, "text"))
    assert found.parts[-1] == text("b")
    assert [kind for kind, _ in found.problems] == ["malformed_header"]


@pytest.mark.parametrize(
    "output",
    [
        "<|channel|>",
        "<|channel|>analysis",
        "<|channel|>commentary to=functions.f",
        "<|channel|>commentary to=functions.f <|constrain|>json",
        "<|start|>assistant",
        "<|start|>",
        "<|channel|>final<|mess",
    ],
)
@pytest.mark.parametrize("reason", ["stop", "length"])
def test_an_output_that_ends_in_a_header_has_no_call_and_is_reported(output: str, reason: str) -> None:
    found = read("harmony", output, reason=reason)
    assert [type(part).__name__ for part in found.parts if type(part).__name__ == "ToolCall"] == []
    assert len(found.problems) == 1
    assert found.stop == reason


def test_a_header_with_nothing_behind_it_is_an_empty_message() -> None:
    assert read("harmony", "<|channel|>final<|message|>") == Read(())


def test_nothing_but_a_stop_marker_is_an_empty_output() -> None:
    assert read("harmony", "<|return|>") == Read(())


def test_what_follows_a_stop_marker_is_reported_and_not_read() -> None:
    after = f"{FINAL}b<|return|>"
    found = read("harmony", f"<|channel|>final<|message|>a<|return|>{after}")
    assert (found.parts, [kind for kind, _ in found.problems]) == ((text("a"),), ["text_after_stop"])


def test_a_second_stop_marker_is_layout() -> None:
    assert read("harmony", "<|channel|>final<|message|>a<|return|><|return|>\n") == Read((text("a"),))


@pytest.mark.parametrize("ended", ["<|start|>assistant<|channel|>final<|message|>b<|return|>"])
def test_a_message_without_its_end_ends_where_the_next_begins(ended: str) -> None:
    """vllm-project/vllm#23567: a missing <|end|>."""
    found = read("harmony", f"<|channel|>analysis<|message|>a{ended}")
    assert found.parts == (think("a"), text("b"))


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ('{"n": 1}\n', ()),
        ('\n{"n": 1}', ()),
        ("{}", ()),
    ],
)
def test_layout_around_the_arguments_is_none_of_them(body: str, problems: tuple[tuple[str, str], ...]) -> None:
    found = read("harmony", f"<|channel|>commentary to=functions.f <|constrain|>json<|message|>{body}<|call|>")
    assert found == Read((call("f", body.strip()),), problems, "tool_calls")


def test_a_call_without_a_body_has_no_arguments() -> None:
    found = read("harmony", "<|channel|>commentary to=functions.f <|constrain|>json<|message|><|call|>")
    assert found == Read((call("f", "{}"),), (), "tool_calls")


def test_two_calls_in_one_output_are_two_calls() -> None:
    """Parallel calls, each closed by <|end|> or <|call|> with the next message behind it, as some engines let pass."""
    one = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"n": 1}<|end|>'
    two = '<|start|>assistant<|channel|>commentary to=functions.g <|constrain|>json<|message|>{"n": 2}<|call|>'
    assert read("harmony", one + two) == Read((call("f", '{"n": 1}'), call("g", '{"n": 2}')), (), "tool_calls")


def test_a_recipient_without_its_namespace_is_a_call() -> None:
    output = '<|channel|>commentary to=f <|constrain|>json<|message|>{"n": 1}<|call|>'
    assert read("harmony", output) == Read((call("f", '{"n": 1}'),), (), "tool_calls")


def test_a_preamble_is_visible_text_with_its_channel() -> None:
    output = f"<|channel|>commentary<|message|>First.<|end|>{FINAL}Second.<|return|>"
    assert read("harmony", output) == Read((text("First.", "commentary"), text("Second.")))
