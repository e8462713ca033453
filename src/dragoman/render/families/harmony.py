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
    <|start|>assistant to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Oslo"}<|call|>
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
from typing import Literal

from ...segments import Kind
from ..family import Family
from ..harmony_messages import Entry, entries, kept
from ..harmony_tools import BUILTIN, Function, Namespace, section
from ..page import Chat, Options, Page

__all__ = ["FAMILIES"]

START, CHANNEL, MESSAGE, CONSTRAIN = "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"
END, RETURN, CALL = "<|end|>", "<|return|>", "<|call|>"
PROMPT = f"{START}assistant"


class Harmony(Options, frozen=True):
    """What the system message says, as `SystemContent` of openai-harmony names it; ``None`` leaves a line out.

    Without `with_system` there is none. With `keep_analysis`, no thoughts are dropped from history. The date is written
    as it is given, and no date if none is.
    """

    reasoning_effort: Literal["low", "medium", "high"] | None = "medium"
    model_identity: str | None = "You are ChatGPT, a large language model trained by OpenAI."
    knowledge_cutoff: str | None = "2024-06"
    conversation_start_date: str | None = None
    builtin_tools: tuple[Literal["browser", "python"], ...] = ()
    valid_channels: tuple[str, ...] = ("analysis", "commentary", "final")
    channel_required: bool = True
    keep_analysis: bool = False
    with_system: bool = True


def prompt(chat: Chat, index: int) -> str:
    """The beginning of a header; the model writes the rest of it."""
    return PROMPT


def write(chat: Chat, page: Page) -> None:
    """The whole conversation."""
    options = chat.options
    assert isinstance(options, Harmony)
    if options.with_system:
        write_system(chat, options, page)
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


def write_system(chat: Chat, options: Harmony, page: Page) -> None:
    """Who the model is, and how it is to answer."""
    first = [
        *([options.model_identity] if options.model_identity is not None else []),
        *([f"Knowledge cutoff: {options.knowledge_cutoff}"] if options.knowledge_cutoff is not None else []),
        *([f"Current date: {options.conversation_start_date}"] if options.conversation_start_date is not None else []),
    ]
    sections = ["\n".join(first)] if first else []
    if options.reasoning_effort is not None:
        sections.append(f"Reasoning: {options.reasoning_effort}")
    if options.builtin_tools:
        sections.append(section(BUILTIN[name] for name in set(options.builtin_tools)))
    if options.valid_channels:
        channels = f"# Valid channels: {', '.join(options.valid_channels)}."
        channels += " Channel must be included for every message." if options.channel_required else ""
        told = "\nCalls to these tools must go to the commentary channel: 'functions'." if chat.tools else ""
        sections.append(channels + told)
    page.mark(f"{START}system{MESSAGE}")
    page.say("\n\n".join(sections))
    page.mark(END)


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


def write_entry(page: Page, entry: Entry) -> None:
    """A message without its end; the pieces of its header, and its texts, are encoded each by itself."""
    write_header(page, entry)
    for said in entry.content:
        page.say(said.text, said.part, said.kind, apart=True)


def write_header(page: Page, entry: Entry) -> None:
    """Who says it to whom, on which channel, and in what form."""
    page.mark(START)
    if entry.role == "tool":
        page.mark(entry.name or "")
    else:
        page.mark(entry.role)
        page.mark(f":{entry.name}" if entry.name else "", apart=True)
    if entry.calls:
        page.mark(" to=", apart=True)
        page.say(entry.recipient, entry.content[0].part, Kind.CALL)
    elif entry.recipient:
        page.mark(f" to={entry.recipient}", apart=True)
    if entry.channel:
        page.mark(f"{CHANNEL}{entry.channel}")
    if entry.content_type:
        page.mark(" ", apart=True)
        page.mark(entry.content_type)
    page.mark(MESSAGE)


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
