r"""Mistral: the user between [INST] and [/INST], calls and answers between control tokens; as mistral-common has it.

    <s>[SYSTEM_PROMPT]You help.[/SYSTEM_PROMPT][AVAILABLE_TOOLS][{"type": "function", ...}][/AVAILABLE_TOOLS]\
    [INST]How is the weather?[/INST][THINK]I should look.[/THINK]\
    [TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}</s>[TOOL_RESULTS]{"degrees": 20}[/TOOL_RESULTS]

That is v13. The versions before it are:

- v1 has no control tokens but ``<s>`` and ``</s>``: ``[INST] How is the weather? [/INST]`` is text. No tools.
- v2 has tools, calls as a JSON array and answers as ``[{"name": ..., "content": ...}]``; what came of calls before the
  user's last message is left out.
- v3 has ids of calls, nine letters and digits, in calls and in answers: ``{"content": ..., "call_id": ...}``.
- v7 has turns of the system, text together with calls, and ``[TOOL_RESULTS]id[TOOL_CONTENT]...[/TOOL_RESULTS]``.
- v11 has calls as ``[TOOL_CALLS]name[CALL_ID]id[ARGS]{...}``, and answers in the order of the calls. Magistral 2506
  thinks there in plain text, between ``<think>`` tags on lines of their own.
- v13 has thoughts, and no ids any more.

Before v7, the system's text stands in the user's last message (v1: the first), with two newlines behind it. Tools stand
before the user's last message, from v13 on before the first. Where the tokenizer is SentencePiece, a space stands
before every piece of text (v1 to v3, `mistral_v7`); Tekken has none. Neighbouring messages of the user are one, with
two newlines between, and so are those of the assistant, which then count as rewritten.

Deviations: mistral-common knows no thoughts before v13, so text with tags in v11 is read as a thought; v13 takes calls
and answers without ids, since it does not write them, and so reads none; arguments that are no JSON object are refused,
where mistral-common quotes them; tools without any message of the user are refused, where it leaves them out; so are an
answer to no call, and a prompt whose last message is the system's own. Parts are written in their order, where it puts
calls last. Schemas of tools are not checked.
"""

from __future__ import annotations

from functools import partial

from ...dialect import Dialect
from ...errors import InvalidConversation
from ...segments import NOBODY, Kind
from ...types import JSON, Message, Part, TextPart, ThinkingPart, ToolCall
from ..family import Family
from ..mistral_rules import Form, Turn, json_value, object_of, require, turns_of
from ..page import Chat, Page
from ..plain import plain_dialect
from ..values import tojson

__all__ = ["FAMILIES"]

SOURCE = "mistral-common 1.13.1, tokens/tokenizers/instruct.py"
JOINT = "\n\n"


def prompt(form: Form, chat: Chat, index: int) -> str:
    """Nothing; raises `InvalidConversation` where it is not the assistant's turn."""
    before = chat.role(index - 1)
    if before not in ("user", "tool") and (before != "system" or form.version >= 7):
        raise InvalidConversation(index - 1, "a message of the user or of a tool last", f"one of {before}")
    return ""


def write(form: Form, chat: Chat, page: Page) -> None:
    """The whole conversation."""
    require(form, chat)
    turns = turns_of(form, chat)
    asked = [k for k, turn in enumerate(turns) if turn.role == "user"]
    page.mark("<s>")
    for k, turn in enumerate(turns):
        forgotten = form.version == 2 and bool(asked) and k < asked[-1]
        match turn.role:
            case "user":
                write_user(form, chat, page, turn, first=k == asked[0], last=k == asked[-1])
            case "assistant":
                parts = parts_of(form, chat, turn)
                if not (forgotten and any(isinstance(part, ToolCall) for _, _, part in parts)):
                    write_assistant(form, page, turn, parts)
            case "tool" if not forgotten:
                write_result(form, chat, page, turn)
            case "system":
                page.at(turn.messages[0])
                page.mark("[SYSTEM_PROMPT]")
                say(chat, page, turn.messages, form.lead)
                page.mark("[/SYSTEM_PROMPT]")
            case _:
                pass


def say(chat: Chat, page: Page, messages: tuple[int, ...], lead: str) -> bool:
    """The texts of messages behind the `lead`, with two newlines between; tells whether there are any."""
    said = False
    for k in messages:
        page.at(k)
        for number, part in enumerate(chat.messages[k].parts):
            if isinstance(part, TextPart) and part.text:
                page.mark(JOINT if said else lead)
                page.say(part.text, number, Kind.RESULT if chat.role(k) == "tool" else Kind.TEXT)
                said = True
    return said


def write_user(form: Form, chat: Chat, page: Page, turn: Turn, *, first: bool, last: bool) -> None:
    """A turn of the user, with the tools before it and the system's text in it where they belong there."""
    page.at(turn.messages[0] if turn.messages else NOBODY)
    if chat.tools and (first if form.version >= 13 else last):
        write_tools(form, chat, page)
    page.mark(" [INST] " if form.version == 1 else "[INST]", apart=True)
    lead = "" if form.version == 1 else form.lead
    if form.version < 7 and (first if form.version == 1 else last):
        system = tuple(k for k, message in enumerate(chat.messages) if message.role == "system")
        lead = JOINT if say(chat, page, system, lead) else lead
    if not say(chat, page, turn.messages, lead) and lead == JOINT:
        page.mark(JOINT)
    page.mark(" [/INST]" if form.version == 1 else "[/INST]")


def write_tools(form: Form, chat: Chat, page: Page) -> None:
    """The declarations."""
    page.mark(f"[AVAILABLE_TOOLS]{form.lead}[")
    for k, tool in enumerate([each.tool for each in chat.tools]):
        inner: JSON = {"name": tool.name, "description": tool.description, "parameters": tool.parameters or {}}
        page.mark(", " if k else "")
        page.say(tojson({"type": "function", "function": inner}), k, Kind.TOOLS)
    page.mark("][/AVAILABLE_TOOLS]")


def parts_of(form: Form, chat: Chat, turn: Turn) -> list[tuple[int, int, Part]]:
    """What the model says in a turn, with the message and the number of each part; raises `InvalidConversation`."""
    parts = [
        (k, number, part)
        for k in turn.messages
        for number, part in enumerate(chat.messages[k].parts)
        if not (isinstance(part, TextPart) and not part.text)
    ]
    kinds = [type(part) for _, _, part in parts]
    if not parts or (form.version < 7 and TextPart in kinds and ToolCall in kinds):
        raise InvalidConversation(turn.messages[-1], "either text or calls in a turn", "both" if parts else "neither")
    return parts


def write_assistant(form: Form, page: Page, turn: Turn, parts: list[tuple[int, int, Part]]) -> None:
    """A turn of the model, without the spaces at the end of its text."""
    kinds = [type(part) for _, _, part in parts]
    trims = form.version > 1 and ThinkingPart not in kinds
    page.begin(turn.messages[0], "", rewritten=len(turn.messages) > 1)
    for at, (k, number, part) in enumerate(parts):
        page.at(k)
        before, behind = kinds[at - 1] if at else None, kinds[at + 1] if at + 1 < len(kinds) else None
        match part:
            case TextPart(text=text):
                text = text.rstrip(" ") if trims and TextPart not in kinds[at + 1 :] else text
                page.mark(JOINT if before is TextPart else form.lead if text else "")
                page.say(text, number)
            case ThinkingPart(text=text):
                opener, closer = ("[THINK]", "[/THINK]") if form.version >= 13 else ("<think>\n", "\n</think>\n\n")
                if form.version >= 13 and not page.control.fullmatch(opener):
                    raise InvalidConversation(k, "no thoughts, since the tokenizer has no [THINK]", "one", number)
                page.mark(opener)
                page.say(text, number, Kind.THINKING)
                page.mark(closer)
            case ToolCall():
                write_call(form, page, part, (k, number), first=before is not ToolCall, last=behind is not ToolCall)
            case _:
                pass
    page.stop("</s>")


def write_call(form: Form, page: Page, call: ToolCall, where: tuple[int, int], *, first: bool, last: bool) -> None:
    """A call, the `first` or the `last` of a row."""
    part, arguments = where[1], object_of(call, *where)
    if form.version >= 11:
        page.mark("[TOOL_CALLS]")
        page.say(call.name, part, Kind.CALL)
        if form.version == 11 and call.id is not None:
            page.mark("[CALL_ID]")
            page.say(call.id, part, Kind.CALL)
        page.mark("[ARGS]")
        page.say(arguments, part, Kind.CALL)
        return
    page.mark(f"[TOOL_CALLS]{form.lead}[" if first else ", ")
    named = f', "id": {tojson(call.id)}' if form.version > 2 and call.id is not None else ""
    page.say(f'{{"name": {tojson(call.name)}, "arguments": {arguments}{named}}}', part, Kind.CALL)
    page.mark("]" if last else "")


def write_result(form: Form, chat: Chat, page: Page, turn: Turn) -> None:
    """What a tool answered."""
    message = chat.messages[turn.messages[0]]
    page.at(turn.messages[0])
    page.mark("[TOOL_RESULTS]")
    if form.version < 7:
        write_json_result(form, page, message)
    else:
        if form.version < 13:
            page.mark(form.lead)
            page.say(message.call_id or "", NOBODY, Kind.RESULT)
            page.mark("[TOOL_CONTENT]")
        say(chat, page, turn.messages, form.lead)
    page.mark("[/TOOL_RESULTS]")


def write_json_result(form: Form, page: Page, message: Message) -> None:
    """What a tool answered, as JSON that names the tool (v2) or the call."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart) and part.text]
    content = tojson(json_value(JOINT.join(texts)))
    if form.version == 2:
        page.mark(f'{form.lead}[{{"name": ')
        page.say(tojson(message.name), NOBODY, Kind.RESULT)
        page.mark(', "content": ')
        page.say(content, kind=Kind.RESULT)
        page.mark("}]")
    else:
        page.mark(f'{form.lead}{{"content": ')
        page.say(content, kind=Kind.RESULT)
        page.mark(', "call_id": ')
        page.say(tojson(message.call_id), NOBODY, Kind.RESULT)
        page.mark("}")


INST = ("<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]")
SYSTEM = (*INST, "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]")


def family(
    name: str,
    dialect: str,
    version: int,
    needs: tuple[str, ...],
    *models: str,
    lead: str = "",
    spoken: Dialect | None = None,
) -> Family:
    """The family of a version; `lead` is a space for SentencePiece."""
    form = Form(version, lead)
    return Family(
        name=name,
        doc=__doc__,
        dialect=dialect,
        spoken=spoken,
        write=partial(write, form),
        prompt=partial(prompt, form),
        ends=("</s>",),
        needs=needs,
        lead=lead,
        models=tuple(f"mistralai/{model}" for model in models),
        source=SOURCE,
    )


FAMILIES = (
    family(
        "mistral_v1",
        "mistral_v1",
        1,
        ("<s>", "</s>"),
        *("Mistral-7B-Instruct-v0.1", "Mistral-7B-Instruct-v0.2", "Mixtral-8x7B-Instruct-*"),
        lead=" ",
        spoken=plain_dialect("mistral_v1", ("</s>",), ("[/INST]",), SOURCE),
    ),
    family("mistral_v2", "mistral_pre_v11", 2, INST, lead=" "),
    family(
        "mistral_v3",
        "mistral_pre_v11",
        3,
        INST,
        *("Mistral-7B-Instruct-v0.3", "Mixtral-8x22B-Instruct-*", "Mistral-Large-Instruct-2407"),
        *("Mistral-Small-Instruct-2409", "Codestral-22B-*", "Mamba-Codestral-*"),
        lead=" ",
    ),
    family(
        "mistral_v3_tekken",
        "mistral_pre_v11",
        3,
        INST,
        *("Mistral-Nemo-Instruct-*", "Ministral-8B-Instruct-2410", "Pixtral-12B-*"),
    ),
    family(
        "mistral_v7",
        "mistral_pre_v11",
        7,
        (*SYSTEM, "[TOOL_CONTENT]"),
        *("Mistral-Large-Instruct-2411", "Pixtral-Large-Instruct-*"),
        lead=" ",
    ),
    family(
        "mistral_v7_tekken",
        "mistral_pre_v11",
        7,
        (*SYSTEM, "[TOOL_CONTENT]"),
        *("Mistral-Small-24B-Instruct-2501", "Mistral-Small-3.1-24B-Instruct-*", "Devstral-Small-2505"),
    ),
    family(
        "mistral_v11",
        "mistral_v11",
        11,
        (*SYSTEM, "[TOOL_CONTENT]", "[CALL_ID]", "[ARGS]"),
        *("Mistral-Small-3.2-24B-Instruct-*", "Magistral-*-2506"),
    ),
    family(
        "mistral_v13",
        "mistral",
        13,
        (*SYSTEM, "[ARGS]"),
        *("Magistral-*-2507", "Magistral-*-2509", "Devstral-Small-2507", "Devstral-2-*", "Devstral-Small-2-*"),
        *("Ministral-3-*", "Mistral-Large-3-*"),
    ),
)
