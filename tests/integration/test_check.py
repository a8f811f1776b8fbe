"""`turbine check` with a real Spark: a sentence for each way in which an operator can be wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.turbine.lines import run
from turbine.failures import Code

pytestmark = pytest.mark.slow

MODULE = """
import sys
print("this is no answer")
def fine(rows, context):
    return rows.selectExpr("key", "value:n::int AS n")
def one(rows):
    return rows
def raises(rows, context):
    return 1 / 0
def leaves(rows, context):
    sys.exit(3)
def nothing(rows, context):
    return [rows]
def table(rows, context):
    return rows.sparkSession.range(3)
def other(rows, context):
    more = rows.sparkSession.readStream.format("rate").load()
    return rows.select("key").union(more.selectExpr("CAST(value AS STRING) AS key"))
def twice(rows, context):
    return rows.alias("a").join(rows.alias("b"), "key").select("key")
def topic(rows, context):
    return context.input("view")
def column(rows, context):
    return rows.select("country")
def count(rows, context):
    return rows.groupBy("key").count()
def same(rows, context):
    return rows.selectExpr("key", "1 AS a", "2 AS a")
def dies(rows, context):
    import os
    os._exit(9)
"""
LIBRARY = "spark_streaming.operators."
WINDOW = ["--window", "1 minute"]


def sql(text: str) -> dict[str, str]:
    return {"sql": text}


WRONG: list[tuple[str, Any, str]] = [
    ("no-module", "authr:fine", "operator authr:fine: there is no module authr; install the job's"),
    ("no-function", "author:fin", "operator author:fin: author has no function fin"),
    ("signature", "author:one", "operator author:one: it has to take two arguments, a DataFrame"),
    ("raises", "author:raises", "operator author:raises failed with ZeroDivisionError: division"),
    ("leaves", "author:leaves", "operator author:leaves failed with SystemExit: 3"),
    ("no-rows", "author:nothing", "operator author:nothing: it has to return a DataFrame, and"),
    ("no-stream", "author:table", "operator author:table: what it returns is no stream; make it"),
    ("two-streams", "author:other", "operator author:other: it reads 2 streams; take each use of"),
    ("twice", "author:twice", "operator author:twice: it reads 2 streams; take each use of an inp"),
    ("no-topic", "author:topic", "there is no input view; the job reads clicks, views"),
    ("no-column", "author:column", "operator author:column: [UNRESOLVED_COLUMN.WITH_SUGGESTION]"),
    ("no-append", "author:count", "no stream can run this: [STREAMING_OUTPUT_MODE.UNSUPPORTED_OP"),
    ("two-names", "author:same", "operator author:same: [AMBIGUOUS_REFERENCE]"),
    ("argument", f"{LIBRARY}windows:sessionised", "'--window' is no argument of this operator; it"),
    ("syntax", sql("SELEC key FROM clicks"), "operator query: [PARSE_SYNTAX_ERROR]"),
    ("sql-column", sql("SELECT nope FROM clicks"), "operator query: [UNRESOLVED_COLUMN.WITH_SUGG"),
    ("sql-topic", sql("SELECT key FROM click"), "operator query: [TABLE_OR_VIEW_NOT_FOUND]"),
    (
        "sql-append",
        sql("SELECT key, count(*) AS n FROM clicks GROUP BY key"),
        "no stream can run this: [STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION]",
    ),
]  # fmt: skip
COUNTED = [
    ("key", "BINARY"),
    ("window_start", "TIMESTAMP"),
    ("window_end", "TIMESTAMP"),
    ("count", "BIGINT"),
]
JOINED = sql("SELECT c.key, v.value:n::int AS n FROM clicks c JOIN views v ON c.key = v.key")
OK: list[tuple[str, Any, bool, list[tuple[str, str]]]] = [
    ("fine", "author:fine", False, [("key", "BINARY"), ("n", "INT")]),
    ("counted", f"{LIBRARY}windows:counted", True, COUNTED),
    ("joined", JOINED, True, [("key", "BINARY"), ("n", "INT")]),
]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What is said of all of them, asked once: a Spark takes seconds to start."""
    folder = tmp_path_factory.mktemp("author")
    (folder / "author.py").write_text(MODULE)
    jobs = [(name, operator) for name, operator, *_ in (*WRONG, *OK)]
    documents = [
        {
            "job": name,
            "operator": operator,
            "inputs": [{"topic": one, "format": "json"} for one in ("clicks", "views")],
            "package": {"name": "author", "version": "1"},
            "checkpoint": {"root": "/checkpoints"},
            "arguments": WINDOW,
        }
        for name, operator in [*jobs, ("dies", "author:dies")]
    ]
    (folder / "jobs.yaml").write_text("".join(f"---\n{json.dumps(one)}\n" for one in documents))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        ended = run("check", "jobs.yaml", "-o", "json")
    assert (ended.code, ended.err) == (Code.FAILED, "")
    found = json.loads(ended.out)
    assert [one["job"] for one in found] == [one["job"] for one in documents]
    return {one["job"]: one for one in found}


@pytest.mark.parametrize(("name", "operator", "sentence"), WRONG, ids=[one[0] for one in WRONG])
def test_what_is_wrong_is_said(
    rows: dict[str, dict[str, Any]], name: str, operator: object, sentence: str
) -> None:
    assert rows[name]["verdict"] == "wrong"
    assert rows[name]["explanation"].startswith(sentence)
    assert rows[name]["place"].startswith("jobs.yaml, line ")


@pytest.mark.parametrize(("name", "operator", "stateful", "columns"), OK)
def test_what_could_run_is_described(
    rows: dict[str, dict[str, Any]],
    name: str,
    operator: object,
    stateful: bool,
    columns: list[tuple[str, str]],
) -> None:
    row = rows[name]
    assert (row["verdict"], row.get("explanation")) == ("ok", None)
    assert row["stateful"] is stateful
    assert [(one["name"], one["type"]) for one in row["columns"]] == columns


def test_topics_that_could_be_meant_are_named(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["sql-topic"]["explanation"].endswith("; the job reads `clicks`, `views`")


def test_an_operator_that_ends_the_process_is_a_finding(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["dies"]["explanation"].startswith("the process ended (")
