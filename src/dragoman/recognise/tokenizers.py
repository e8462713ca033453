"""By a tokenizer's files: its chat template if there is one that tells, else its added tokens, else its folder's name.

Read are ``chat_template.jinja``, ``chat_template.json``, ``tokenizer_config.json``, ``special_tokens_map.json``,
``added_tokens.json`` and ``tokenizer.json``, the last only if nothing before it tells. The model itself is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import AmbiguousDialect, InvalidTokenizer
from ..registry import dialects
from .answer import Answer, Certainty, settled
from .models import model_answers
from .templates import template_answers

__all__ = ["FILE_LIMIT", "Tokenizer", "by_tokenizer", "by_tokens", "read_tokenizer"]

TRIED = ("chat template", "added tokens", "folder's name")

FILE_LIMIT = 64 << 20
"""Bytes of a file that is read; the vocabularies of the largest tokenizers have half of it."""

TOOLS = ("tool_use", "default")
"""Which of several named templates is asked first."""

SMALL = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "chat_template.json")
LARGE = "tokenizer.json"


class Tokenizer(Struct, frozen=True):
    """What the files of a tokenizer say about the text that its model writes."""

    templates: tuple[str, ...] = ()
    tokens: frozenset[str] = frozenset()


def by_tokenizer(path: str | Path) -> Answer:
    """The dialect of the model that a tokenizer belongs to, by its folder or one of its files.

    Raises `InvalidTokenizer` for a file that can't be read, `AmbiguousDialect` and `Unrecognised`.
    """
    path = Path(path)
    small = read_tokenizer(path)
    for template in small.templates:
        answers = template_answers(template)
        if answers:
            return settled(str(path), answers, TRIED)
    large = path / LARGE
    tokens = small.tokens | (_read_file(large).tokens if large.is_file() else frozenset())
    named = model_answers(str(path.resolve() if path.is_dir() else path.resolve().parent))
    return _combined(str(path), token_answers(tokens), named)


def by_tokens(tokens: Iterable[str]) -> Answer:
    """The dialect whose markers are among the added tokens of a tokenizer; weak: they say little of the layout."""
    return settled("these tokens", token_answers(frozenset(tokens)), ("added tokens",))


def token_answers(tokens: frozenset[str]) -> tuple[Answer, ...]:
    """The dialects all of whose tokens are there, without those of which another has more."""
    found = [
        (dialect, frozenset(dialect.tokens))
        for dialect in dialects()
        if dialect.tokens and tokens.issuperset(dialect.tokens)
    ]
    best = [(dialect, own) for dialect, own in found if not any(own < more for _, more in found)]
    return tuple(
        Answer(dialect, "the tokenizer has the tokens " + " ".join(dialect.tokens), Certainty.WEAK)
        for dialect, _ in best
    )


def read_tokenizer(path: Path) -> Tokenizer:
    """What a folder or one file says, without ``tokenizer.json`` of a folder; raises `InvalidTokenizer`."""
    if path.is_file():
        return _read_file(path)
    if not path.is_dir():
        raise InvalidTokenizer(str(path), "a tokenizer's folder or file", "nothing")
    jinja = sorted(path.glob("chat_template*.jinja")) + sorted(path.glob("additional_chat_templates/*.jinja"))
    read = [_read_file(file) for file in (*jinja, *(path / name for name in SMALL)) if file.is_file()]
    templates = tuple(template for each in read for template in each.templates)
    return Tokenizer(templates, frozenset(token for each in read for token in each.tokens))


def _combined(what: str, by_tokens: tuple[Answer, ...], named: tuple[Answer, ...]) -> Answer:
    """The answer of tokens and name together: where the one leaves a choice, the other may make it."""
    names = {answer.dialect.name: answer for answer in named}
    both = [answer for answer in by_tokens if answer.dialect.name in names]
    if len(both) == 1:
        (answer,) = both
        evidence = f"{answer.evidence}, and {names[answer.dialect.name].evidence}"
        return Answer(answer.dialect, evidence, Certainty.WEAK)
    if by_tokens and named and not both:
        raise AmbiguousDialect(what, tuple((answer.dialect.name, answer.evidence) for answer in (*by_tokens, *named)))
    return settled(what, both or by_tokens or named, TRIED)


def _read_file(path: Path) -> Tokenizer:
    try:
        size = path.stat().st_size
        if size > FILE_LIMIT:
            raise InvalidTokenizer(str(path), f"a file of at most {FILE_LIMIT} bytes", f"{size}")
        content = path.read_bytes()
    except OSError as error:
        raise InvalidTokenizer(str(path), "a file that can be read", error.strerror or "none") from error
    if path.suffix != ".json":
        return Tokenizer((content.decode("utf-8", "replace"),))
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidTokenizer(str(path), "JSON", str(error)) from error
    if not isinstance(value, Mapping):
        raise InvalidTokenizer(str(path), "a JSON object", type(value).__name__)
    tokens = value if path.name == "added_tokens.json" else _tokens(value)
    return Tokenizer(tuple(_templates(value.get("chat_template"))), frozenset(tokens))


def _templates(value: object) -> Iterator[str]:
    """A chat template, or those of a list of named ones (or an object of them), that for tools first."""
    if isinstance(value, str):
        yield value
        return
    if isinstance(value, list):
        value = {str(each.get("name")): each.get("template") for each in value if isinstance(each, Mapping)}
    if isinstance(value, Mapping):
        for name in sorted(value, key=lambda name: (TOOLS.index(name) if name in TOOLS else len(TOOLS), name)):
            if isinstance(value[name], str):
                yield value[name]


def _tokens(value: Mapping[str, object]) -> Iterator[str]:
    """The added tokens in an object of any of the files."""
    for key in ("added_tokens", "added_tokens_decoder", "additional_special_tokens", "extra_special_tokens"):
        inside = value.get(key)
        for token in inside.values() if isinstance(inside, Mapping) else inside if isinstance(inside, list) else ():
            yield from _token(token)
    for key, token in value.items():
        if key.endswith("_token"):
            yield from _token(token)


def _token(value: object) -> Iterator[str]:
    text = value.get("content") if isinstance(value, Mapping) else value
    if isinstance(text, str):
        yield text
