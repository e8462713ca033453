"""Every dialect through the whole of HTTP: streamed and whole are the same, however the worker cuts its output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Dialect, dialects, parse_events
from dragoman.dialect import Example
from dragoman.gateway.config import ModelEntry
from dragoman.stream.chat_chunks import ChatBody
from dragoman.stream.chat_deltas import ChatDeltas

from .answers import assembled, said, same, whole
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .running import in_front_of
from .stack import Stack, running

TEMPLATE = (
    "{% for message in messages %}[{{ message.role }}] {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
"""A layout for models of any dialect: what a model is asked is not what is tested here."""


def fitting(dialect: Dialect) -> list[Example]:
    """The examples that begin where a turn does."""
    return [example for example in dialect.examples if example.start == "content"]


DIALECTS = [dialect for dialect in dialects() if fitting(dialect)]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    path: Path = tmp_path_factory.mktemp("layout") / "chat_template.jinja"
    path.write_text(TEMPLATE)
    models = tuple(
        ModelEntry(name=dialect.name, dialect=dialect.name, chat_template=str(path)) for dialect in DIALECTS
    )
    with running(SglangDouble(), lambda url: in_front_of(url, models=models)) as stack:
        yield stack


def expected(dialect: Dialect, example: Example) -> dict[int, dict[str, Any]]:
    """The answer that the output makes when it is read in one piece, without a gateway."""
    deltas = ChatDeltas(lambda: "call_")
    body = ChatBody()
    body.write(deltas.feed(parse_events(example.text, dialect, example.tools, reason=example.reason or "stop")))
    body.write(deltas.finish())
    choice = body.finish(deltas.finish_reason(example.reason or "stop"), deltas.problems)
    answer = {"id": "", "created": 0, "model": "", "object": "chat.completion", "choices": [choice]}
    return same(whole(msgspec.to_builtins(answer)))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(data=st.data())
def test_streamed_and_whole_are_the_same_however_the_output_is_cut(
    stack: Stack, dialect: Dialect, data: st.DataObject
) -> None:
    example = data.draw(st.sampled_from(fitting(dialect)))
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(example.text) - 1)), max_size=12)))
    texts = tuple(
        example.text[start:end] for start, end in zip([0, *cuts], [*cuts, len(example.text)], strict=True)
    )
    stack.worker.script = Script(
        ids=tuple(range(len(texts))),
        texts=texts,
        burst=data.draw(st.integers(1, 4)),
        cut=data.draw(st.sampled_from([None, None, 7, 50])),
        finish=example.reason or "stop",
        incremental=data.draw(st.booleans()),
    )
    tools = [{"type": "function", "function": msgspec.to_builtins(tool)} for tool in example.tools]
    body = {"model": dialect.name, "messages": [{"role": "user", "content": "?"}], "tools": tools}
    wanted = expected(dialect, example)
    streamed = stack.run(stack.door.stream("/v1/chat/completions", body))
    assert said(same(assembled(streamed))) == said(wanted)
    status, value, _ = stack.run(stack.door.post("/v1/chat/completions", body))
    assert status == 200, value
    assert said(same(whole(value))) == said(wanted)
