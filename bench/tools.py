"""Fifty tools as an agent has them: files, mail, calendars, tickets, shops; small schemas and large, some nested."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from dragoman.types import JSON, Tool

__all__ = ["tools"]

THINGS = ("file", "message", "event", "ticket", "order", "customer", "invoice", "repository", "page", "sensor")
VERBS = ("search", "get", "create", "update", "delete")

STRING: JSON = {"type": "string"}
DATE: JSON = {"type": "string", "format": "date"}
LABELS: JSON = {"type": "array", "items": STRING, "maxItems": 10}
PERSON: JSON = {
    "type": "object",
    "properties": {
        "name": STRING,
        "email": {"type": "string", "format": "email"},
        "phone": {"type": ["string", "null"]},
    },
    "required": ["name"],
    "additionalProperties": False,
}
LINES: JSON = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {
            "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
            "count": {"type": "integer", "minimum": 1},
            "price": {"type": "number"},
        },
        "required": ["sku", "count"],
        "additionalProperties": False,
    },
}
BODY: Mapping[str, JSON] = {
    "title": STRING,
    "body": STRING,
    "owner": PERSON,
    "lines": LINES,
    "labels": LABELS,
    "priority": {"enum": ["low", "normal", "high", "urgent"]},
    "due": DATE,
    "draft": {"type": "boolean"},
}


def _parameters(verb: str, thing: str) -> dict[str, JSON]:
    key = f"{thing}_id"
    properties: dict[str, JSON]
    match verb:
        case "search":
            properties = {"query": STRING, "limit": {"type": "integer", "minimum": 1, "maximum": 100}}
            properties |= {"sort": {"enum": ["newest", "oldest", "relevance"]}, "since": DATE, "until": DATE}
            required = ["query"]
        case "get" | "delete":
            properties, required = {key: STRING}, [key]
            if verb == "delete":
                properties["force"] = {"type": "boolean"}
        case "create":
            properties, required = dict(BODY), ["title", "body"]
        case _:
            properties, required = {key: STRING, **BODY}, [key]
    names: list[JSON] = list(required)
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


@cache
def tools(count: int = 50) -> tuple[Tool, ...]:
    """The first so many of the fifty."""
    pairs = ((verb, thing) for thing in THINGS for verb in VERBS)
    found = (Tool(f"{verb}_{thing}", f"{verb.title()} a {thing}.", _parameters(verb, thing)) for verb, thing in pairs)
    return tuple(found)[:count]
