"""What dialects are put together from: each names its markers, and how its kind of format works stands here once."""

from .calls import Calls
from .channels import Row
from .define import SAMPLE, SAMPLE_TOOLS, define
from .dsml import dsml
from .element_calls import element_tree, typed_arguments
from .harmony import HARMONY, harmony_grammar, harmony_writer
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
from .turns import Answer, Think, conversation, mentioned, stops, thought, turn
from .writing import members_of, write
from .xml_calls import (
    ANY_VALUE,
    JSON_VALUE,
    Sign,
    Tag,
    python_text,
    raw_text,
    tagged_arguments,
    tagged_values,
    write_arguments,
)

__all__ = [
    "ANY_VALUE",
    "HARMONY",
    "JSON_VALUE",
    "SAMPLE",
    "SAMPLE_TOOLS",
    "Answer",
    "Calls",
    "Row",
    "Sign",
    "Tag",
    "Think",
    "arguments_json",
    "bare_json",
    "conversation",
    "define",
    "dsml",
    "element_tree",
    "harmony_grammar",
    "harmony_writer",
    "headed_json",
    "json_array",
    "json_calls",
    "json_members",
    "marked_json",
    "members_of",
    "mentioned",
    "python_text",
    "raw_text",
    "stops",
    "tagged_arguments",
    "tagged_json",
    "tagged_values",
    "thought",
    "turn",
    "typed_arguments",
    "write",
    "write_arguments",
]
