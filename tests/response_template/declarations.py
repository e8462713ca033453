"""Declarations in the format of transformers, written for these tests: of the shapes that model families have."""

from __future__ import annotations

from typing import Any

NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}

HERMES: dict[str, Any] = {
    "version": 1,
    "start_anchor": "<|im_start|>assistant\n",
    "defaults": {"role": "assistant"},
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": ["<|im_end|>", "<|endoftext|>"]},
    },
}

QWEN: dict[str, Any] = {
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "reasoning_content": {"open": "<think>", "close_pattern": r"\s*</think>"},
        "tool_calls": {
            "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {
                "tag_pattern": r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>",
                "value_parser": {"name": "json", "args": {"allow_non_json": True}},
            },
            "transform": NAMED,
        },
        "content": {"close_pattern": r"(?:<\|im_end\|>|$)"},
    },
}

GEMMA: dict[str, Any] = {
    "start_anchor": "<|turn>model\n",
    "fields": {
        "thinking": {"open": "<|channel>thought\n", "close": "<channel|>"},
        "tool_calls": {
            "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
            "close": "<tool_call|>",
            "repeats": True,
            "content": "json",
            "content_args": {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
            "transform": NAMED,
        },
        "content": {"close": "<turn|>"},
    },
}

COHERE: dict[str, Any] = {
    "start_anchor": ["<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"],
    "fields": {
        "thinking": {"open": "<|START_THINKING|>", "close": "<|END_THINKING|>"},
        "content": {"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>"},
        "tool_calls": {
            "open": "<|START_ACTION|>",
            "close": "<|END_ACTION|>",
            "content": "json",
            "transform_each": True,
            "transform": {
                "type": "function",
                "id": "{tool_call_id}",
                "function": {"name": "{tool_name}", "arguments": "{parameters}"},
            },
        },
    },
}

GPT: dict[str, Any] = {
    "start_anchor": "<|start|>assistant",
    "fields": {
        "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
        "content": {"open": "<|channel|>final<|message|>", "close": ["<|return|>", "<|end|>"]},
        "tool_calls": {
            "open_pattern": r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>",
            "close": "<|call|>",
            "repeats": True,
            "content": "json",
            "content_args": {"allow_non_json": True},
            "transform": NAMED,
        },
    },
}

TAGS: dict[str, Any] = {
    "start_anchor_pattern": r"<\|start\|>assistant",
    "fields": {
        "reasoning": {"open_pattern": r"to=self<\|message\|>", "close": "<|eom|>"},
        "content": {"open_pattern": r"to=user<\|message\|>", "close": ["<|eot|>", "<|eom|>"]},
        "tool_calls": {
            "open_pattern": r'(?:<calls>)?<invoke\b[^>]*?\bname="(?P<name>[^"]+)">',
            "close": "</invoke>",
            "repeats": True,
            "content": "xml-inline",
            "content_args": {
                "tag_pattern": r'<parameter name="(?P<key>[^"]+)">(?P<value>.*?)</parameter>',
                "value_parser": {"name": "int"},
            },
            "transform": NAMED,
        },
        "mood": {"open": "<mood>", "close": "</mood>", "content": "text", "content_args": {"strip": False}},
    },
}

UNCLOSED: dict[str, Any] = {
    "start_anchor": "[/INST]",
    "fields": {
        "content": {"close": "</s>"},
        "tool_calls": {
            "open": "[TOOL_CALLS]",
            "content": "json",
            "transform": {
                "type": "function",
                "function": {"name": "{content.name}", "arguments": "{content.arguments}"},
            },
        },
    },
}

ALL = {
    "hermes": HERMES,
    "qwen": QWEN,
    "gemma": GEMMA,
    "cohere": COHERE,
    "gpt": GPT,
    "tags": TAGS,
    "unclosed": UNCLOSED,
}
