"""Every kind of record has its sentence, whatever its fields hold: one line, and no JSON."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.generated.records import RECORDS, from_plain
from events.job_config.strict_json import printable
from events.sentences import LINE, UNREAD, Said, sentence
from tests.golden.write import expand, sample
from tests.laws.plain import NEWEST, plains

PLAIN_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='{}[]"'), max_size=300
)
"""As people and programs write; what they quote of others is theirs."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | PLAIN_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN_TEXT, inner, max_size=3),
    max_leaves=6,
)
JSON = st.dictionaries(PLAIN_TEXT, VALUES, max_size=3).map(json.dumps)
SPOILT = st.sampled_from(["", "{", "[]", "null", "9" * 5_000, "[" * 5_000, '{"a":1,"a":2}'])
PLAIN = plains({"_json": JSON | SPOILT, "to": JSON | SPOILT | PLAIN_TEXT, "": PLAIN_TEXT})


def test_no_kind_is_left_out() -> None:
    assert set(get_args(Said)) == set(RECORDS.values())


@pytest.mark.parametrize("kind", sorted(RECORDS))
def test_the_sentence_of_each_kind_tells_one_record_from_another(kind: str) -> None:
    """What it names of the fields is read in tests/golden/sentences.txt, which has each kind's."""
    schema = expand(NEWEST[kind].schema, {})
    said = [sentence(from_plain(RECORDS[kind], sample(schema, path))) for path in (kind, "other")]
    assert well_formed(said[0])
    assert said[0] != said[1]


def well_formed(said: str) -> bool:
    return 0 < len(said) <= LINE and said == printable(said) and "{" not in said


@pytest.mark.parametrize("kind", sorted(RECORDS))
@given(data=st.data())
def test_any_record_of_a_kind_is_one_line_without_json(kind: str, data: st.DataObject) -> None:
    body = from_plain(RECORDS[kind], data.draw(PLAIN[kind]))
    said = sentence(body)
    assert well_formed(said), said
    assert said == sentence(body), "the same again"


def test_what_cannot_be_read_says_so() -> None:
    assert sentence(None) == UNREAD
