"""Answers of chats: what a stream's chunks make together, and whether each is what the `openai` package expects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk

__all__ = ["assembled", "checked", "same", "said", "whole"]


def checked(value: Any) -> Any:
    """The object itself, once the package's own types have taken it, strictly."""
    kinds = {
        "chat.completion": ChatCompletion,
        "chat.completion.chunk": ChatCompletionChunk,
        "text_completion": Completion,
    }
    kind = kinds[value["object"]]
    if kind is Completion and any(choice["finish_reason"] is None for choice in value["choices"]):
        return value  # the package has no type for the chunks of a completion
    kind.model_validate(value, strict=True)
    return value


def assembled(chunks: Iterable[Any]) -> dict[int, dict[str, Any]]:
    """The choices that the chunks of a stream make: content, thoughts, calls and the reason of the end."""
    choices: dict[int, dict[str, Any]] = {}
    for chunk in chunks:
        assert "error" not in chunk, chunk
        for choice in checked(chunk)["choices"]:
            made = choices.setdefault(
                choice["index"], {"content": "", "reasoning": "", "calls": [], "finish": None, "tokens": []}
            )
            assert made["finish"] is None, "nothing comes behind the end of a choice"
            delta = choice["delta"]
            made["content"] += delta.get("content") or ""
            made["reasoning"] += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls") or ():
                if call["index"] == len(made["calls"]):
                    made["calls"].append({"id": call["id"], "name": call["function"]["name"], "arguments": ""})
                made["calls"][call["index"]]["arguments"] += call["function"]["arguments"]
            if choice.get("logprobs"):
                made["tokens"] += choice["logprobs"]["content"]
            made["finish"] = choice["finish_reason"]
            if "problems" in choice:
                made["problems"] = choice["problems"]
    return choices


def whole(body: Any) -> dict[int, dict[str, Any]]:
    """The same of an answer that is not streamed."""
    choices = {}
    for choice in checked(body)["choices"]:
        message = choice["message"]
        made = {
            "content": message["content"] or "",
            "reasoning": message.get("reasoning_content", ""),
            "calls": [
                {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
                for call in message.get("tool_calls", ())
            ],
            "finish": choice["finish_reason"],
            "tokens": choice["logprobs"]["content"] if choice["logprobs"] else [],
        }
        if "problems" in choice:
            made["problems"] = choice["problems"]
        choices[choice["index"]] = made
    return choices


def same(choices: dict[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Choices without what differs from one answer to the next: the ids of calls that the model gave none."""
    return {
        index: {
            **made,
            "calls": [
                {**call, "id": "" if call["id"].startswith("call_") else call["id"]} for call in made["calls"]
            ],
        }
        for index, made in choices.items()
    }


def said(choices: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """The only choice."""
    assert list(choices) == [0]
    return choices[0]
