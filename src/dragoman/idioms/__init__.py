"""What dialects are put together from: each names its markers, and how its kind of format works stands here once."""

from .calls import Calls
from .define import SAMPLE, SAMPLE_TOOLS, define
from .json_calls import (
    arguments_json,
    bare_json,
    headed_json,
    json_array,
    json_calls,
    json_members,
    marked_json,
    tagged_json,
)
from .pair_calls import PairLayout, PairMarks, paired_values
from .suffixed import suffixed_values
from .turns import Answer, Think, conversation, mentioned, stops, thought, turn
from .writing import members_of, write
from .xml_calls import Tag, raw_text, tagged_values

__all__ = [
    "SAMPLE",
    "SAMPLE_TOOLS",
    "Answer",
    "Calls",
    "PairLayout",
    "PairMarks",
    "Tag",
    "Think",
    "arguments_json",
    "bare_json",
    "conversation",
    "define",
    "headed_json",
    "json_array",
    "json_calls",
    "json_members",
    "marked_json",
    "members_of",
    "mentioned",
    "paired_values",
    "raw_text",
    "stops",
    "suffixed_values",
    "tagged_json",
    "tagged_values",
    "thought",
    "turn",
    "write",
]
