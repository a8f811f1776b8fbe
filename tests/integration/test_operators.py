"""The operators over real streams, each beside a dumb twin; late and doubled records included."""

from __future__ import annotations

import base64
import io
import json
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import Observation, SparkSession

from spark_streaming.context import BadOperator
from spark_streaming.history.files import Files
from spark_streaming.history.reading import read_rows
from spark_streaming.history.rows import UNREADABLE, to_arrow, values_of
from spark_streaming.main import options_of
from spark_streaming.operator import apply_operator, is_stateful
from spark_streaming.session import start_session
from spark_streaming.source import counted, read_counts
from tests.integration.history_reports import day_of_reports
from tests.integration.streams import LIBRARY, START_MS, Sent, Streams, source

pytestmark = pytest.mark.slow

OURS = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "PYSPARK_PYTHON")
LATE_S, HOUR_MS = 30, 3_600_000
DISORDER_MS = 20_000


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    before = {name: os.environ.get(name) for name in OURS}
    os.environ["PYSPARK_PYTHON"] = sys.executable
    scratch = tmp_path_factory.mktemp("spark")
    options = replace(options_of({}, scratch), heap_mb=512)
    session, java = start_session(options, lambda: None)
    yield session
    session.stop()
    java.kill()
    java.wait()
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Streams:
    return Streams(spark, tmp_path)


def click(key: str, at_ms: int, number: int, **more: object) -> Sent:
    """An event whose time is in its value; Kafka has it a little later."""
    body = {"id": f"e{number}", "at": at_ms, "amount": number / 8, "page": f"p{number % 3}", **more}
    return Sent(key, json.dumps(body).encode(), at_ms + 5)


def traffic(seed: int) -> list[list[Sent]]:
    """Three batches of a minute each, out of order by less than is waited for."""
    draw = random.Random(seed)
    batches = []
    for batch in range(3):
        at = [START_MS + batch * 60_000 + draw.randrange(60_000) for _ in range(60)]
        at = [max(START_MS, one - draw.randrange(DISORDER_MS)) for one in at]
        batches.append(
            [click(f"k{draw.randrange(5)}", one, 100 * batch + n) for n, one in enumerate(at)]
        )
    return batches


def with_late(batches: list[list[Sent]]) -> list[list[Sent]]:
    """The same with what must change nothing: hours too late, days ahead, no time, no JSON; and
    with what comes so much later that all results before it are due."""
    last = batches[-1]
    late = [click("k1", START_MS - HOUR_MS, 900 + n) for n in range(3)]
    ahead = [Sent("k2", click("k2", START_MS + 72 * HOUR_MS, 910).value, START_MS)]
    none = [Sent("k3", b"no json", START_MS), Sent("k3", b'{"at": "noon"}', START_MS)]
    none.append(Sent("k3", b'{"at": 9000000000000000000}', START_MS))
    end = [click("end", START_MS + HOUR_MS, 999)]
    return [*batches[:-1], [*last, *late, *ahead, *none], end]


def iso_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def test_windows_count_and_sum(streams: Streams) -> None:
    batches = traffic(1)
    written = streams.run(
        with_late(batches), "windows:counted", "--window", "20 seconds", "--slide=10 seconds",
        "--time", "at", "--late", f"{LATE_S} seconds", "--sum", "amount",
    )  # fmt: skip
    counts: Counter[tuple[str, int]] = Counter()
    sums: defaultdict[tuple[str, int], float] = defaultdict(float)
    for one in [one for batch in batches for one in batch]:
        at = one.body["at"]
        for start in (at // 10_000 * 10_000, at // 10_000 * 10_000 - 10_000):
            counts[one.key, start] += 1
            sums[one.key, start] += one.body["amount"]
    found = {(key, iso_ms(value["window_start"])): value for key, value in written}
    assert len(found) == len(written), "a result came twice"
    assert {at: value["count"] for at, value in found.items()} == counts
    assert {at: value["sum"] for at, value in found.items()} == sums
    assert {iso_ms(one["window_end"]) - iso_ms(one["window_start"]) for one in found.values()} == {
        20_000
    }


def test_windows_by_a_field_say_of_which_partition_they_are(streams: Streams) -> None:
    batches = traffic(2)
    end = [Sent("end", b"{}", START_MS + HOUR_MS)]
    written = streams.run(
        [*batches, end], "windows:counted", "--window", "1 minute", "--by", "page"
    )
    counts = Counter(
        (one.body["page"], one.partition, one.at_ms // 60_000 * 60_000)
        for batch in batches
        for one in batch
    )
    found = [
        ((key, value["input_partition"], iso_ms(value["window_start"])), value["count"])
        for key, value in written
    ]
    assert sorted(found) == sorted(counts.items())


def test_sessions_end_where_nothing_comes(streams: Streams) -> None:
    batches = traffic(3)
    written = streams.run(
        with_late(batches), "windows:sessionised", "--gap", "7 seconds", "--time", "at"
    )
    by_key: defaultdict[str, list[int]] = defaultdict(list)
    for one in [one for batch in batches for one in batch]:
        assert one.key is not None
        by_key[one.key].append(one.body["at"])
    expected = []
    for key, times in by_key.items():
        runs: list[list[int]] = []
        for at in sorted(times):
            if runs and at < runs[-1][-1] + 7_000:
                runs[-1].append(at)
            else:
                runs.append([at])
        expected += [(key, run[0], run[-1] + 7_000, len(run)) for run in runs]
    found = [
        (key, iso_ms(one["session_start"]), iso_ms(one["session_end"]), one["count"])
        for key, one in written
    ]
    assert sorted(found) == sorted(expected)


def test_doubles_are_left_out(streams: Streams) -> None:
    draw, batches = random.Random(4), traffic(4)
    flat = [one for batch in batches for one in batch]
    again = [draw.sample(batch, 15) for batch in batches]
    doubled = [batches[0] + again[0], batches[1] + again[0][:5] + again[1], batches[2] + again[2]]
    lone = [Sent("k4", b'{"at": 1767225700000}', START_MS)] * 2
    doubled[1] = [*doubled[1], *lone, *lone]
    written = streams.run(
        doubled, "doubles:deduplicated", "--by", "key, id", "--within", "5 minutes", "--time=at"
    )
    ids = Counter((key, value.get("id")) for key, value in written)
    assert ids.pop(("k4", None)) == 4, "what lacks a field is no double"
    assert ids == {(one.key, one.body["id"]): 1 for one in flat}


def test_a_value_in_bytes_comes_out_as_it_was(streams: Streams) -> None:
    spaced = Sent("a", b'{ "id" :  1.50 }', START_MS)
    batch = [spaced, spaced, Sent("b", None, START_MS)]
    arguments = ["--within", "1 minute", "--by=id"]
    streams.run([batch], "doubles:deduplicated", *arguments, sources=[source(form="bytes")])
    assert sorted(streams.values, key=str) == [None, spaced.value]


def test_a_join_finds_what_is_close(streams: Streams) -> None:
    draw = random.Random(5)
    clicks = [one for batch in traffic(5)[:2] for one in batch]
    views = [
        Sent(
            one.key, json.dumps({"v": n}).encode(), one.at_ms + draw.randrange(-9, 9) * 997, "views"
        )
        for n, one in enumerate(clicks)
    ]
    half = len(clicks) // 2
    batches = [clicks[:half] + views[half:], views[:half] + clicks[half:]]
    written = streams.run(
        batches, "joins:joined", "--within", "2 seconds", "--late", "5 minutes",
        sources=[source(), source("views")],
    )  # fmt: skip
    expected = [
        (one.key, one.body["id"], other.body["v"])
        for one in clicks
        for other in views
        if one.key == other.key and abs(one.at_ms - other.at_ms) <= 2_000
    ]
    found = [(key, both["clicks"]["id"], both["views"]["v"]) for key, both in written]
    assert sorted(found) == sorted(expected)
    assert len(found) > half
    assert streams.sources_read == 1, "both sides have the offsets of one source"


TWO_VIEWS = """SELECT c.key, c.value:n::int + v.value:n::int AS n
    FROM clicks c JOIN views v ON c.key = v.key"""
ONE_TWICE = """
    WITH a AS (SELECT key, topic, value:n::int AS n FROM clicks
        UNION ALL SELECT key, topic, value:n::int AS n FROM views)
    SELECT x.key, x.n + y.n AS n FROM a x JOIN a y ON x.key = y.key AND x.topic < y.topic"""


@pytest.mark.parametrize("query", [TWO_VIEWS, ONE_TWICE])
def test_a_join_in_sql_reads_its_inputs_once(streams: Streams, query: str) -> None:
    pairs = [
        Sent("a", b'{"n": 1}', START_MS),
        Sent("a", b'{"n": 2}', START_MS, "views"),
        Sent("b", b'{"n": 3}', START_MS, "views"),
    ]
    sources = [source(), source("views")]
    assert streams.run([pairs], "sql", sources=sources, query=query) == [("a", {"n": 3})]
    assert streams.sources_read == 1


def test_fields_of_json_with_a_table(streams: Streams) -> None:
    table = streams.root / "countries.csv"
    table.write_text("country,continent,people\n1,Europe,83\n2,Asia,\n")
    sent = [
        Sent("a", b'{"country": "1", "n": 5, "more": true}', START_MS),
        Sent("b", b'{"country": "7"}', START_MS),
        Sent("c", b"oops", START_MS),
        Sent("d", None, START_MS),
        Sent("e", b'{"country": "2", "n": "x"}', START_MS),
    ]
    arguments = ["--schema", "n INT, country STRING", "--table", str(table), "--on", "country"]
    written = streams.run([sent], "parsing:json_fields", *arguments, sources=[source(form="text")])
    assert sorted(written) == [
        ("a", {"country": "1", "n": 5, "continent": "Europe", "people": 83}),
        ("b", {"country": "7"}),
        ("c", {"unreadable": "oops"}),
        ("d", {}),
        ("e", {"country": "2", "continent": "Asia", "unreadable": sent[4].value.decode()}),  # type: ignore[union-attr]  # it has one
    ]
    context = streams.context(streams.stream([sent]), arguments, [source()])
    rows = apply_operator(f"{LIBRARY}parsing:json_fields", "", context)
    assert not is_stateful(rows), "a table is no state"


AVRO = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "sensor", "type": ["null", "string"]},
        {"name": "celsius", "type": ["null", "double"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}


def test_fields_of_avro(streams: Streams) -> None:
    file = io.BytesIO()
    row = {"sensor": "s1", "celsius": 21.5, "at": START_MS}
    fastavro.schemaless_writer(file, fastavro.parse_schema(AVRO), row)
    body = file.getvalue()
    bad = [b"\0\0\0\0\7\2", b"\1\0\0\0\7" + body, b""]
    sent = [
        Sent("good", b"\0\0\0\0\7" + body, START_MS),
        *[Sent(f"bad{at}", one, START_MS) for at, one in enumerate(bad)],
        Sent("none", None, START_MS),
    ]
    schema = streams.root / "reading.avsc"
    schema.write_text(json.dumps(AVRO))
    written = streams.run(
        [sent], "parsing:avro_fields", "--schema-file", str(schema), sources=[source(form="avro")]
    )
    assert dict(written) == {
        "good": {"sensor": "s1", "celsius": 21.5, "at": "2026-01-01T00:00:00.000Z"},
        **{
            f"bad{at}": {"unreadable": base64.b64encode(one).decode()} for at, one in enumerate(bad)
        },
        "none": {},
    }
    plain = streams.run(
        [[Sent("good", body, START_MS)]], "parsing:avro_fields", "--framing=none",
        "--schema", json.dumps(AVRO), sources=[source(form="avro")],
    )  # fmt: skip
    assert plain == [written[0]]


def test_rows_are_filtered_and_projected(streams: Streams) -> None:
    sent = [click("a", START_MS, n) for n in range(4)]
    kept = streams.run([sent], "rows:filtered", "--where", "value:page::string = 'p0'")
    assert [one["id"] for _, one in kept] == ["e0", "e3"]
    made = streams.run(
        [sent[:1]], "rows:projected", "--select",
        "key, concat(value:id::string, ', ', 'x') id, try_variant_get(value, '$.id', 'int') n",
    )  # fmt: skip
    assert made == [("a", {"id": "e0, x"})]
    assert len(streams.run([sent], "rows:passed")) == 4


BAD = [
    ("rows:filtered", ["--where", "value:page::string ="], "--where: [PARSE_SYNTAX_ERROR]"),
    ("rows:filtered", ["--where", "page = 1"], "--where: [UNRESOLVED_COLUMN"),
    ("rows:projected", ["--select", "key, nope"], "--select: [UNRESOLVED_COLUMN"),
    ("rows:projected", ["--select", "1 AS a, 2 AS A"], "--select: two expressions are named a"),
    ("parsing:json_fields", ["--schema", "a INTT"], "--schema: [UNSUPPORTED_DATATYPE]"),
    ("parsing:json_fields", ["--schema", "value INT"], "--schema: no field can become a column"),
    ("parsing:json_fields", ["--schema", "a INT, A INT"], "--schema: the field a stands there"),
    ("parsing:json_fields", ["--schema=a INT", "--on=a"], "--table and --on go together; add --t"),
    (
        "parsing:json_fields",
        ["--schema=a INT", "--on=a", "--table=/none.csv"],
        "--table: [PATH_NOT_FOUND]",
    ),
    (
        "parsing:json_fields",
        ["--schema=a INT", "--on=a", "--table=t.xml"],
        "--table: t.xml ends with none of",
    ),
    ("parsing:json_fields", ["--schema=a INT", "--on=b", "--table=T"], "--on: the record has no b"),
    (
        "parsing:json_fields",
        ["--schema=b INT", "--on=b", "--table=T"],
        "t.csv has no b; it has a, c",
    ),
    ("parsing:json_fields", ["--schema=a INT, c INT", "--on=a", "--table=T"], "has a column c"),
    ("parsing:json_fields", ["--schema=a INT", "--on=a", "--table=T"], "has '1' twice in a"),
    ("parsing:avro_fields", ["--schema", "{}"], "--schema is no schema of Avro"),
    ("parsing:avro_fields", ["--schema", '"int"'], "--schema is of no record"),
    ("parsing:avro_fields", ["--schema-file", "/none"], "--schema-file is no schema of Avro"),
]


@pytest.mark.parametrize(("operator", "arguments", "sentence"), BAD)
def test_a_bad_argument_is_named(
    streams: Streams, operator: str, arguments: list[str], sentence: str
) -> None:
    table = streams.root / "t.csv"
    table.write_text("a,c\n1,2\n1,3\n")
    given = [one.replace("--table=T", f"--table={table}") for one in arguments]
    with pytest.raises(BadOperator) as refused:
        streams.run([], operator, *given)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("--")


# --- what a batch reads


@pytest.mark.parametrize("sizes", [{"clicks": 1}, {"views": 500, "clicks": 300, "buys": 1}])
def test_however_many_partitions_there_are_the_records_of_each_are_counted(
    spark: SparkSession, sizes: dict[str, int]
) -> None:
    draw = random.Random(7)
    places = [(topic, number) for topic, count in sizes.items() for number in range(count)]
    weights = [1 / (1 + at) for at in range(len(places))]
    read = [(*place, b"k", b"value") for place in draw.choices(places, weights, k=20_000)]
    schema = "topic string, partition int, key binary, value binary"
    rows = spark.createDataFrame(read, schema).repartition(5)
    seen = Observation()
    assigned = {topic: range(count) for topic, count in sizes.items()}
    rows.observe(seen, *counted(assigned)).write.format("noop").mode("overwrite").save()
    found = seen.get
    assert (found["records"], found["bytes"]) == (len(read), 6 * len(read))
    twin = Counter((topic, number) for topic, number, *_ in read)
    assert read_counts([one.asDict() for one in found["of"]], sizes) == twin


def test_of_a_history_that_an_older_build_wrote_what_it_lacks_is_unknown(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = Files(spark, str(tmp_path))
    load = next(day_of_reports(START_MS, random.Random(1), HOUR_MS)).load
    table = pa.Table.from_batches([to_arrow([(*values_of(load, 7), None)])]).drop([UNREADABLE])
    for name, lacking in (("new", []), ("old", ["tasks", "threads"])):
        (tmp_path / name).mkdir()
        parquet.write_table(table.drop(lacking), tmp_path / name / "a.parquet")
    rows = read_rows(spark, files, ["new", "old"]).collect()
    assert {(one["tasks"], one["threads"]) for one in rows} == {
        (load.tasks, load.threads),
        (None, None),
    }
    assert {one["records_in_per_s"] for one in rows} == {load.records_in_per_s}
