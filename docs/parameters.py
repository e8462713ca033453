"""The page of the parameters of chats: what becomes of each, found by sending each through the stages to every wire.

Nothing here knows what a wire writes. A chat is prepared and built with a field and without, and the two requests are
compared; of the recordings, which have no wire, the outputs are. What is written by hand is what a field means.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from random import Random

import msgspec
from msgspec import Struct

from dragoman import get_dialect
from dragoman.errors import Refused
from dragoman.gateway.fleet import Fleet, policy_named
from dragoman.gateway.pipeline import Acquire, Build, Prepare, Select, Spoken
from dragoman.gateway.protocol.chat import HARMLESS, KNOWN, LEGACY, read_chat
from dragoman.gateway.protocol.completions import CompletionFields, GenerateFields
from dragoman.gateway.protocol.sampling import PASSED_ON, SAMPLING
from dragoman.gateway.record import Record
from dragoman.gateway.served import ServedModel
from dragoman.gateway.workers.order import Order, Output
from dragoman.gateway.workers.register import KINDS
from dragoman.gateway.workers.replay import ReplayWorker
from dragoman.gateway.workers.worker import Capabilities
from dragoman.render import get_family
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import JSON

from .markdown import code, filled, listed, rows

TITLES = {
    "sglang": "SGLang",
    "vllm": "vLLM",
    "vllm-generate": "vLLM, tokens",
    "llama.cpp": "llama.cpp",
    "openai": "chat",
}
REPLAY = "replay"

Body = Mapping[str, JSON]

HELLO: Body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
TOOL: JSON = {
    "type": "function",
    "function": {
        "name": "forecast",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
TOOLS: Body = {"tools": [TOOL]}
ASKED: Body = {**TOOLS, "tool_choice": "required"}
GOES_ON: Body = {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]}
ANSWERED: JSON = [
    {"role": "user", "content": "Hello"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Sunny"},
]


class Field(Struct, frozen=True):
    """What is tried of a field, and what is said beside it; `ours` are those that the gateway itself heeds."""

    value: JSON
    about: str = ""
    beside: Body = {}
    ours: bool = True


SECTIONS: Mapping[str, Mapping[str, Field]] = {
    "What is asked": {
        "model": Field("n", "finds the model, its dialect and its workers; may be left out where there is one only"),
        "messages": Field(ANSWERED, "laid out as the model was trained; a marker that somebody's text spells is text"),
        "tools": Field([TOOL], "laid out in the prompt; calls are read by the dialect, arguments by the tool's schema"),
        "tool_choice": Field("required", "`required` and a name are constraints, `none` hides the tools", TOOLS),
        "parallel_tool_calls": Field(False, "calls behind the first are not given out", ASKED),
        "response_format": Field({"type": "json_object"}, "a constraint; `json_schema` too"),
        "reasoning_effort": Field("none", "the layout's own option, or thoughts on and off (`none`)"),
        "chat_template_kwargs": Field({"enable_thinking": False}, "options of the layout"),
        "continue_final_message": Field(True, "the last message, the assistant's, is not ended", GOES_ON),
        "include_reasoning": Field(False, "`false` leaves thoughts out"),
    },
    "How much of it": {
        "n": Field(2, "each choice is a request of its own; seeds differ by one", {"seed": 7}),
        "max_completion_tokens": Field(9, "goes before `max_tokens`", ours=False),
        "max_tokens": Field(9, "the room that is left if not said", ours=False),
        "min_tokens": Field(3, "0 to `max_tokens`", ours=False),
        "min_new_tokens": Field(3, "SGLang's name of `min_tokens`, which goes before it", ours=False),
        "stop": Field(["x"], "the gateway's own: visible text ends before the first, up to 16"),
        "include_stop_str_in_output": Field(True, "text ends behind the stop", {"stop": ["x"]}),
        "stop_token_ids": Field([65], "output ends before the first"),
        "ignore_eos": Field(True, "the model's own ends are not told to the worker", ours=False),
    },
    "How tokens are chosen": {
        "temperature": Field(0.5, "0 to 2", ours=False),
        "top_p": Field(0.5, "0 to 1", ours=False),
        "top_k": Field(5, "-1 or 0 for all", ours=False),
        "min_p": Field(0.1, "0 to 1", ours=False),
        "presence_penalty": Field(0.5, "-2 to 2", ours=False),
        "frequency_penalty": Field(0.5, "-2 to 2", ours=False),
        "repetition_penalty": Field(1.5, "0 to 2", ours=False),
        "logit_bias": Field({"65": 1}, "keys are token ids, values -100 to 100", ours=False),
        "seed": Field(9, "a whole number", ASKED, ours=False),
        "sampling_seed": Field(9, "SGLang's name of `seed`, which goes before it", ASKED, ours=False),
    },
    "How it is told": {
        "stream": Field(True, "the same answer in chunks; workers stream in any case"),
        "stream_options": Field({"include_usage": True}, "`include_usage` alone has an effect", {"stream": True}),
        "logprobs": Field(True, "of the tokens of visible text", ours=False),
        "top_logprobs": Field(2, "up to 20", {"logprobs": True}, ours=False),
    },
    "Whose it is": {
        "session_id": Field("s", "the conversation: keeps it at its worker under `consistent_hash`"),
        "prompt_cache_key": Field("s", "the same, after `session_id`"),
        "safety_identifier": Field("s", "the same, after these"),
        "user": Field("s", "the same, after these"),
    },
}

OTHERS = (
    *("audio", "web_search_options"),
    *("allowed_token_ids", "bad_words", "chat_template", "documents", "length_penalty", "prompt_logprobs"),
    *("bootstrap_host", "bootstrap_room", "data_parallel_rank", "kv_transfer_params", "return_hidden_states"),
    *("stop_regex", "thinking_token_budget", "use_beam_search"),
)
"""Fields of OpenAI's, vLLM's and SGLang's that have no meaning here; any other name goes the same way."""

PROMPT = frozenset({"prompt", "input_ids", "token_ids", "text"})
CONSTRAINT = frozenset({"structural_tag", "structured_outputs"}) | {
    *("grammar", "grammar_lazy", "grammar_triggers", "json_schema", "preserved_tokens")
}
"""Fields of workers' requests in which there are prompts, and constraints."""

INTRODUCTION = (
    "What becomes of each field of `POST /v1/chat/completions`, by the kind of the worker that gets it. The tables are "
    "made by sending each field through the gateway's stages to every kind and comparing the requests with and "
    "without it."
)

LEGEND = (
    ("yes", "sent under the same name"),
    ("`name`", "sent under this name"),
    ("prompt", "it is in the prompt that is sent"),
    ("constraint", "it is in the grammar by which the worker constrains the output"),
    ("here", "the worker is told nothing, and the gateway sees to it itself"),
    ("requests", "the worker gets several requests"),
    ("refused", "answered 400"),
    ("no", "it has no effect"),
)

CHAT = (
    "*chat* are workers that take chats. They get the request as it was sent but for `n`, always as a stream with its "
    "usage: *yes* means that it is told, not that the server heeds it. A GGUF file goes the way of *llama.cpp*. "
    "*replay* are the recordings: *yes* means that they say something else."
)


def page() -> str:
    """The whole page."""
    probes = _probes()
    headings = ("field", "what it does", *(probe.title for probe in probes))
    whole = [
        "<!-- Written by `make docs` from src/dragoman/gateway/protocol and workers: change those. -->",
        "# Parameters",
        filled(INTRODUCTION),
        rows(("it says", "which is"), LEGEND),
        filled(CHAT),
    ]
    for title, fields in SECTIONS.items():
        lines = ((code(name), field.about, *_cells(name, field, probes)) for name, field in fields.items())
        whole += [f"## {title}", rows(headings, lines)]
    whole += [
        "## Passed on",
        filled(
            "These are the worker's business: every kind is sent them as they are, and only it knows whether it heeds "
            "them."
        ),
        filled(listed(sorted(PASSED_ON))) + ".",
        "## Without a meaning",
        filled("These change nothing in an answer here, and nobody is told of them:"),
        filled(listed(sorted(HARMLESS))) + ".",
        filled(
            "Every other name is listed in the answer's header `x-dragoman-ignored`, and has an effect only where a "
            f"worker that takes chats knows it: {listed(sorted(OTHERS))}, for example."
        ),
        filled(f"Of an older API, and refused with the name of what took their place: {listed(sorted(LEGACY))}."),
        "## Other endpoints",
        filled(
            f"`POST /v1/completions` reads {listed(CompletionFields.__struct_fields__)}, and what chooses tokens as "
            "above; it gives 16 tokens if no number is said. `suffix`, `best_of` other than `n`, and `echo` with "
            "`logprobs` are refused."
        ),
        filled(
            f"`POST /generate` reads {listed(GenerateFields.__struct_fields__)}. In `sampling_params` it reads "
            "`max_new_tokens`, `min_new_tokens`, `n`, `stop`, `stop_token_ids`, `no_stop_trim`, `skip_special_tokens` "
            "and what chooses tokens as above."
        ),
    ]
    return "\n\n".join(whole) + "\n"


def named() -> frozenset[str]:
    """The fields that the tables have."""
    return frozenset(name for fields in SECTIONS.values() for name in fields) | PASSED_ON


def read() -> frozenset[str]:
    """The fields that the gateway reads."""
    return KNOWN | SAMPLING


def ignored(name: str) -> bool:
    """Whether the answer says that this field meant nothing."""
    return name in read_chat(msgspec.json.encode({**HELLO, name: "x"})).ignored


def passed_on(name: str) -> bool:
    """Whether every kind of server gets this field under its own name."""
    cells = list(_cells(name, Field("x", ours=False), _probes()))
    return set(cells[:-1]) == {"yes"}


def _cells(name: str, field: Field, probes: Sequence[_Probe]) -> Iterator[str]:
    base: Body = {**HELLO, **field.beside}
    for probe in probes:
        yield _cell(name, probe, base, {**base, name: field.value}) or ("here" if field.ours else "no")


def _cell(name: str, probe: _Probe, base: Body, tried: Body) -> str:
    """What became of the field; nothing if nothing did."""
    try:
        was, orders = probe.asked(base), probe.orders(tried)
    except Refused:
        return "refused"
    if len(orders) > 1:
        return "requests"
    now = probe.seen(orders[0])
    changed = [key for key in dict.fromkeys((*now, *was)) if now.get(key) != was.get(key)]
    return ", ".join(dict.fromkeys(_word(key, name) for key in changed))


def _word(key: str, name: str) -> str:
    if key in (name, REPLAY):
        return "yes"
    if key in PROMPT:
        return "prompt"
    return "constraint" if key in CONSTRAINT else code(key)


class _Idle:
    """A worker that is never asked."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.name, self.capabilities = capabilities.kind, capabilities


class _Probe:
    """One kind of worker, and what it is sent."""

    def __init__(self, title: str, kind: str) -> None:
        self.title, self._kind = title, kind
        if kind == REPLAY:
            self._can = ReplayWorker().capabilities
        else:
            self._can = Capabilities(kind=kind, speech=KINDS[kind].speech, models=("hermes",))
        self._model = _model()
        fleet = Fleet(policy_named("round_robin", Random(0)), now=lambda: 0.0)
        fleet.add(_Idle(self._can), dict.fromkeys(("m", "n"), "hermes"))  # type: ignore[arg-type]
        self._prepare, self._select = Prepare(), Select(fleet)

    def asked(self, body: Body) -> Mapping[str, JSON]:
        """The request that the worker gets."""
        return self.seen(self.orders(body)[0])

    def orders(self, body: Body) -> tuple[Order, ...]:
        """What it is given to do."""
        spoken = Spoken(read_chat(msgspec.json.encode(body)), self._model, Record("r", "chat", 0.0))
        acquired = Acquire()(self._select(asyncio.run(self._prepare(spoken, 0))))
        orders = Build()(acquired, ()).orders
        if self._kind != REPLAY:
            self.seen(orders[0])  # may refuse
        return orders

    def seen(self, order: Order) -> Mapping[str, JSON]:
        """An order as the worker sees it, without layers; the recordings show what they say."""
        if self._kind == REPLAY:
            return {REPLAY: asyncio.run(_said(order))}
        body = msgspec.json.decode(KINDS[self._kind].wire().build(order, self._can).body)
        return body.pop("sampling_params", {}) | body


async def _said(order: Order) -> str:
    async def at_once(seconds: float) -> None:
        pass

    said = [piece async for pieces in ReplayWorker(sleep=at_once).generate(order) for piece in pieces]
    return "".join(piece.text for piece in said if isinstance(piece, Output))


def _model() -> ServedModel:
    dialect, family = get_dialect("hermes"), get_family("qwen3")
    known = (*family.needs, *family.ends, *dialect.marks, *dialect.turns, *dialect.others)
    return ServedModel("m", dialect, family=family, tokenizer=ByteTokenizer(known), aliases=("n",))


def _probes() -> list[_Probe]:
    return [*(_Probe(TITLES[kind], kind) for kind in KINDS), _Probe(REPLAY, REPLAY)]
