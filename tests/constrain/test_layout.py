"""What is measured of a writer: the text between parts, how arguments are written, how ids count."""

from __future__ import annotations

import pytest
from msgspec import structs

from dragoman.constrain import layout as layouts
from dragoman.constrain.constraint import constrain
from dragoman.constrain.layout import CALL, END, START, TEXT, THOUGHT, beginning, layout_of, text_on
from dragoman.constrain.syntax import Frame, syntax_of
from dragoman.emit.matcher import Matcher
from dragoman.errors import InvalidDialect
from dragoman.registry import get_dialect
from dragoman.types import Message

from .wanted import PING

HERMES = layout_of(get_dialect("hermes"))


def test_what_stands_between_parts_is_what_the_writer_puts_there() -> None:
    assert HERMES.between[START, THOUGHT] == "<think>\n"
    assert HERMES.between[THOUGHT, TEXT] == "\n</think>\n\n"
    assert HERMES.between[TEXT, CALL] == '\n<tool_call>\n{"name": "'
    assert HERMES.between[CALL, END] == ""


def test_what_stands_behind_every_call_belongs_to_it() -> None:
    assert HERMES.between[CALL, CALL] == '\n<tool_call>\n{"name": "'


def test_a_layout_tells_the_kinds_of_parts() -> None:
    assert set(HERMES.kinds) == {THOUGHT, TEXT, CALL}
    assert layout_of(get_dialect("harmony")).texts == (TEXT, text_on("commentary"))
    assert CALL not in layout_of(get_dialect("think_only")).kinds


def test_a_layout_is_measured_once() -> None:
    assert layout_of(get_dialect("hermes")) is HERMES


def test_no_more_layouts_are_kept_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "_known", {})
    monkeypatch.setattr(layouts, "KEPT", 1)
    layout_of(get_dialect("think_only"))
    layout_of(get_dialect("hermes"))
    assert [layout.dialect.name for layout in layouts._known.values()] == ["hermes"]


def test_a_writer_that_depends_on_more_than_neighbours_is_refused() -> None:
    hermes = get_dialect("hermes")

    def writer(message: Message) -> str:
        return hermes.writer(message).replace("\n<tool_call>", "\n" * len(message.parts) + "<tool_call>")

    odd = structs.replace(hermes, writer=writer)
    with pytest.raises(InvalidDialect, match="one and the same text between"):
        layout_of(odd)


def test_the_beginning_of_texts_is_what_all_share() -> None:
    assert beginning([]) == ""
    assert beginning(["abc", "abd", "ab"]) == "ab"
    assert beginning(["same", "same"]) == "same"


def test_arguments_of_json_dialects_are_one_object() -> None:
    assert syntax_of(HERMES).whole


def test_arguments_in_markup_are_framed_by_type() -> None:
    syntax = syntax_of(layout_of(get_dialect("qwen3_coder")))
    assert not syntax.whole
    assert syntax.raw
    assert syntax.frames["string"] == Frame(">\n", "\n</parameter>")
    assert any("</parameter>" in closer for closer in syntax.closers)


def test_arguments_of_python_calls_are_in_its_notation() -> None:
    form = syntax_of(layout_of(get_dialect("llama_pythonic"))).form
    assert (form.true, form.false, form.null) == ("True", "False", "None")


@pytest.mark.parametrize(
    ("name", "passes", "fails"),
    [
        ("kimi_k2", ("functions.ping:0", "functions.ping:12"), ("functions.ping:", "functions.ping:x", "ping:0")),
        ("mistral_v11", ("a1b2c3d40", "ABCdef123"), ("a1b2c3d4", "a1b2c3d4-")),
    ],
)
def test_ids_are_written_as_the_model_does(name: str, passes: tuple[str, ...], fails: tuple[str, ...]) -> None:
    dialect = get_dialect(name)
    constraint = constrain(dialect, [PING], tool_choice="required", parallel=False, lead_in="none")
    matcher = Matcher(constraint.rules)
    layout = layout_of(dialect)
    native = layouts.native_call(dialect, "ping", "{}")
    assert native.id is not None
    written = dialect.render(Message("assistant", (native,)))
    assert native.id in written
    assert layout.between[START, CALL] in written
    for known in passes:
        assert matcher.fault(written.replace(native.id, known)) is None
    for other in fails:
        assert not matcher.matches(written.replace(native.id, other))
