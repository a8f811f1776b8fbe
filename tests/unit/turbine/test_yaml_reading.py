"""YAML says what its author sees, and nothing that runs, repeats or explodes."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from turbine.cli.yaml_reading import BYTES_MAX, DOCUMENTS_MAX, read_yaml
from turbine.failures import Code, code_of
from turbine_client.errors import TurbineError


def values(text: str, loader: Any) -> list[object]:
    return [one.value for one in read_yaml(text.encode(), "job.yaml", loader)]


def refusal(text: bytes | str, loader: Any) -> str:
    with pytest.raises(TurbineError) as failed:
        read_yaml(text.encode() if isinstance(text, str) else text, "job.yaml", loader)
    assert code_of(failed.value) is Code.USAGE
    return str(failed.value)


# Both parsers of the library: which of them is there depends on how it was built.
LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if hasattr(yaml, "CSafeLoader") else [])]


@pytest.fixture(params=LOADERS, ids=lambda one: one.__name__)
def loader(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1", {"a": 1}),
        ("a: -1.5e3", {"a": -1500.0}),
        ("a: .5", {"a": 0.5}),
        ("a: true\nb: False", {"a": True, "b": False}),
        ("a:\nb: ~\nc: null", {"a": None, "b": None, "c": None}),
        ("a: [1, two, {three: 3}]", {"a": [1, "two", {"three": 3}]}),
        ("a:\n  - b: 1\n    c: 2\n  - d", {"a": [{"b": 1, "c": 2}, "d"]}),
        ("a: '1'\nb: \"true\"\nc: |\n  7\n", {"a": "1", "b": "true", "c": "7\n"}),
        ("7: seven\ntrue: yes", {"7": "seven", "true": "yes"}),
        ("[]", []),
        ("just text", "just text"),
        ("'<<': 1", {"<<": 1}),
    ],
)
def test_values(text: str, value: object, loader: Any) -> None:
    found = values(text, loader)
    assert json.dumps(found) == json.dumps([value])


@pytest.mark.parametrize(
    "word",
    [
        "no",
        "off",
        "on",
        "y",
        "010",
        "0o17",
        "0x1f",
        "1:30",
        "1_000",
        "2026-01-31",
        ".nan",
        "=",
        "1.4.2",
    ],
)
def test_what_other_readers_turn_into_something_else_stays_text(word: str, loader: Any) -> None:
    assert values(f"a: {word}", loader) == [{"a": word}]


def test_documents_with_their_lines(loader: Any) -> None:
    text = b"# first\njob: a\n---\n\njob: b\n---\n"
    found = read_yaml(text, "job.yaml", loader)
    assert [(one.value, one.line) for one in found] == [
        ({"job": "a"}, 2),
        ({"job": "b"}, 3),
        (None, 6),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: &x 1\nb: *x", "job.yaml, line 1, column 4: an anchor (&x) is not read; write it out"),
        ("a: *x", "job.yaml, line 1, column 4: an alias (*x) is not read; write it out"),
        ("a: !!python/object/apply:os.system [ls]", "object/apply:os.system is not read; leave it"),
        ("a: !mine 1", "job.yaml, line 1, column 4: the tag !mine is not read; leave it out"),
        ("a: 1\nb: 2\na: 3", 'line 3, column 1: the key "a" stands twice; keep one of the two'),
        ("<<: {a: 1}", "line 1, column 1: a merge key (<<) is not read; write its keys out"),
        ("? [a]\n: 1", "line 1, column 3: a key is text; this one is a mapping or a list"),
        ("a: 1\n b: 2", "job.yaml, line 2, column 3: mapping values are not allowed"),
        ("a: [1, 2\nb: 1", "job.yaml, line 2, column"),
        ("a: \x07", "job.yaml is not YAML: "),
        (b"a: \xff", "job.yaml is not UTF-8 at byte 4; save it as UTF-8"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_place(text: str | bytes, sentence: str, loader: Any) -> None:
    assert sentence in refusal(text, loader)


def test_too_large(loader: Any) -> None:
    text = b"a: " + b"x" * BYTES_MAX
    assert (
        refusal(text, loader)
        == f"job.yaml has {len(text)} bytes, {BYTES_MAX} at most; split it in several"
    )


def test_too_deep_in_brackets_is_refused_before_anything_recurses(loader: Any) -> None:
    deep = refusal("a: " + "[" * 5000, loader)
    assert "nests deeper than 32 levels; flatten it" in deep


def test_the_greatest_depth(loader: Any) -> None:
    assert values("[" * 32 + "]" * 32, loader)
    assert "deeper than 32" in refusal("[" * 33 + "]" * 33, loader)


def test_too_many_documents(loader: Any) -> None:
    assert len(values("---\n" * DOCUMENTS_MAX, loader)) == DOCUMENTS_MAX
    assert f"more than {DOCUMENTS_MAX} documents" in refusal("---\n" * (DOCUMENTS_MAX + 1), loader)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(string.printable, max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(string.ascii_letters, min_size=1, max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(plain)
def test_json_is_yaml(value: object) -> None:
    for loader in LOADERS:
        assert values(json.dumps(value), loader) == [value]
