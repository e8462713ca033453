"""The fields of servers' requests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dragoman.constrain.constraint import constrain
from dragoman.constrain.emission import Emission, emit
from dragoman.constrain.requests import llama_cpp, sglang_chat, sglang_generate, vllm
from dragoman.errors import InvalidRequest
from dragoman.registry import get_dialect
from dragoman.types import JSON

from .wanted import WEATHER

Fields = Callable[[Emission], dict[str, JSON]]
SERVERS = pytest.mark.parametrize("server", [vllm, sglang_generate, sglang_chat])


def emission(engine: str, *, lazy: bool = False, control: dict[str, int] | None = None) -> Emission:
    choice = "auto" if lazy else "required"
    constraint = constrain(get_dialect("hermes"), [WEATHER], tool_choice=choice)
    return emit(constraint, engine, lazy=lazy, control=control)


def test_llama_cpp_takes_an_eager_grammar_and_the_markers() -> None:
    given = emission("gbnf")
    assert llama_cpp(given) == {"grammar": given.text, "preserved_tokens": list(given.markers)}


def test_llama_cpp_takes_a_lazy_grammar_with_patterns() -> None:
    fields = llama_cpp(emission("gbnf", lazy=True))
    assert fields["grammar_lazy"] is True
    pattern = r'(<tool_call>[ \t\r\n]{0,16}\{"name":[ \t\r\n]{0,16}")'
    assert fields["grammar_triggers"] == [{"type": 2, "value": pattern}]


def test_llama_cpp_is_told_triggers_that_are_tokens_by_their_ids() -> None:
    constraint = constrain(get_dialect("mistral"), [WEATHER])
    fields = llama_cpp(emit(constraint, "gbnf", lazy=True, control={"[TOOL_CALLS]": 9}))
    assert fields["grammar_triggers"] == [{"type": 0, "value": "[TOOL_CALLS]", "token": 9}]


def test_llama_cpp_takes_schemas() -> None:
    given = emission("json_schema")
    assert llama_cpp(given) == {"json_schema": given.value}


def test_vllm_has_a_member_for_each_notation() -> None:
    tag, schema = emission("structural_tag"), emission("json_schema")
    assert vllm(tag) == {"structured_outputs": {"structural_tag": tag.text}}
    assert vllm(schema) == {"structured_outputs": {"json": schema.value}}
    for engine in ("xgrammar", "lark"):
        assert vllm(emission(engine)) == {"structured_outputs": {"grammar": emission(engine).text}}


def test_sglang_takes_text_in_its_own_requests() -> None:
    tag, schema, grammar = emission("structural_tag"), emission("json_schema"), emission("xgrammar")
    assert sglang_generate(tag) == {"structural_tag": tag.text}
    assert sglang_generate(schema) == {"json_schema": schema.text}
    assert sglang_generate(grammar) == {"ebnf": grammar.text}


def test_sglang_takes_formats_in_chats() -> None:
    tag, schema, grammar = emission("structural_tag"), emission("json_schema"), emission("xgrammar")
    assert sglang_chat(tag) == {"response_format": tag.value}
    named = {"name": "output", "schema": schema.value}
    assert sglang_chat(schema) == {"response_format": {"type": "json_schema", "json_schema": named}}
    assert sglang_chat(grammar) == {"ebnf": grammar.text}


@SERVERS
def test_a_notation_of_another_engine_is_a_mistake(server: Fields) -> None:
    with pytest.raises(InvalidRequest, match=r"engine should be one of xgrammar, .* found 'gbnf'"):
        server(emission("gbnf"))
    with pytest.raises(InvalidRequest, match=r"engine should be gbnf or json_schema for llama\.cpp, found 'xgrammar'"):
        llama_cpp(emission("xgrammar"))


@SERVERS
def test_triggers_are_a_mistake_where_nothing_takes_them(server: Fields) -> None:
    with pytest.raises(InvalidRequest, match="lazy should be false"):
        server(emission("xgrammar", lazy=True))
