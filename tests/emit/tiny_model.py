"""A model of a hundred kilobytes that llama.cpp loads: of the Llama architecture, with weights by chance.

What it says means nothing, so that whatever comes out right is the grammar's doing. Its vocabulary is one of
SentencePiece: printable ASCII, the bytes of everything else, some pieces of several characters that lie across the
borders of what grammars speak of, and the markers, as control tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

UNKNOWN, START, END = 0, 1, 2
PIECES = ("</", "<t", "_call>", '":', '", "', '{"', "}\n", "```", "`\n", "\n\n", "\n<", " a", "ab", "true", "12")
WIDTH, DEPTH, HEADS = 32, 1, 2


class Kind(IntEnum):
    """The types of tokens, as GGUF numbers them."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    BYTE = 6


class Token(NamedTuple):
    spelling: str
    kind: Kind
    content: bytes


def vocabulary(markers: Sequence[str], pieces: Sequence[str] = PIECES) -> list[Token]:
    """The tokens in the order of their ids."""
    ascii_plain = [chr(code) for code in range(32, 127)]
    rest = [code for code in range(256) if not 32 <= code < 127]
    return [
        Token("<unk>", Kind.UNKNOWN, b""),
        Token("<s>", Kind.CONTROL, b""),
        Token("</s>", Kind.CONTROL, b""),
        *(Token(f"<0x{code:02X}>", Kind.BYTE, bytes([code])) for code in rest),
        *map(_piece, (*ascii_plain, *pieces)),
        *(Token(marker, Kind.CONTROL, marker.encode()) for marker in markers),
    ]


def _piece(text: str) -> Token:
    """A piece of text; ``▁`` in a normal one is a space."""
    kind = Kind.USER_DEFINED if "▁" in text else Kind.NORMAL
    return Token(text if kind == Kind.USER_DEFINED else text.replace(" ", "▁"), kind, text.encode())


def write_model(path: Path, markers: Sequence[str], pieces: Sequence[str] = PIECES) -> list[Token]:
    """Write the model as a GGUF file, and say what its vocabulary is."""
    import gguf
    import numpy as np

    tokens = vocabulary(markers, pieces)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(8192)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(DEPTH)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([token.spelling for token in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([int(token.kind) for token in tokens])
    writer.add_unk_token_id(UNKNOWN)
    writer.add_bos_token_id(START)
    writer.add_eos_token_id(END)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)

    chance = np.random.default_rng(0)
    shapes = {"token_embd": (len(tokens), WIDTH), "output": (len(tokens), WIDTH)}
    for k in range(DEPTH):
        shapes |= {f"blk.{k}.attn_{name}": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")}
        shapes |= {f"blk.{k}.ffn_{name}": (2 * WIDTH, WIDTH) for name in ("gate", "up")}
        shapes |= {f"blk.{k}.ffn_down": (WIDTH, 2 * WIDTH)}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", (chance.standard_normal(shape) * 0.3).astype(np.float32))
    for name in ("output_norm", *(f"blk.{k}.{name}" for k in range(DEPTH) for name in ("attn_norm", "ffn_norm"))):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tokens
