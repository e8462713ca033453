"""llama.cpp's stream, as its server really sends it, and as it may come."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from http.client import HTTPConnection

import msgspec
import pytest
from hypothesis import given

from dragoman.constrain import constrain
from dragoman.errors import WorkerFailed
from dragoman.gateway.workers.llama_cpp import LlamaCpp
from dragoman.gateway.workers.order import Order, Output, Piece, Prompt, Sampling, Usage
from dragoman.gateway.workers.worker import Capabilities
from dragoman.parse.parser import parse
from dragoman.registry import get_dialect
from dragoman.types import Tool
from tests.emit.llama_cpp import END, START
from tests.emit.llama_cpp import LlamaCpp as Server
from tests.streams import cut, cuts

MARKS = ("<think>", "</think>", "<|im_end|>")
HERE = Capabilities(kind="llama.cpp")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with closing(Server(tmp_path_factory.mktemp("llama"), MARKS)) as server:
        yield server


def control(server: Server) -> dict[str, int]:
    return {mark: server.ids[mark.encode()] for mark in MARKS} | {"</s>": END}


def order(server: Server, *, seed: int = 0, tokens: int = 60, liked: str = "", **fields: object) -> Order:
    """Anything at all, markers and bytes that are no characters among it."""
    likely = {number: 25.0 for text, number in control(server).items() if text in liked}
    sampling = Sampling(max_tokens=tokens, temperature=5.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed, logit_bias=likely)
    given: dict[str, object] = {
        "id": "one",
        "model": "tiny",
        "prompt": Prompt(ids=(START, 200, 210)),
        "sampling": sampling,
        "control": control(server),
    }
    return Order(**(given | fields))


def answered(server: Server, order: Order, *, stream: bool = True) -> bytes:
    """The body of the server's answer; without a stream, it is JSON with all ids."""
    dispatch = LlamaCpp().build(order, HERE)
    body = json.loads(dispatch.body) | {"stream": stream, "cache_prompt": False}
    connection = HTTPConnection(server.address)
    with closing(connection):
        connection.request(dispatch.method, dispatch.path, json.dumps(body), dict(dispatch.headers))
        return connection.getresponse().read()


def read(order: Order, body: bytes, places: Sequence[int] = ()) -> list[Piece]:
    reader = LlamaCpp().reader(order, HERE)
    pieces = [piece for chunk in cut(body, places) for piece in reader.feed(chunk)]
    return pieces + reader.finish()


def written(server: Server, pieces: Sequence[Piece]) -> str:
    """What a reader of ids makes of it: their bytes where there are ids, the text where there are none."""
    spelled: list[bytes] = []
    for piece in pieces:
        assert isinstance(piece, Output)
        content = [server.tokens[token].content or server.tokens[token].spelling.encode() for token in piece.ids]
        spelled += content or [piece.text.encode()]
    return b"".join(spelled).decode(errors="replace")


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Output))


def last(pieces: Sequence[Piece]) -> Output:
    assert isinstance(pieces[-1], Output)
    return pieces[-1]


@pytest.mark.parametrize("seed", range(12))
def test_ids_and_text_together_are_what_is_answered_without_a_stream(server: Server, seed: int) -> None:
    wanted = order(server, seed=seed, liked="<think></think>", stop_texts=("<|im_end|>", "</s>"))
    whole = json.loads(answered(server, wanted, stream=False))
    pieces = read(wanted, answered(server, wanted))
    said = whole["content"]
    assert written(server, pieces).rstrip("\ufffd") == said.rstrip("\ufffd")
    assert text_of(pieces).rstrip("\ufffd") == said.rstrip("\ufffd")
    assert last(pieces).finish == ("stop" if whole["stop_type"] == "eos" else "length")
    assert last(pieces).usage.completion == len(whole["tokens"])


@pytest.mark.parametrize("seed", range(12))
def test_no_control_token_comes_as_text(server: Server, seed: int) -> None:
    wanted = order(server, seed=seed, liked="<think></think>", stop_texts=("<|im_end|>", "</s>"))
    whole = json.loads(answered(server, wanted, stream=False))
    pieces = read(wanted, answered(server, wanted))
    known = set(control(server).values())
    came = [token for piece in pieces if isinstance(piece, Output) for token in piece.ids if token in known]
    assert came == [token for token in whole["tokens"] if token in known]
    assert came


def test_a_prompt_of_text_is_answered_with_text(server: Server) -> None:
    wanted = order(server, prompt=Prompt(text="<think>ab"), liked="</think>")
    whole = json.loads(answered(server, wanted, stream=False))
    pieces = read(wanted, answered(server, wanted))
    assert whole["prompt"] == "<think>ab"
    assert text_of(pieces).rstrip("\ufffd") == whole["content"].rstrip("\ufffd")
    assert not any(piece.ids for piece in pieces if isinstance(piece, Output))


def test_the_token_that_ends_the_turn_is_told_with_its_marker(server: Server) -> None:
    wanted = order(server, liked="<|im_end|>", stop_texts=("<|im_end|>",), tokens=200)
    pieces = read(wanted, answered(server, wanted))
    assert last(pieces).finish == "stop"
    assert last(pieces).matched == control(server)["<|im_end|>"]
    assert text_of(pieces).endswith("<|im_end|>")
    assert text_of(pieces).count("<|im_end|>") == 1


def test_an_end_that_the_dialect_does_not_have_is_no_output(server: Server) -> None:
    wanted = order(server, liked="</s>", tokens=200)
    pieces = read(wanted, answered(server, wanted))
    assert (last(pieces).finish, last(pieces).matched) == ("stop", END)
    assert "</s>" not in text_of(pieces)


def test_a_stop_of_several_tokens_is_met_by_the_server(server: Server) -> None:
    bias = {server.ids[b"a"]: 40.0, server.ids[b"b"]: 40.0}
    sampling = Sampling(max_tokens=300, temperature=5.0, seed=1, logit_bias=bias, top_k=0, min_p=0.0, top_p=1.0)
    wanted = order(server, stop_texts=("abba",), sampling=sampling)
    pieces = read(wanted, answered(server, wanted))
    assert (last(pieces).finish, last(pieces).matched) == ("stop", "abba")
    assert "abba" not in text_of(pieces)


def test_log_probabilities_come_with_their_tokens(server: Server) -> None:
    sampling = Sampling(max_tokens=5, temperature=0.0, seed=0, logprobs=2)
    pieces = read(order(server, sampling=sampling), answered(server, order(server, sampling=sampling)))
    outputs = [piece for piece in pieces if isinstance(piece, Output)]
    logprobs = [logprob for output in outputs for logprob in output.logprobs]
    assert [logprob.token for logprob in logprobs] == [token for output in outputs for token in output.ids]
    assert all(len(logprob.top) == 2 and logprob.top[0].logprob >= logprob.top[1].logprob for logprob in logprobs)


def test_a_refusal_in_the_middle_is_the_workers_failure(server: Server) -> None:
    """A lazy grammar whose trigger comes with what it refuses; llama.cpp says so in the stream."""
    piece = "ab"
    sampling = Sampling(max_tokens=50, seed=0, logit_bias={server.ids[piece.encode()]: 1000.0}, extra=LAZY)
    wanted = order(server, sampling=sampling)
    with pytest.raises(WorkerFailed, match=r"empty grammar stack .* \(HTTP 500\)"):
        read(wanted, answered(server, wanted))


LAZY = {"grammar": 'root ::= "a" "c"', "grammar_lazy": True, "grammar_triggers": [{"type": 2, "value": "(a)"}]}


def test_what_a_constraint_asks_for_is_written(server: Server) -> None:
    dialect, tool = get_dialect("hermes"), Tool("ping", "", {"type": "object", "properties": {}})
    constraint = constrain(dialect, [tool], tool_choice="required", parallel=False, lead_in="none")
    wanted = order(server, constraint=constraint, tokens=400, liked="</s>")
    message = parse(text_of(read(wanted, answered(server, wanted))), dialect, [tool])
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("ping", "{}")]


# As it may come

THINK, OVER = 7, 8


def event(content: str, ids: Sequence[int], count: int, **fields: object) -> bytes:
    value = {"content": content, "tokens": ids, "stop": False, "tokens_predicted": count, "tokens_evaluated": 3}
    return b"data: " + msgspec.json.encode(value | fields) + b"\n\n"


def end(count: int, why: str = "eos", **fields: object) -> bytes:
    return event("", [], count, stop=True, stop_type=why, timings={"cache_n": 2}, **fields)


def bare(*, ids: bool = True, **fields: object) -> Order:
    given: dict[str, object] = {"control": {"<think>": THINK, "<end>": OVER}, "prompt": Prompt(ids=(1,), text="a")}
    if not ids:
        given["prompt"] = Prompt(text="a")
    return Order(**({"id": "one", "model": "tiny"} | given | fields))


def shown(pieces: Sequence[Piece]) -> list[tuple[list[int], str]]:
    return [(list(piece.ids), piece.text) for piece in pieces if isinstance(piece, Output)]


def test_a_character_of_several_tokens_is_text() -> None:
    body = event("a", [50], 1) + event("é", [61], 3) + event("b", [51], 4) + end(5)
    assert shown(read(bare(), body)) == [([50], "a"), ([], "é"), ([51], "b"), ([], "")]


def test_a_control_token_behind_half_a_character_keeps_its_id() -> None:
    body = event("\ufffd<think>", [THINK], 3) + end(3, "limit")
    assert shown(read(bare(), body)) == [([], "\ufffd"), ([THINK], "<think>"), ([], "")]


def test_a_character_that_the_limit_cuts_off_leaves_a_trace() -> None:
    pieces = read(bare(), event("a", [50], 1) + end(3, "limit"))
    assert shown(pieces) == [([50], "a"), ([], "\ufffd"), ([], "")]
    assert last(pieces) == Output(finish="length", usage=Usage(3, 3, 2))


def test_one_read_is_one_output() -> None:
    reader = LlamaCpp().reader(bare(), HERE)
    assert reader.feed(event("a", [50], 1) + event("b", [51], 2)) == [Output([50, 51], "ab", usage=Usage(3, 2))]


def test_a_model_that_does_not_stop_is_not_listened_to() -> None:
    body = event("a", [50], 1) + event("<end>", [OVER], 2) + event("and on", [52], 3) + event("on", [52], 4)
    pieces = read(bare(stop_ids=(OVER,)), body)
    assert shown(pieces) == [([50, OVER], "a<end>"), ([], "")]
    assert (last(pieces).finish, last(pieces).matched) == ("stop", OVER)


def test_a_stream_may_end_behind_the_token_that_ends_the_turn() -> None:
    pieces = read(bare(stop_ids=(OVER,), ids=False), event("<end>", [OVER], 1))
    assert shown(pieces) == [([], "<end>"), ([], "")]
    assert last(pieces).finish == "stop"


def test_a_control_token_in_the_middle_is_held_for_one_event() -> None:
    reader = LlamaCpp().reader(bare(ids=False), HERE)
    assert shown(reader.feed(event("<think>", [THINK], 1))) == []
    assert shown(reader.feed(event("a", [50], 2))) == [([], "<think>a")]


def test_an_unknown_end_is_an_abort() -> None:
    assert last(read(bare(), end(0, "none"))).finish == "abort"


@given(cuts())
def test_how_it_is_cut_makes_no_difference(places: list[int]) -> None:
    body = event("a", [50], 1) + event("é<think>", [THINK], 3) + event("ü", [51], 4) + event("b", [52], 5) + end(5)
    whole, pieces = read(bare(), body), read(bare(), body, places)
    assert text_of(pieces) == text_of(whole)
    assert ids_of(pieces) == ids_of(whole) == [THINK, 51, 52]
    assert last(pieces) == last(whole)


def ids_of(pieces: Sequence[Piece]) -> list[int]:
    return [token for piece in pieces if isinstance(piece, Output) for token in piece.ids if token != 50]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "ended before the answer did"),
        (event("a", [50], 1), "ended before the answer did"),
        (b'data: {"error": {"code": 500, "message": "no memory"}}\n\n', r"no memory \(HTTP 500\)"),
        (b'data: {"error": {}}\n\n', "an error"),
        (b"data: nonsense\n\n", "not of its protocol"),
        (b"data: \xff\n\n", "not of its protocol"),
        (b'data: {"content": 3}\n\n', "not of its protocol"),
        (b'data: {"content": "\xff"}\n\n', "not of its protocol"),
        (b'data: {"x": ' + b"[" * 100_000 + b"\n\n", "not of its protocol"),
        (b"data: " + b"a" * (1 << 24) + b"\n\n", "at most 16777216 bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_broken_is_the_workers_failure(body: bytes, problem: str) -> None:
    with pytest.raises(WorkerFailed, match=problem):
        read(bare(), body)


def test_what_follows_the_end_is_not_read() -> None:
    assert last(read(bare(), end(0) + b"data: nonsense\n\n")).finish == "stop"


def test_an_end_without_its_empty_line_is_one() -> None:
    assert last(read(bare(), end(0).rstrip())).finish == "stop"


def test_what_comes_before_a_failure_is_given_first() -> None:
    reader = LlamaCpp().reader(bare(), HERE)
    assert shown(reader.feed(event("a", [50], 1) + b'data: {"error": {"message": "gone"}}\n\n')) == [([50], "a")]
    with pytest.raises(WorkerFailed, match="gone"):
        reader.feed(b"")
    with pytest.raises(WorkerFailed, match="gone"):
        reader.finish()
