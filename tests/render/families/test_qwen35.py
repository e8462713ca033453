from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.types import Message, TextPart
from tests.render.conversations import conversations, tools
from tests.render.families.agreement import agrees, ids_agree, qwen

TEMPLATES = {
    "qwen35": "trl:qwen3_5_think",
    "qwen35_small": "trl:qwen3_5_nothink",
    "qwen36": "trl:qwen3_6",
    "qwen38": "trl:qwen3_8",
}
EITHER = st.booleans()
EFFORTS = st.sampled_from(["xhigh", "medium", "low"])

FAMILIES = st.one_of(
    st.tuples(
        st.sampled_from(["qwen35", "qwen35_small"]), st.fixed_dictionaries({}, optional={"enable_thinking": EITHER})
    ),
    st.tuples(
        st.just("qwen36"),
        st.fixed_dictionaries({}, optional={"enable_thinking": EITHER, "preserve_thinking": EITHER}),
    ),
    st.tuples(
        st.just("qwen38"),
        st.fixed_dictionaries(
            {}, optional={"enable_thinking": EITHER, "preserve_thinking": EITHER, "reasoning_effort": EFFORTS}
        ),
    ),
)

ASKED = Message("user", (TextPart("Do it."),))


@given(conversations(), tools(), FAMILIES)
def test_a_conversation_reads_as_the_template_writes_it(messages: Any, declared: Any, family: Any) -> None:
    name, options = family
    agrees(name, TEMPLATES[name], qwen(), messages, declared, options)


@given(conversations(markers=True, edges=True), tools(), FAMILIES)
def test_markers_and_blanks_in_text_change_nothing(messages: Any, declared: Any, family: Any) -> None:
    name, options = family
    agrees(name, TEMPLATES[name], qwen(), messages, declared, options)


@given(conversations(), tools(), FAMILIES)
def test_the_ids_are_those_of_the_text(messages: Any, declared: Any, family: Any) -> None:
    name, options = family
    ids_agree(Renderer(name, qwen(), **options), messages, declared)


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("declared", [None, [{"type": "function", "function": {"name": "f"}}]])
def test_an_empty_system_message_reads_as_the_template_writes_it(name: str, declared: Any) -> None:
    messages = [{"role": "system", "content": " "}, {"role": "user", "content": "Do it."}]
    agrees(name, TEMPLATES[name], qwen(), messages, declared, {})


@pytest.mark.parametrize("name", TEMPLATES)
def test_values_of_all_types_read_as_the_template_writes_them(name: str) -> None:
    values = {"a": ["it's", None], "b": True, "n": None, "o": {"é": False}, "x": 1.5, "s": "é\n"}
    call = {"type": "function", "function": {"name": "f", "arguments": values}}
    messages = [
        {"role": "user", "content": "Do it."},
        {"role": "assistant", "content": "", "tool_calls": [call, call]},
    ]
    agrees(name, TEMPLATES[name], qwen(), messages, None, {})


@pytest.mark.parametrize("roles", [("assistant",), ("user", "system"), ("user", "developer"), ()])
def test_what_the_templates_refuse_is_refused(roles: tuple[str, ...]) -> None:
    with pytest.raises(InvalidConversation):
        Renderer("qwen35", qwen()).render([Message(role, (TextPart("Do it."),)) for role in roles])


def test_an_effort_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidConversation, match="reasoning_effort"):
        Renderer("qwen38", qwen(), reasoning_effort="high")


@pytest.mark.parametrize(("model", "name"), [("Qwen/Qwen3.5-2B", "qwen35_small"), ("Qwen/Qwen3.5-27B", "qwen35")])
def test_the_smaller_models_do_not_think_by_themselves(model: str, name: str) -> None:
    assert Renderer(model, qwen()).family.name == name
    assert Renderer(model, qwen()).build_generation_prompt([ASKED]).text.endswith("</think>\n\n") == (
        name == "qwen35_small"
    )
