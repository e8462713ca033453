"""The published vocabularies are what their owners say: the digests, the ids of some texts, Harmony's own library."""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai_harmony import HarmonyEncoding, load_harmony_encoding

from dragoman.errors import InvalidTokenizer
from dragoman.tokenizers import decode, get_tokenizer
from dragoman.tokenizers.vocabularies import O200K_SHA256, o200k_ranks, read_rank_file
from tests.tokenizers.vocabularies import opened

HELLO = "Hello, world! \u4f60\u597d"
CAFE = "Gr\u00fc\u00dfe \u2014 \u6771\u4eac \U0001f469\u200d\U0001f680\n\n\tcafe\u0301"
CODE = "def f(x):\n    return x**2  # 1234567"
MARK = "<|im_start|>user"

PROBES = {
    "o200k_harmony": {
        HELLO: [13225, 11, 2375, 0, 220, 177519],
        CODE: [1314, 285, 4061, 1883, 271, 622, 1215, 410, 17, 220, 1069, 220, 7633, 19354, 22],
        MARK: [27, 91, 321, 10949, 91, 29, 1428],
        "a\u0301 e\u0308": [64, 13430, 319, 47565],
        "don't IT'S we'LL": [91418, 8734, 31233, 581, 6, 7454],
    },
    "qwen": {
        HELLO: [9707, 11, 1879, 0, 220, 108386],
        CODE: [750, 282, 2075, 982, 262, 470, 856, 334, 17, 220, 671, 220, 16, 17, 18, 19, 20, 21, 22],
        MARK: [27, 91, 318, 4906, 91, 29, 872],
        "a\u0301 e\u0308": [1953, 1683, 104],
        "\r\n\r\n  \n": [871, 2303],
    },
    "llama3": {
        HELLO: [9906, 11, 1917, 0, 118195, 53901],
        CODE: [755, 282, 2120, 997, 262, 471, 865, 334, 17, 220, 674, 220, 4513, 10961, 22],
        MARK: [27, 91, 318, 5011, 91, 29, 882],
        "don't IT'S we'LL": [15357, 956, 8871, 13575, 584, 6, 4178],
    },
}


@pytest.mark.parametrize("name", PROBES)
def test_known_texts_have_known_ids(name: str) -> None:
    tokenizer = opened(name)
    assert {text: tokenizer.encode(text) for text in PROBES[name]} == PROBES[name]


def test_the_shipped_ranks_are_the_published_file() -> None:
    assert sha256(rank_file()).hexdigest() == O200K_SHA256


def test_the_shipped_ranks_in_the_published_form_are_o200k_base() -> None:
    tokenizer = read_rank_file(rank_file(), "o200k_base.tiktoken")
    assert (
        tokenizer.control == get_tokenizer("o200k_base").control == {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
    )


def test_control_tokens_have_the_ids_that_the_models_know() -> None:
    harmony, qwen, llama = opened("o200k_harmony").control, opened("qwen").control, opened("llama3").control
    assert (len(harmony), harmony["<|start|>"], harmony["<|call|>"], harmony["<|reserved_201088|>"]) == (
        1091,
        200006,
        200012,
        201088,
    )
    assert (len(qwen), qwen["<|im_start|>"], qwen["<think>"], qwen["</think>"]) == (26, 151644, 151667, 151668)
    assert (len(llama), llama["<|eot_id|>"], llama["<|reserved_special_token_245|>"]) == (256, 128009, 128255)


@pytest.fixture(scope="module")
def harmony(tmp_path_factory: pytest.TempPathFactory) -> HarmonyEncoding:
    """Harmony's own library, which looks for its ranks in a folder that the environment names."""
    folder = tmp_path_factory.mktemp("ranks")
    (folder / "o200k_base.tiktoken").write_bytes(rank_file())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_ENCODINGS_BASE", str(folder))
        return load_harmony_encoding("HarmonyGptOss")


@given(text=st.text() | st.sampled_from(["<|start|>", "<|reserved_200018|>"]))
def test_harmonys_own_library_encodes_text_like_that(harmony: HarmonyEncoding, text: str) -> None:
    assert opened("o200k_harmony").encode(text) == harmony.encode(text, disallowed_special=())


def test_harmonys_own_library_has_the_same_control_tokens(harmony: HarmonyEncoding) -> None:
    tokenizer = opened("o200k_harmony")
    assert set(tokenizer.control) == harmony.special_tokens_set
    for spelling, token in tokenizer.control.items():
        assert harmony.encode(spelling, allowed_special="all") == [token]
        assert decode(tokenizer, [token]) == spelling


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"IQ== 0\n", "expected the published rank file of o200k_base, qwen, llama3 .* found SHA-256 "),
        (b"", "found SHA-256 e3b0c442"),
    ],
)
def test_a_rank_file_that_is_not_known_is_refused(content: bytes, found: str) -> None:
    with pytest.raises(InvalidTokenizer, match=found):
        read_rank_file(content, str(Path("x.tiktoken")))


def rank_file() -> bytes:
    """The ranks as they are published."""
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in o200k_ranks().items())
