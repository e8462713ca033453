"""What a chat's request asks of the model, in the terms of its layout and its dialect: options, and a constraint."""

from __future__ import annotations

from ..constrain import Constraint, constrain
from ..dialect import START
from ..errors import GrammarError, Inexpressible, InvalidRequest, InvalidTool
from ..events import Problem, ProblemKind
from ..parse.parser import Parser
from ..types import JSON, Tool
from .protocol.chat import ChatRequest
from .served import ServedModel
from .workers.order import Prompt

__all__ = ["constraint_of", "template_options"]


def template_options(request: ChatRequest, model: ServedModel) -> dict[str, JSON]:
    """The options of a model's layout that a request asks for."""
    options: dict[str, JSON] = {}
    effort = request.reasoning_effort
    if effort is not None:
        if model.accepts("reasoning_effort") and effort != "none":
            options["reasoning_effort"] = effort
        elif model.accepts("enable_thinking"):
            options["enable_thinking"] = effort != "none"
    return {**options, **(request.chat_template_kwargs or {})}


def constraint_of(
    request: ChatRequest, model: ServedModel, prompt: Prompt, tools: tuple[Tool, ...], *, eager: bool
) -> Constraint | None:
    """What the model may write, ``None`` for anything."""
    choice = request.choice
    answer = request.response_format.schema if request.response_format is not None else None
    if answer is None and (choice.mode == "none" or not tools):
        return None
    try:
        return constrain(
            model.dialect,
            tools,
            tool_choice=choice,
            parallel=request.parallel_tool_calls is not False,
            answer=answer,
            start=_start(model, prompt),
            control=model.tokenizer.control if model.tokenizer is not None else None,
        )
    except (InvalidRequest, InvalidTool, Inexpressible, GrammarError):
        if eager:
            raise
        return None  # tools that the model may call are no error where they can't be made a constraint of


def _start(model: ServedModel, prompt: Prompt) -> str:
    """The state in which a prompt leaves the model."""
    if not prompt.begun or "reasoning" not in model.dialect.starts:
        return START
    left = Parser(model.dialect, prefill=prompt.begun).finish()
    open_thought = any(isinstance(one, Problem) and one.kind is ProblemKind.UNCLOSED_REASONING for one in left)
    return "reasoning" if open_thought else START
