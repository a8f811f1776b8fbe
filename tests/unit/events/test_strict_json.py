"""What is refused as JSON and in which words, and what the one text of a value is."""

from __future__ import annotations

import json
import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.job_config.strict_json import (
    BYTES_MAX,
    DEPTH_MAX,
    KEY_BYTES_MAX,
    KEYS_MAX,
    NODES_MAX,
    NUMBER_MAX,
    Json,
    Malformed,
    canonical_json,
    parse_json,
    printable,
    shorten,
    split_path,
    write_path,
)

# Whole floats are read as ints, and 2^53 itself is refused as a float: it may have been rounded.
numbers = st.integers(-NUMBER_MAX, NUMBER_MAX) | st.floats(
    -NUMBER_MAX, NUMBER_MAX, allow_nan=False
).filter(lambda number: not number.is_integer())
texts = st.text(max_size=20)
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=30,
)


def nest(depth: int) -> str:
    return "[" * depth + "]" * depth


REFUSED = [
    ("", "not-json", "", "set_json is not JSON from line 1, column 1 on; correct it there"),
    ('{"a":1,}', "not-json", "", "column 7 on"),
    ('{\n "a": [1,\n ]}', "not-json", "", "line 2, column 9 on"),
    ('{"a":1} x', "not-json", "", "column 9 on"),
    ("{'a':1}", "not-json", "", "column 2 on"),
    ('"\n"', "not-json", "", "column 2 on"),
    ("\ufeff{}", "not-json", "", "column 1 on"),
    ('{"a":[NaN]}', "not-a-number", "a.0", 'set_json at "a.0" is NaN, which is no JSON number'),
    ("-Infinity", "not-a-number", "", "set_json is -Infinity, which is no JSON number"),
    ('{"a":1e999}', "number-too-large", "a", "is the number 1e999, beyond 2^53"),
    ("9007199254740993", "number-too-large", "", "write it as a string"),
    ("-9007199254740993", "number-too-large", "", "write it as a string"),
    ("9007199254740993.0", "number-too-large", "", "write it as a string"),
    ("1" * 5000, "number-too-large", "", "is the number 11111111111111111111111…, beyond 2^53"),
    ('{"a":{"b":1,"b":2}}', "duplicate-key", "a.b", 'set_json at "a" has the key "b" twice'),
    ('{"b":1,"\\u0062":NaN}', "duplicate-key", "b", 'has the key "b" twice; keep one of the two'),
    ('["\\ud800"]', "lone-surrogate", "0", 'half of a surrogate pair at "0"'),
    ('{"a":{"\\udC00":1}}', "lone-surrogate", "a", 'half of a surrogate pair at "a"'),
    ('{"\\udC00":1}', "lone-surrogate", "", "half of a surrogate pair at its top"),
    ('"\ud800"', "lone-surrogate", "", "half of a surrogate pair at character 2"),
    (b'"\xff"', "not-utf-8", "", "is not UTF-8 at byte 2; encode it as UTF-8"),
    (b'"\xed\xa0\x80"', "not-utf-8", "", "is not UTF-8 at byte 2"),
    (json.dumps("{}").encode("utf-16"), "not-utf-8", "", "encode it as UTF-8"),
    (nest(DEPTH_MAX + 1), "too-deep", "", "deeper than 32 objects and arrays; flatten it"),
    ("[" * (DEPTH_MAX + 1), "too-deep", "", "flatten it"),
    # A string without an end is no string, so what looks like its text counts as brackets.
    ('"' + "[" * (DEPTH_MAX + 1), "too-deep", "", "flatten it"),
    ('"' + "[" * DEPTH_MAX, "not-json", "", "column 1 on"),
    (f'{{"a": "\\"", "b": {nest(DEPTH_MAX)}}}', "too-deep", "", "flatten it"),
    ("x" * (BYTES_MAX + 1), "too-large", "", "has 65537 bytes and may have 65536; make it shorter"),
    ("ä" * (BYTES_MAX // 2 + 1), "too-large", "", "has 65538 bytes"),
    (
        f"[{'0,' * (NODES_MAX - 1)}0]",
        "too-many-values",
        "",
        "more than 10000 values; split the change",
    ),
    (
        json.dumps({"a": dict.fromkeys(map(str, range(KEYS_MAX + 1)))}),
        "too-many-keys",
        "a",
        'set_json at "a" has 513 keys and may have 512; group them',
    ),
    (
        json.dumps({"a": {"ä" * (KEY_BYTES_MAX // 2) + "x": 1}}),
        "key-too-long",
        "a",
        "has a key of 257 bytes",
    ),
    (json.dumps({"x" * 200: 1, "ä" * 129: 1}), "key-too-long", "", "has a key of 258 bytes"),
]


@pytest.mark.parametrize(("text", "code", "path", "part"), REFUSED)
def test_what_is_refused_says_where_and_what_to_do(
    text: str | bytes, code: str, path: str, part: str
) -> None:
    with pytest.raises(Malformed) as caught:
        parse_json(text, what="set_json")
    assert (caught.value.reason_code, caught.value.path) == (code, path)
    assert part in caught.value.sentence
    assert str(caught.value).startswith("set_json")
    str(caught.value).encode()  # the sentence goes into a record


ACCEPTED: list[tuple[str, Json]] = [
    (nest(DEPTH_MAX), json.loads(nest(DEPTH_MAX))),
    (f"[[],{nest(DEPTH_MAX - 1)}]", [[], json.loads(nest(DEPTH_MAX - 1))]),
    (f'"{"[" * 1000}"', "[" * 1000),
    (f'{{"\\"[": "{"{" * 1000}"}}', {'"[': "{" * 1000}),
    (str(NUMBER_MAX), NUMBER_MAX),
    (str(-NUMBER_MAX), -NUMBER_MAX),
    (f"[{'0,' * (NODES_MAX - 2)}0]", [0] * (NODES_MAX - 1)),
    (f'["{"," * (NODES_MAX + 1)}"]', ["," * (NODES_MAX + 1)]),
    ('"\\ud83d\\ude00"', "\U0001f600"),
    ('"\\\\ud800"', "\\ud800"),
    (
        json.dumps(dict.fromkeys(map(str, range(KEYS_MAX)))),
        dict.fromkeys(map(str, range(KEYS_MAX))),
    ),
    (json.dumps({"ä" * (KEY_BYTES_MAX // 2): 1}), {"ä" * (KEY_BYTES_MAX // 2): 1}),
    ("[-5, 0.5, true, null]", [-5, 0.5, True, None]),
    (' {"a" : 1} \n', {"a": 1}),
]


@pytest.mark.parametrize(("text", "value"), ACCEPTED)
def test_what_is_just_within_the_bounds_is_read(text: str, value: Json) -> None:
    assert parse_json(text, what="x") == value
    assert parse_json(text.encode(), what="x") == value


def test_the_first_refusal_in_the_text_is_told() -> None:
    with pytest.raises(Malformed) as caught:
        parse_json('{"z":[1,NaN],"a":1e999}', what="x")
    assert caught.value.path == "z.1"


def test_a_very_deep_text_costs_nothing() -> None:
    deep = "[" * 100_000
    tracemalloc.start()
    with pytest.raises(Malformed) as caught:
        parse_json(deep, what="x", max_bytes=len(deep))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert caught.value.reason_code == "too-deep"
    assert peak < 20 * len(deep)


def test_the_size_may_be_raised() -> None:
    text = json.dumps("x" * BYTES_MAX)
    assert parse_json(text, what="x", max_bytes=2 * BYTES_MAX) == "x" * BYTES_MAX


@pytest.mark.parametrize("text", ["4", "4.0", "4e0", "40e-1", "0.4E1"])
def test_one_number_is_one_value_however_it_is_written(text: str) -> None:
    value = parse_json(text, what="x")
    assert (value, type(value)) == (4, int)


def test_minus_nothing_is_nothing() -> None:
    assert [canonical_json(parse_json(text, what="x")) for text in ("-0", "-0.0", "0")] == ["0"] * 3


def test_the_error_survives_a_process_border() -> None:
    error = pickle.loads(pickle.dumps(Malformed("code", "sentence", "a.b")))  # noqa: S301 - our own
    assert (error.reason_code, str(error), error.path) == ("code", "sentence", "a.b")


@given(values)
def test_the_canonical_text_reads_back_as_the_same_value(value: Json) -> None:
    text = canonical_json(value)
    again = parse_json(text, what="x")
    assert again == value
    assert canonical_json(again) == text


@given(values)
def test_equal_values_have_one_text(value: Json) -> None:
    assert canonical_json(_disguise(value)) == canonical_json(value)


def _disguise(value: Json) -> Json:
    """The same value: keys in another order, whole numbers as floats where floats are exact."""
    if isinstance(value, dict):
        return {key: _disguise(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_disguise(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1.0, "a": [None, True, 0.1]}, '{"a":[null,true,0.1],"b":1}'),
        ({"ü": "e+.0"}, '{"ü":"e+.0"}'),
        (1e300, str(int(1e300))),
        (1e-7, "1e-07"),
        (["\x00\u2028"], '["\\u0000\u2028"]'),
    ],
)
def test_canonical_texts(value: Json, text: str) -> None:
    assert canonical_json(value) == text


def test_a_number_that_is_none_has_no_text() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def refusal(text: str | bytes) -> str:
    try:
        parse_json(text, what="x")
    except Malformed as error:
        return error.sentence
    return "none"


@given(st.text() | st.binary() | texts.map(json.dumps) | st.text('[]{}",:\\0e.-\ud800'))
def test_reading_is_total_and_its_sentences_can_be_shown(text: str | bytes) -> None:
    sentence = refusal(text)
    assert sentence
    assert sentence == printable(sentence)


@given(st.lists(st.text(), min_size=1).filter(lambda keys: keys != [""]))
def test_paths_are_read_as_they_were_written(keys: list[str]) -> None:
    assert list(split_path(write_path(keys))) == keys


def test_paths_show_dots_within_keys_and_places_in_lists() -> None:
    assert write_path(["a.b", "c\\", 0]) == "a\\.b.c\\\\.0"
    assert split_path("a..b") == ("a", "", "b")


@pytest.mark.parametrize("path", ["", "a\\", "a\\b", "a.\\", "\\\\\\"])
def test_a_path_that_cannot_be_read_says_how_to_write_it(path: str) -> None:
    with pytest.raises(Malformed) as caught:
        split_path(path)
    assert caught.value.reason_code == "bad-path"
    assert "; write a dot" in str(caught.value) or "; name a field" in str(caught.value)


def test_anybodys_text_is_shown_short_and_harmless() -> None:
    assert shorten("x" * 100) == '"' + "x" * 59 + '…"'
    assert shorten("für") == '"für"'
    assert shorten("a\u202eb\n") == '"a\\u202eb\\n"'
    assert printable("a\u202eb\x00\ud800") == "a\ufffdb\ufffd\ufffd"
