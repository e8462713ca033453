r"""MiniMax M3: calls as trees of elements, each tag behind a token of its own.

    <mm:think>Two cities.</mm:think>Let me look.]<]minimax[>[<tool_call>
    ]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Paris]<]minimax[>[</city>\
    ]<]minimax[>[<days>2]<]minimax[>[</days>]<]minimax[>[</invoke>
    ]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Oslo]<]minimax[>[</city>]<]minimax[>[</invoke>
    ]<]minimax[>[</tool_call>[e~[

Objects are nested elements, the items of a list are elements called ``item``; leaves are text, typed by the tool's
schema. What is null is not written. Prompts end in ``<mm:think>``, start="reasoning", in ``</mm:think>``, or in
neither: then a model that does not think begins with ``</mm:think>``.
"""

from __future__ import annotations

from ..idioms import Think, define, element_tree

DIALECT = define(
    __doc__,
    name="minimax_m3",
    think=Think(("<mm:think>",), ("</mm:think>",), "", "", "", skipped=True),
    calls=element_tree("]<]minimax[>["),
    stops=("[e~[",),
    prose=False,
    turns=("]~b]ai\n",),
    models=("MiniMaxAI/MiniMax-M3*",),
    aliases=("minimaxm3",),
    tokens=("]<]minimax[>[",),
    signatures=(("]<]minimax[>[", "<tool_call>"), ("<tool_call>", "</tool_call>", "arguments", "]<]minimax[>[")),
    templates=("c56d1f3ab70881b0",),
    source="chat template of MiniMax-M3; vLLM, vllm/parser/minimax_m3.py",
)
