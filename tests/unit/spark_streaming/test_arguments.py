"""What operators make of their arguments, without Spark: each bad one is named in a sentence."""

from __future__ import annotations

import json
from typing import cast

import pytest
from pyspark.sql import DataFrame

from spark_streaming.context import BadOperator, TaskContext, TopicSource
from spark_streaming.operators import doubles, joins, parsing, rows, windows
from spark_streaming.operators.arguments import SPAN_MS_MAX, interval, names_of, path_of, span_ms
from spark_streaming.operators.parsing import avro_schema, framed
from spark_streaming.operators.rows import split

NO_ROWS = cast(DataFrame, None)


def context(*arguments: str, sources: tuple[TopicSource, ...] = ()) -> TaskContext:
    return TaskContext("clicks", 0, arguments, sources, NO_ROWS)


def test_an_argument_stands_after_its_name() -> None:
    given = context("--window", "1 minute", "--by=page", "--empty=")
    assert (given.argument("window"), given.argument("by")) == ("1 minute", "page")
    assert given.argument("empty") == ""
    assert given.argument("slide", "none") == "none"
    given.only("window", "by", "empty")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--windw", "1"], "'--windw' is no argument of this operator; it has --window, --by"),
        (["window", "1"], "'window' is no argument of this operator; it has --window, --by"),
        (["--by=x", "1"], "'1' is no argument of this operator; it has --window, --by"),
        (["--by", "x", "--by=y"], "--by stands twice; leave one of them out"),
        (["--window"], "--window is followed by nothing; give it a value"),
    ],
)
def test_an_argument_that_is_not_known_is_refused(arguments: list[str], sentence: str) -> None:
    with pytest.raises(BadOperator) as refused:
        context(*arguments).only("window", "by")
    assert str(refused.value) == sentence


def test_an_argument_that_is_missing_is_named() -> None:
    with pytest.raises(BadOperator, match='needs an argument --window; add it to "arguments"'):
        context().argument("window")
    with pytest.raises(BadOperator, match="--window is followed by nothing; give it a value"):
        context("--window").argument("window", "1 day")


@pytest.mark.parametrize("text", ["x", "nan", "inf", "1e999", ""])
def test_what_is_no_number_is_refused(text: str) -> None:
    assert context("--share", "0.5").number("share") == 0.5
    assert context().number("share", 2) == 2
    with pytest.raises(BadOperator, match="--share is followed by a number, not by"):
        context("--share", text).number("share")


@pytest.mark.parametrize(
    ("text", "length_ms"),
    [
        ("1 minute", 60_000),
        ("90 SECONDS", 90_000),
        (" 5  milliseconds ", 5),
        ("2 weeks", 1_209_600_000),
        ("366 days", SPAN_MS_MAX),
    ],
)
def test_a_span_is_a_length_of_time(text: str, length_ms: int) -> None:
    assert span_ms(context("--gap", text), "gap") == length_ms
    assert span_ms(context("--gap", interval(length_ms)), "gap") == length_ms


@pytest.mark.parametrize("text", ["", "1", "minute", "-1 minute", "1.5 hours", "1 month", "1m"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(BadOperator, match='--gap is a span of time such as "30 seconds", not '):
        span_ms(context("--gap", text), "gap")


def test_a_span_has_bounds() -> None:
    with pytest.raises(BadOperator, match="--gap is a span above 0 and of at most 366 days"):
        span_ms(context("--gap", "0 seconds"), "gap")
    assert span_ms(context("--gap", "0 seconds"), "gap", zero=True) == 0
    with pytest.raises(BadOperator, match="--gap is a span of at most 366 days, not '367 days'"):
        span_ms(context("--gap", "367 days"), "gap", zero=True)


def test_a_field_is_a_path() -> None:
    assert path_of("by", "page") == "$['page']"
    assert path_of("by", "user.home-page") == "$['user']['home-page']"
    assert path_of("by", "$.key") == "$['key']"
    for text in ("", "a..b", "a b", "a'", "$", "$.", "1a", "a[0]"):
        with pytest.raises(BadOperator, match="--by is a field such as"):
            path_of("by", text)


def test_names_stand_between_commas() -> None:
    assert names_of("by", "key, id,user.name") == ["key", "id", "user.name"]
    with pytest.raises(BadOperator, match="--by names id twice; leave one of them out"):
        names_of("by", "id,id")
    with pytest.raises(BadOperator, match="--by is a field such as"):
        names_of("by", "id,")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("key", ["key"]),
        (" a , b ", ["a", "b"]),
        ("f(a, b), [1, 2], c", ["f(a, b)", "[1, 2]", "c"]),
        ("'a, b', \"c, (\", `d, e`", ["'a, b'", '"c, ("', "`d, e`"]),
        (r"'it\'s, so', b", [r"'it\'s, so'", "b"]),
        (r"`a\`, b", [r"`a\`", "b"]),
    ],
)
def test_expressions_stand_between_commas(text: str, parts: list[str]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("f(a, b", "--select: a bracket in it is not closed"),
        ("a), b", "--select: a bracket in it is not closed"),
        ("'a, b", "--select: a quote in it is not closed"),
        ("a,,b", "--select: there is nothing between two of its commas, or beside one"),
        ("", "--select: there is nothing between two of its commas, or beside one"),
    ],
)
def test_expressions_that_cannot_be_told_apart_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(BadOperator) as refused:
        split(text)
    assert str(refused.value) == sentence


RECORD = '{"type": "record", "name": "A", "fields": [{"name": "a", "type": "int"}]}'


def test_a_framed_record_has_the_record_in_it() -> None:
    assert avro_schema(context("--schema", RECORD)) == (RECORD, "schema")
    [body] = json.loads(framed(RECORD))["fields"]
    assert body == {"name": "body", "type": json.loads(RECORD)}


TWO = (TopicSource("a", (0, 1)), TopicSource("b", (0, 1)))


@pytest.mark.parametrize(
    ("operator", "arguments", "sentence"),
    [
        (windows.counted, [], 'the operator needs an argument --window; add it to "arguments"'),
        (windows.counted, ["--window=1 day", "--slide=2 days"], "--slide is at most --window"),
        (windows.counted, ["--windows=1 day"], "'--windows' is no argument of this operator; it"),
        (windows.sessionised, [], "the operator needs an argument --gap"),
        (windows.sessionised, ["--gap=soon"], "--gap is a span of time such as"),
        (doubles.deduplicated, [], "the operator needs an argument --within"),
        (doubles.deduplicated, ["--within=1 day", "--by=a b"], "--by is a field such as"),
        (joins.joined, ["--on=id"], "the operator needs an argument --within"),
        (joins.joined, ["--within=1 day", "--late=x"], "--late is a span of time such as"),
        (rows.filtered, [], "the operator needs an argument --where"),
        (rows.projected, ["--select=a,"], "--select: there is nothing between"),
        (parsing.json_fields, [], "the operator needs an argument --schema"),
        (parsing.avro_fields, [], "say what the records are with --schema JSON or --schema-file"),
        (parsing.avro_fields, ["--schema=a", "--schema-file=b"], "say what the records are with"),
        (
            parsing.avro_fields,
            ["--framing=x", f"--schema={RECORD}"],
            "--framing is confluent or none, not 'x'",
        ),
    ],
)
def test_operators_name_the_argument(operator: object, arguments: list[str], sentence: str) -> None:
    assert callable(operator)
    with pytest.raises(BadOperator) as refused:
        operator(NO_ROWS, context(*arguments, sources=TWO))
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        ((), "a join has two inputs, and the job reads 0"),
        (TWO[:1], "a join has two inputs, and the job reads 1"),
        ((*TWO, TopicSource("c", (0, 1))), "a join has two inputs, and the job reads 3"),
        (
            (TopicSource("a", (0, 2)), TopicSource("b", (1,))),
            "a join needs the same partitions of a and b in each task; give both topics as many",
        ),
    ],
)
def test_a_join_has_two_inputs_that_meet(sources: tuple[TopicSource, ...], sentence: str) -> None:
    with pytest.raises(BadOperator) as refused:
        joins.joined(NO_ROWS, context("--within", "1 minute", sources=sources))
    assert str(refused.value).startswith(sentence)
