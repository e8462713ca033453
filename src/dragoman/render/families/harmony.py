r"""Harmony, of gpt-oss: messages between <|start|> and <|end|>, each with its author, recipient and channel.

    <|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.
    Knowledge cutoff: 2024-06

    Reasoning: medium

    # Valid channels: analysis, commentary, final. Channel must be included for every message.
    Calls to these tools must go to the commentary channel: 'functions'.<|end|>
    <|start|>developer<|message|># Instructions

    You help.

    # Tools

    ## functions

    namespace functions {

    // The weather of a city.
    type get_weather = (_: {
    // Where
    city: string,
    }) => any;

    } // namespace functions<|end|>
    <|start|>user<|message|>How is the weather?<|end|>
    <|start|>assistant<|channel|>analysis<|message|>I should look.<|end|>
    <|start|>assistant to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Ulm"}<|call|>
    <|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>20 degrees<|end|>
    <|start|>assistant<|channel|>final<|message|>It is warm.<|return|>

(without a newline between messages). It follows openai-harmony, token by token: each piece of a header and each text is
encoded by itself. System messages are the developer's; the first of them, if it begins the conversation, has the tools
with it. Calls of built-in tools, and their answers, are on ``analysis``. A message without parts is an empty answer.
A call ends the model's turn, so that a message with several calls is several turns.

Deviations: the last turn keeps its thoughts where it is not asked to go on, as the chat template has it: the library
would drop what is to be learnt (with ``keep_analysis``, neither drops any). What is before that turn is as it was in
its prompt. Answers of built-in tools are on ``analysis``, as in OpenAI's own implementation of them, so that they go
where their calls go. A turn in history ends in <|end|> where the model had sampled <|return|>: it counts as rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from ...segments import Kind
from ..family import Family
from ..harmony_messages import (
    CALL,
    CHANNEL,
    CONSTRAIN,
    END,
    MESSAGE,
    PROMPT,
    RETURN,
    START,
    Entry,
    entries,
    kept,
    write_entry,
    write_header,
)
from ..harmony_system import Harmony, system_text
from ..harmony_tools import Function, Namespace, section
from ..page import Chat, Page

__all__ = ["FAMILIES"]


def prompt(chat: Chat, index: int) -> str:
    """The beginning of a header; the model writes the rest of it."""
    return PROMPT


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    options = chat.options
    assert isinstance(options, Harmony)
    if options.with_system:
        page.mark(f"{START}system{MESSAGE}")
        page.say(system_text(options, calls=bool(chat.tools)))
        page.mark(END)
    functions = Namespace("functions", "", tuple(functions_of(chat)))
    if functions.functions and chat.role(0) not in ("system", "developer"):
        page.mark(f"{START}developer{MESSAGE}")
        page.say(section([functions]), kind=Kind.TOOLS)
        page.mark(END)
    said = entries(chat.messages, frozenset(each.name for each in functions.functions))
    written = said if options.keep_analysis else remembered(chat, said)
    there = {id(entry) for entry in written}
    lost = {entry.message for entry in said if id(entry) not in there}
    for (index, role), group in groupby(written, key=lambda entry: (entry.message, entry.role)):
        page.at(index)
        if role == "assistant":
            *before, last = turns(group)
            ends = index == len(chat.messages) - 1 and not chat.asked
            for turn in before:
                write_turn(page, turn, ends=False, rewritten=index in lost)
            write_turn(page, last, ends=ends, rewritten=index in lost)
            continue
        for entry in group:
            if role == "developer":
                write_instructions(page, entry, functions if index == 0 else Namespace("functions"))
            else:
                write_entry(page, entry)
            page.mark(END)


def functions_of(chat: Chat) -> Iterator[Function]:
    """The functions that are declared."""
    for declaration in chat.tools:
        tool = declaration.tool
        yield Function(tool.name, tool.description, tool.parameters)


def remembered(chat: Chat, written: list[Entry]) -> list[Entry]:
    """The messages without the thoughts that are dropped; the turn that is to be learnt has all of its own."""
    last = len(chat.messages) - 1
    if chat.asked or chat.role(last) != "assistant":
        return kept(written)
    own = sum(entry.message == last for entry in written)
    return [*kept(written[:-own]), *written[-own:]]


def write_instructions(page: Page, entry: Entry, functions: Namespace) -> None:
    """What the developer says, and the functions that there are."""
    write_header(page, entry)
    page.mark("# Instructions\n\n")
    for said in entry.content:
        page.say(said.text, said.part)
    if functions.functions:
        page.mark("\n\n")
        page.say(section([functions]), kind=Kind.TOOLS)


def turns(written: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The turns of a message: what the model writes until it has called a tool."""
    turn: list[Entry] = []
    for entry in written:
        turn.append(entry)
        if entry.calls:
            yield turn
            turn = []
    if turn:
        yield turn


def write_turn(page: Page, turn: Sequence[Entry], *, ends: bool, rewritten: bool) -> None:
    """A turn of the model; one that `ends` all is over with its answer."""
    last = turn[-1]
    answered = last.channel == "final" and not last.calls
    page.begin(last.message, PROMPT, rewritten=rewritten or last.name is not None or (answered and not ends))
    for entry in turn[:-1]:
        write_entry(page, entry)
        page.mark(END)
    write_entry(page, last)
    page.stop(CALL if last.calls else RETURN if answered and ends else END)


GPT_OSS = Family(
    name="gpt_oss",
    doc=__doc__,
    dialect="harmony",
    write=write,
    prompt=prompt,
    options=Harmony,
    ends=(RETURN, CALL),
    calling=(CALL,),
    needs=(START, CHANNEL, MESSAGE, CONSTRAIN, END, RETURN, CALL),
    models=("openai/gpt-oss-*",),
    aliases=("harmony",),
    source="openai-harmony 0.0.8",
)

FAMILIES = (GPT_OSS,)
