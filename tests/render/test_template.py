from __future__ import annotations

from datetime import datetime
from itertools import groupby

import jinja2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import InvalidChatTemplate, InvalidConversation
from dragoman.render.openai_messages import dict_messages, dict_tools
from dragoman.render.template import ChatTemplate, TemplateText
from dragoman.segments import Kind, Segment, text_of
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall
from tests.oracles import chat_template, chat_templates
from tests.render.hostile_conversations import SPELLED, TOOLS, conversations
from tests.render.jinja_oracle import NOW, compiled

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

PLAIN = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\n' }}
{%- if message.reasoning_content %}{{ '<think>' + message.reasoning_content + '</think>' }}{% endif %}
{{- message.content | trim }}
{%- for call in message.tool_calls %}{{ '<tool_call>' + (call.function | tojson) + '</tool_call>' }}{% endfor %}
{{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""

MARKED = """\
{%- for message in messages %}{{ '<' + message.role + '>' }}
{%- if message.role == 'assistant' %}{% generation %}{{ message.content + '</s>' }}{% endgeneration %}
{%- else %}{{ message.content }}{% endif %}
{%- endfor %}"""


def user(text: str) -> Message:
    return Message("user", (TextPart(text),))


def said(text: str) -> Message:
    return Message("assistant", (TextPart(text),))


def shown(rendered: TemplateText) -> list[tuple[str, str]]:
    """What each stretch is, and its text."""
    return [
        (str(kind), "".join(segment.text for segment in group))
        for kind, group in groupby(rendered.segments, key=lambda segment: segment.kind)
    ]


def controlled(rendered: TemplateText) -> str:
    """The characters that may make control tokens, the others as dots."""
    return "".join(segment.text if segment.control else "." * len(segment.text) for segment in rendered.segments)


# The text.


def same_as_jinja(name: str, messages: list[Message], tools: bool, prompted: bool) -> TemplateText | None:
    """Renders, and holds the text against Jinja's; `None` where the template refuses the conversation."""
    source = chat_template(name)
    declared = TOOLS if tools else None
    variables = {
        "tools": None if declared is None else dict_tools(declared),
        "documents": None,
        "add_generation_prompt": prompted,
        **TOKENS,
    }
    try:
        rendered = ChatTemplate(source, TOKENS).render(messages, declared, add_generation_prompt=prompted, now=NOW)
    except InvalidChatTemplate:
        with pytest.raises((jinja2.TemplateError, TypeError)):
            compiled(source).render(messages=dict_messages(messages), **variables)
        return None
    expected = {
        compiled(source).render(messages=written, **variables)
        for as_text in (False, True)
        if (written := dict_messages(messages, arguments_as_text=as_text)) and _writes(source, written, variables)
    }
    assert rendered.text in expected
    return rendered


def _writes(source: str, messages: list[dict[str, object]], variables: dict[str, object]) -> bool:
    try:
        compiled(source).render(messages=messages, **variables)
    except (jinja2.TemplateError, TypeError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in chat_templates() if name.startswith("trl:")])
@settings(max_examples=max(6, settings().max_examples // 4))  # of each of so many templates
@given(messages=conversations(), tools=st.booleans(), prompted=st.booleans())
def test_a_models_template_writes_what_jinja_writes_and_each_character_has_its_owner(
    name: str, messages: list[Message], tools: bool, prompted: bool
) -> None:
    rendered = same_as_jinja(name, messages, tools, prompted)
    if rendered is not None:
        assert text_of(rendered.segments) == rendered.text
        assert rendered.exact
        assert_owned(rendered.segments, messages)


@pytest.mark.parametrize("name", ["trl:qwen3", "trl:gptoss", "trl:llama3_1", "trl:qwen3_5_think"])
@given(messages=conversations(), tools=st.booleans())
def test_the_commonest_templates_write_what_jinja_writes(name: str, messages: list[Message], tools: bool) -> None:
    rendered = same_as_jinja(name, messages, tools, prompted=True)
    assert rendered is None or (text_of(rendered.segments) == rendered.text and rendered.exact)


def assert_owned(segments: tuple[Segment, ...], messages: list[Message]) -> None:
    """What is said to be of a part of text is of its text; and nothing of a caller's may be a control token."""
    for segment in segments:
        assert segment.control == (segment.kind is Kind.MARKUP)
        if segment.kind is Kind.TEXT and segment.part >= 0:
            part = messages[segment.message].parts[segment.part]
            assert isinstance(part, TextPart)
            assert "".join(segment.text.split()) in "".join(part.text.split())


def test_options_special_tokens_and_documents_are_variables() -> None:
    template = ChatTemplate("{{ bos_token }}{{ documents[0].title }}{{ mode }}{{ none_such }}", TOKENS)
    assert template.render([], documents=[{"title": "A"}], mode="fast").text == "<s>Afast"


def test_json_is_not_escaped_for_html() -> None:
    assert ChatTemplate("{{ x | tojson }}").render([], x={"b": "<é>", "a": 1}).text == '{"b": "<é>", "a": 1}'


def test_the_date_is_the_one_that_was_passed() -> None:
    template = ChatTemplate("{{ strftime_now('%d %B %Y') }}")
    assert template.render([], now=datetime(2026, 11, 21)).text == "21 November 2026"
    with pytest.raises(InvalidChatTemplate, match="now="):
        template.render([])


def test_a_final_message_is_left_open_to_be_continued() -> None:
    rendered = ChatTemplate(PLAIN).render([user("Hi"), said("Well, ")], continue_final_message=True)
    assert rendered.text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nWell,"
    assert rendered.exact
    assert shown(rendered)[-1] == ("text", "Well,")


def test_arguments_are_text_for_a_template_that_joins_them() -> None:
    call = Message("assistant", (ToolCall("f", '{"a": 1}'),))
    joins = "{{ 'f' + messages[0].tool_calls[0].function.arguments }}"
    writes = "{{ messages[0].tool_calls[0].function.arguments }}"
    dumps = "{{ messages[0].tool_calls[0].function.arguments | tojson(separators=(',', ':')) }}"
    assert [ChatTemplate(each).render([call]).text for each in (joins, writes, dumps)] == [
        'f{"a": 1}',
        '{"a": 1}',
        '{"a":1}',
    ]


# Whose the characters are.


def test_parts_are_found_again() -> None:
    messages = [user(" 2+2? "), Message("assistant", (ThinkingPart("Four."), TextPart("4"), ToolCall("f", '{"n": 4}')))]
    rendered = ChatTemplate(PLAIN).render(messages)
    assert rendered.exact
    assert [(each.text, each.kind, each.message, each.part) for each in rendered.segments if not each.control] == [
        ("2+2?", "text", 0, 0),
        ("Four.", "thinking", 1, 0),
        ("4", "text", 1, 1),
        ('{"name": "f", "arguments": {"n": 4}}', "call", 1, 2),
    ]


@pytest.mark.parametrize("spelled", SPELLED)
def test_text_that_spells_markers_makes_no_control_token(spelled: str) -> None:
    rendered = ChatTemplate(PLAIN).render([user(spelled), said(spelled)])
    empty = ChatTemplate(PLAIN).render([user("x"), said("x")])
    assert controlled(rendered).replace(".", "") == controlled(empty).replace(".", "")


def test_pieces_that_a_template_joins_make_no_control_token() -> None:
    template = ChatTemplate("{{ messages[0].content + messages[1].content }}")
    rendered = template.render([user("<|im_"), user("end|>")])
    assert rendered.text == "<|im_end|>"
    assert controlled(rendered) == ".........."


@pytest.mark.parametrize(
    "expression",
    [
        "messages[0].content | trim | upper",
        "messages[0].content.split('</think>')[-1].lstrip('\n')",
        "messages[0].content.replace('b', '<c>')",
        "(messages[0].content.splitlines() | join('\n- '))",
        "messages[0].content | tojson(ensure_ascii=true)",
        "messages[0].content[::-1]",
        "messages[0].content.partition('\n')[2] ~ messages[0].content.rpartition(' ')[0]",
        "[messages[0].content, 'x'] | join(', ')",
        "'%s!' % messages[0].content",
        "'<{}>'.format(messages[0].content)",
        "{'a': messages[0].content} | tojson(indent=2)",
        "messages",
        "'<b>' | safe + messages[0].content",
        "messages[0].content.rsplit(' ', 1) | first",
        "messages[0].content.removeprefix('a').removesuffix('c').title()",
        "(messages[0].content | list)[1:] | join",
        "messages[0].content * 2",
    ],
)
def test_characters_keep_their_owner_through_what_templates_do(expression: str) -> None:
    rendered = ChatTemplate("{{ " + expression + " }}").render([user('a<x>\nb </think>"ä ß c')])
    assert rendered.exact
    assert "ä" not in controlled(rendered)
    assert "x>" not in controlled(rendered)


def test_a_guess_keeps_what_can_not_be_placed_from_making_control_tokens() -> None:
    template = ChatTemplate("{{ '<|im_end|>' }}{{ messages[0].content | urlencode }}{{ messages[0].content }}")
    rendered = template.render([user("a <|im_end|>")])
    assert not rendered.exact
    assert text_of(rendered.segments) == rendered.text
    assert controlled(rendered).endswith(".")


def test_values_of_an_option_and_of_a_tool_are_the_callers() -> None:
    rendered = ChatTemplate("<{{ mode }}>{{ tools[0] | tojson }}").render([], TOOLS[:1], mode="a")
    assert [segment.kind for segment in rendered.segments] == ["markup", "tools", "markup", "tools"]


def test_a_role_that_could_spell_a_marker_is_refused() -> None:
    with pytest.raises(InvalidConversation, match="a role of letters"):
        ChatTemplate(PLAIN).render([Message("user<|im_end|>", ())])


# What the model would write.


def test_a_turn_is_sampled_from_behind_the_prompt_to_its_stop() -> None:
    template = ChatTemplate(PLAIN, stops=("<|im_end|>",))
    messages = [user("a"), Message("assistant", (ThinkingPart("b"), ToolCall("f", "{}"))), user("c"), said("d")]
    turns = "".join(segment.text if segment.sampled else "\0" for segment in template.render(messages).segments)
    assert [turn for turn in turns.split("\0") if turn] == [
        '<think>b</think><tool_call>{"name": "f", "arguments": {}}</tool_call><|im_end|>',
        "d<|im_end|>",
    ]


def test_the_stop_is_learned_from_the_last_turn() -> None:
    messages = [user("a"), said("b"), user("c"), said("d")]
    known = ChatTemplate(PLAIN, stops=("<|im_end|>",)).render(messages)
    assert ChatTemplate(PLAIN).render(messages).segments == known.segments


def test_generation_blocks_say_what_is_sampled() -> None:
    rendered = ChatTemplate(MARKED).render([user("a"), said("b")])
    assert [segment.text for segment in rendered.segments if segment.sampled] == ["b", "</s>"]


# Templates that nobody should run.


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(10**12) %}{% endfor %}",
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append(1) }}",
        "{% set ns = namespace(__class__=1) %}",
        "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{% set ns = namespace(s='x') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
        "{% set ns = namespace(n=9) %}{% for i in range(60) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
        pytest.param(
            "{% set n = namespace(l=[1]) %}{% for i in range(60) %}{% set n.l = [n.l, n.l] %}{% endfor %}{{ n.l }}",
            marks=pytest.mark.slow,
        ),
        "{{ 'x' * 10**12 }}",
        "{{ 10**12 * 'x' }}",
        "{{ 9**(9**9) }}",
        "{{ 'x'.center(10**11) }}",
        "{{ '%99999999999d' % 1 }}",
        "{{ '{:{w}}'.format(1, w=10**11) }}",
        "{{ '%99999999999d' | format(1) }}",
        "{{ [1] | tojson(indent=10**11) }}",
        "{{ 'x\ny' | indent(10**11) }}",
        "{% set b = 'x' * 1000000 %}{{ b.replace('x', b) }}",
        "{% set b = 'x' * 1000000 %}{{ b | replace('x', b) }}",
        "{% set b = ['x' * 1000000] * 1000 %}{{ ''.join(b) }}",
        "{% set b = ['x' * 1000000] * 1000 %}{{ b | join }}",
        "{% set b = [[1]] * 1000 %}{{ b | sum(start=[]) }}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{% if %}",
        "{% autoescape true %}{% endautoescape %}",
        "{% include 'x' %}",
        "{{ lipsum() }}",
        "x" * (2 << 20),
    ],
)
def test_a_hostile_or_broken_template_ends_in_an_error(source: str) -> None:
    with pytest.raises(InvalidChatTemplate):
        ChatTemplate(source).render([user("hi")])


def test_a_template_that_refuses_says_why_and_where() -> None:
    with pytest.raises(InvalidChatTemplate, match=r"line 2: it refuses the conversation: no tools") as caught:
        ChatTemplate("\n{{ raise_exception('no tools') }}").render([])
    assert caught.value.line == 2
