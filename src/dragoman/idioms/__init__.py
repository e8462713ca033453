"""What dialects are put together from: each names its markers, and how its kind of format works stands here once."""

from .blocks import Blocks, define_blocks
from .calls import Calls, also
from .channels import Row
from .define import SAMPLE, SAMPLE_TOOLS, define, drawn, sample
from .dsml import dsml
from .element_calls import element_tree, typed_arguments
from .guided import guided, guided_answer
from .harmony import HARMONY, harmony_grammar, harmony_speller
from .json_calls import (
    arguments_json,
    headed_json,
    json_array,
    json_calls,
    json_members,
    marked_json,
    tagged_json,
)
from .literal_calls import call_dict, call_expressions, single_quoted
from .loose_json import array_calls, bare_array, bare_json
from .opened_calls import code_calls, keyed_array, opened_json
from .pair_calls import PairLayout, PairMarks, paired_values
from .suffixed import suffixed_values
from .tags import Shell, Sign, Tag
from .turns import Answer, Think, conversation, mentioned, stops, thought, turn
from .writing import Speller, members_of, spell, speller_of, written_by
from .xml_calls import (
    ANY_VALUE,
    JSON_VALUE,
    function_tags,
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
    "Blocks",
    "Calls",
    "PairLayout",
    "PairMarks",
    "Row",
    "Shell",
    "Sign",
    "Speller",
    "Tag",
    "Think",
    "also",
    "arguments_json",
    "array_calls",
    "bare_array",
    "bare_json",
    "call_dict",
    "call_expressions",
    "code_calls",
    "conversation",
    "define",
    "define_blocks",
    "drawn",
    "dsml",
    "element_tree",
    "function_tags",
    "guided",
    "guided_answer",
    "harmony_grammar",
    "harmony_speller",
    "headed_json",
    "json_array",
    "json_calls",
    "json_members",
    "keyed_array",
    "marked_json",
    "members_of",
    "mentioned",
    "opened_json",
    "paired_values",
    "python_text",
    "raw_text",
    "sample",
    "single_quoted",
    "spell",
    "speller_of",
    "stops",
    "suffixed_values",
    "tagged_arguments",
    "tagged_json",
    "tagged_values",
    "thought",
    "turn",
    "typed_arguments",
    "write_arguments",
    "written_by",
]
