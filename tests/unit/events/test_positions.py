"""Position vectors as text, and each way in which a text is none."""

from __future__ import annotations

import pytest

from turbine_client.positions import TEXT_MAX, VectorError, format_vector, parse_vector


def test_a_vector_is_written_sorted_by_place() -> None:
    vector = {"journal.v1/3": 40, "changes.base.v1/3": 12}
    assert format_vector(vector) == "changes.base.v1/3:12,journal.v1/3:40"
    assert parse_vector("changes.base.v1/3:12,journal.v1/3:40") == vector
    assert parse_vector("") == {}
    assert format_vector({}) == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("journal.v1/3", "'journal.v1/3' is no position; write place:offset"),
        ("journal.v1/3:", "is no position"),
        ("journal.v1/3:-1", "is no position"),
        ("journal.v1/3:1_0", "is no position"),
        ("journal.v1/3: 1", "is no position"),
        ("journal.v1/3:1:2", "is no position"),
        ("journal.v1/3:1,", "'' is no position"),
        ("journal.v1/3:1" + "0" * 18, "is no position"),
        ("journal.v1/3:٣", "ASCII"),
        ("journal.v1:4", "'journal.v1' is no place; write topic/partition"),
        ("journal.v1/03:4", "is no place"),
        ("journal.v1/x:4", "is no place"),
        ("/3:4", "is no place"),
        ("Journal/3:4", "is no place"),
        ("journal.v1/3\n:4", "is no place"),
        ("journal.v1/3:4,journal.v1/3:5", "names each place once"),
        ("a/1:1," * (TEXT_MAX // 6 + 1), "at most 65536 ASCII characters"),
    ],
)
def test_a_text_that_is_no_vector_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(VectorError) as refused:
        parse_vector(text)
    assert sentence in str(refused.value)


def test_the_greatest_offset_is_read() -> None:
    assert parse_vector("journal.v1/3:" + "9" * 18) == {"journal.v1/3": 10**18 - 1}


def test_places_are_one_object_and_their_memory_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second = parse_vector("journal.v1/7:1"), parse_vector("journal.v1/7:2")
    assert next(iter(first)) is next(iter(second))
    monkeypatch.setattr("turbine_client.positions._PLACES_MAX", 10)
    for partition in range(100):
        parse_vector(f"flood.v1/{partition}:1")
    from turbine_client import positions

    assert len(positions._places) <= 10
