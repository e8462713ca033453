"""All settings of the gateway, as one tree of frozen values: names, types, bounds, defaults, and what they are for.

Nothing else lists them: flags, variables of the environment, keys of the file and the reference page are derived from
here (`dragoman.gateway.leaves`), and read by `dragoman.gateway.sources`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from ..errors import InvalidConfig
from ..types import JSON
from .secret import Secret

__all__ = [
    "Breaker",
    "Health",
    "Keys",
    "Limits",
    "Log",
    "Metrics",
    "ModelEntry",
    "Retries",
    "Routing",
    "Server",
    "Settings",
    "WorkerEntry",
]

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86400)]
Word: TypeAlias = Annotated[str, Meta(min_length=1)]
URL: TypeAlias = Annotated[
    str, Meta(pattern=r"^https?://[^\s/@?#]+(/[^\s?#]*)?$", extra={"expected": "http://HOST:PORT"})
]


def _about(text: str) -> Meta:
    return Meta(description=text)


class Server(Struct, frozen=True, kw_only=True):
    """Where and how the gateway listens."""

    host: Annotated[Word, _about("the address to listen at; `0.0.0.0` is all of them")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535), _about("the port; 0 picks a free one")] = 8000
    processes: Annotated[int, Meta(ge=1, le=256), _about("processes that share the port")] = 1
    backlog: Annotated[Count, _about("connections that the system holds until they are accepted")] = 2048
    drain_seconds: Annotated[Seconds, _about("how long running requests may go on once it is told to stop")] = 30.0
    idle_seconds: Annotated[Seconds, _about("how long an idle connection of a client is kept open")] = 75.0
    gather_seconds: Annotated[
        float, Meta(ge=0, le=1), _about("tokens of a stream that come so soon after the last are written together")
    ] = 0.05
    keep_alive_comment_seconds: Annotated[Seconds, _about("silence in a stream after which a comment is sent")] = 15.0


class ModelEntry(Struct, frozen=True, kw_only=True):
    """A model that is served, under the name by which clients ask for it; what is not said is found out."""

    name: Annotated[Word, _about("what clients call it; workers too, unless they say otherwise")]
    dialect: Annotated[Word | None, _about("what it speaks: a dialect's name, or its file")] = None
    family: Annotated[Word | None, _about("which renderer writes its prompts")] = None
    tokenizer: Annotated[Word | None, _about("the tokenizer: a folder, a file or a name")] = None
    chat_template: Annotated[Word | None, _about("a file with its chat template")] = None
    aliases: Annotated[tuple[Word, ...], _about("further names of it")] = ()
    options: Annotated[Mapping[str, JSON], _about("`chat_template_kwargs` where a request has none of its own")] = {}
    reasoning_field: Annotated[
        Literal["reasoning_content", "reasoning"], _about("the field in which clients find thoughts")
    ] = "reasoning_content"

    @staticmethod
    def of_word(word: str) -> dict[str, str]:
        """The entry that a bare word stands for."""
        return {"name": word}


class WorkerEntry(Struct, frozen=True, kw_only=True):
    """A server that generates, a GGUF file to be run in this process, or the recordings that need no model."""

    url: Annotated[URL | None, _about("where it is")] = None
    gguf: Annotated[Word | None, _about("a model's file, run by llama.cpp in this process")] = None
    kind: Annotated[
        Word | None, _about("what it is: `sglang`, `vllm`, `vllm-generate`, `llama.cpp`, `openai` or `replay`")
    ] = None
    models: Annotated[tuple[Word, ...], _about("which of the models it serves; what it says itself if none")] = ()
    key: Annotated[Secret | None, _about("the key that it wants")] = None

    def __post_init__(self) -> None:
        if [self.url, self.gguf, "replay" if self.kind == "replay" else None].count(None) != 2:
            raise ValueError('one of url, gguf and kind = "replay"')

    @staticmethod
    def of_word(word: str) -> dict[str, str]:
        """The entry that a bare word stands for: a URL, a GGUF file, or ``replay``."""
        if word == "replay":
            return {"kind": word}
        return {"gguf": word} if word.lower().endswith(".gguf") else {"url": word}


class Routing(Struct, frozen=True, kw_only=True):
    """Which worker gets a request."""

    policy: Annotated[
        Literal["random", "round_robin", "power_of_two", "least_load", "consistent_hash", "prefix_aware"],
        _about("how a worker is chosen"),
    ] = "prefix_aware"
    share: Annotated[
        float, Meta(ge=0, le=1), _about("`prefix_aware`: the part of a prompt that a worker must have had before")
    ] = 0.5
    absolute: Annotated[int, Meta(ge=0), _about("`prefix_aware`: requests by which queues may differ")] = 8
    relative: Annotated[float, Meta(ge=1, le=1000), _about("`prefix_aware`: the factor by which they may")] = 1.5
    remembered: Annotated[Count, _about("`prefix_aware`: tokens of a model's prompts that are kept in mind")] = (
        4 * 2**20
    )
    bound: Annotated[
        float,
        Meta(ge=1, le=1000),
        _about("`consistent_hash`: how many times the mean load a session's worker has"),
    ] = 1.25


class Limits(Struct, frozen=True, kw_only=True):
    """What is let in, and how long it is waited for."""

    concurrent: Annotated[Count, _about("requests that run at once, in each process")] = 1024
    queue: Annotated[int, Meta(ge=0), _about("requests that wait for their turn, in each process")] = 1024
    queue_seconds: Annotated[Seconds, _about("how long they wait")] = 60.0
    body_bytes: Annotated[Count, _about("the largest body of a request")] = 32 * 1024 * 1024
    prompt_tokens: Annotated[Count | None, _about("the longest prompt; what the worker takes if not said")] = None
    stall_seconds: Annotated[Seconds, _about("how long a worker may be silent before it has failed")] = 300.0
    connect_seconds: Annotated[Seconds, _about("how long it may take to reach a worker")] = 10.0


class Retries(Struct, frozen=True, kw_only=True):
    """What is tried again, always before the first byte of an answer."""

    attempts: Annotated[int, Meta(ge=1, le=100), _about("attempts in all; 1 is none again")] = 3
    pause_seconds: Annotated[Seconds, _about("the pause before the second attempt")] = 0.05
    factor: Annotated[float, Meta(ge=1, le=100), _about("by what each further pause is longer")] = 1.5
    longest_seconds: Annotated[Seconds, _about("the longest pause")] = 30.0
    jitter: Annotated[float, Meta(ge=0, le=1), _about("the part of a pause that is left to chance")] = 0.2


class Breaker(Struct, frozen=True, kw_only=True):
    """When a worker that fails gets no more requests for a while."""

    faults: Annotated[Count, _about("faults that open it")] = 10
    window_seconds: Annotated[Seconds, _about("the time in which they count")] = 120.0
    share: Annotated[float, Meta(ge=0, le=1), _about("and the part that they must be of all requests since")] = 0.2
    pause_seconds: Annotated[Seconds, _about("how long it stays open before requests are tried")] = 60.0
    trials: Annotated[Count, _about("requests that are tried at a time")] = 1
    successes: Annotated[Count, _about("successes that close it again")] = 3


class Health(Struct, frozen=True, kw_only=True):
    """How workers are asked whether they are well."""

    every_seconds: Annotated[Seconds, _about("the time between two questions")] = 10.0
    timeout_seconds: Annotated[Seconds, _about("how long an answer may take")] = 5.0
    fails: Annotated[Count, _about("missing answers in a row that make it unwell")] = 3
    passes: Annotated[Count, _about("answers in a row that make it well again")] = 2


class Keys(Struct, frozen=True, kw_only=True):
    """Who may ask; without a key everybody may."""

    api: Annotated[tuple[Secret, ...], _about("keys of clients")] = ()
    admin: Annotated[tuple[Secret, ...], _about("keys for what changes the gateway itself")] = ()


class Log(Struct, frozen=True, kw_only=True):
    """What is written to the standard error."""

    level: Annotated[Literal["debug", "info", "warning", "error"], _about("the least that is written")] = "info"
    format: Annotated[Literal["text", "json"], _about("for eyes, or a JSON object a line")] = "text"


class Metrics(Struct, frozen=True, kw_only=True):
    """What Prometheus finds at `/metrics`."""

    enabled: Annotated[bool, _about("whether there is `/metrics`")] = True


class Settings(Struct, frozen=True, kw_only=True):
    """Everything that can be set."""

    server: Annotated[Server, Meta(extra={"flag": ""})] = Server()
    models: Annotated[
        tuple[ModelEntry, ...], Meta(extra={"flag": "model"}), _about("models that are served: names, or tables")
    ] = ()
    workers: Annotated[
        tuple[WorkerEntry, ...], Meta(extra={"flag": "worker"}), _about("who generates: URLs, GGUF files, or tables")
    ] = ()
    routing: Routing = Routing()
    limits: Limits = Limits()
    retries: Retries = Retries()
    breaker: Breaker = Breaker()
    health: Health = Health()
    keys: Keys = Keys()
    log: Log = Log()
    metrics: Metrics = Metrics()

    def __post_init__(self) -> None:
        if self.server.processes > 1 and any(worker.gguf for worker in self.workers):
            raise InvalidConfig(
                "server.processes", "1 with a GGUF file, which each would load", str(self.server.processes)
            )
        seen: set[str] = set()
        for model in self.models:
            for name in (model.name, *model.aliases):
                if name in seen:
                    raise InvalidConfig("models", "models with names of their own", f"{name!r} twice")
                seen.add(name)
