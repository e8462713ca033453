"""Hugging Face's ``response_template``, a declaration in a tokenizer's configuration, as a dialect.

`response_template` takes the declaration as a value, `declaration` checks it, `patterns` reads its regular
expressions, `regions` makes the grammar and `written` the writer. What transformers does with a declaration, and where
reading a stream by it must differ, is said in `docs/response-templates.md`.
"""

from __future__ import annotations

from ..dialect import Dialect
from .declaration import declared
from .patterns import literals
from .regions import grammar_of, stops_of
from .written import writer_of

__all__ = ["response_template"]

SOURCE = "a response_template; transformers, docs/source/en/chat_response_parsing.md"


def response_template(
    declaration: object,
    *,
    name: str = "hf_template",
    stops: tuple[str, ...] | None = None,
) -> Dialect:
    """The dialect of a declaration, as it stands in ``tokenizer_config.json`` under ``response_template``.

    `stops` are the tokens that end the model's output; if they are not given, those that close the field without an
    opener. Raises `InvalidTemplate`, with the place and a way out, for what is wrong and for what no stream can do.
    """
    whole = declared(declaration)
    stopping = stops_of(whole) if stops is None else stops
    fields = whole.fields
    dialect = Dialect(
        name=name,
        doc="Response template: as a tokenizer's configuration declares it.",
        grammar=grammar_of(whole, stopping),
        writer=writer_of(name, whole, stopping),
        kind="what a declaration says",
        models=(),
        marks=tuple(text for field in fields if field.open is not None for text in literals(field.open) or ()),
        stops=stopping,
        source=SOURCE,
        turns=literals(whole.anchor) or (),
        examples=(),
    )
    dialect.program().report.require_streamable()
    return dialect
