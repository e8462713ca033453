"""Fields are read as they were meant."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.grammar.escapes import decoded
from dragoman.grammar.nodes import Decoding


@pytest.mark.parametrize(
    ("how", "written", "meant"),
    [
        (Decoding.NONE, "a&amp;\\n", "a&amp;\\n"),
        (Decoding.JSON, '"a\\n\\u00e9&amp;"', "a\né&amp;"),
        (Decoding.ENTITIES, "&lt;&gt;&quot;&apos;&amp;", "<>\"'&"),
        (Decoding.ENTITIES, "&amp;lt;", "&lt;"),
        (Decoding.ENTITIES, "&#39;&#x27;&#X1F642;", "''🙂"),
        # What stands for no character is what it is.
        (Decoding.ENTITIES, "&AMP; &nbsp; &; &amp &#; &#x; & b", "&AMP; &nbsp; &; &amp &#; &#x; & b"),
        (
            Decoding.ENTITIES,
            "&#0; &#xD800; &#55296; &#1114112; &#99999999;",
            "&#0; &#xD800; &#55296; &#1114112; &#99999999;",
        ),
    ],
)
def test_a_field_says_what_was_meant(how: Decoding, written: str, meant: str) -> None:
    assert decoded(written, how) == meant


@given(st.text())
def test_what_is_escaped_is_read_as_it_was(text: str) -> None:
    assert decoded(escape(text), Decoding.ENTITIES) == text
