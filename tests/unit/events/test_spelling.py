"""Texts of a query that say the same have one spelling; all others have their own."""

from __future__ import annotations

import pytest

from events.job_config.spelling import KEYWORDS, plain_sql

PLAIN = "SELECT key, count(*) AS n FROM clicks WHERE value <> 'a  b' GROUP BY key"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"  {PLAIN}\n",
        PLAIN.replace(" FROM", "\n\tFROM"),
        PLAIN.replace("SELECT", "select").replace("GROUP BY", "Group by"),
        PLAIN.replace("key, ", "key , ").replace("(*)", "( * )"),
        PLAIN.replace("key, ", "key,"),
        PLAIN.replace(" FROM", " -- who and how often\nFROM"),
        PLAIN.replace(" FROM", " -- it goes on \\\n here\nFROM"),
        PLAIN.replace(" FROM", "/* one /* in another */ -- */FROM"),
        PLAIN + " -- the end",
    ],
)
def test_they_have_one_spelling(text: str) -> None:
    assert plain_sql(text) == PLAIN


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PLAIN, PLAIN.replace("a  b", "a b")),
        (PLAIN, PLAIN.replace("'a  b'", "'A  B'")),
        (PLAIN, PLAIN.replace("clicks", "Clicks")),
        ("SELECT '--a' FROM t", "SELECT '--b' FROM t"),
        ("SELECT 'a\\'--b' FROM t", "SELECT 'a\\'--c' FROM t"),
        ('SELECT "from" FROM t', 'SELECT "FROM" FROM t'),
        ("SELECT `group  by` FROM t", "SELECT `group by` FROM t"),
        ("SELECT m.group FROM t", "SELECT m.GROUP FROM t"),
        ("SELECT group.a FROM t", "SELECT GROUP.a FROM t"),
        ("SELECT a AS from FROM t", "SELECT a AS FROM FROM t"),
        (
            "SELECT CAST(a AS STRUCT<from: INT>) FROM t",
            "SELECT CAST(a AS STRUCT<FROM: INT>) FROM t",
        ),
        ("SELECT /*+ BROADCAST(a) */ a FROM t", "SELECT a FROM t"),
        ("SELECT a - -1 FROM t", "SELECT a FROM t"),
        ("SELECT 'a' 'b' FROM t", "SELECT 'a''b' FROM t"),
    ],
)
def test_what_may_mean_something_stands(one: str, other: str) -> None:
    assert plain_sql(one) != plain_sql(other)


@pytest.mark.parametrize(
    "text", ["select 'a", "select `a", "select /* a", "select r'\\'  from t", "select $$a  b$$ "]
)
def test_what_is_not_surely_read_is_left_as_it_is(text: str) -> None:
    assert plain_sql(text) == text


def test_a_spelling_is_its_own() -> None:
    words = " ".join(sorted(KEYWORDS))
    for text in (PLAIN, words, words.lower(), "( ( a , b ) )", "", "a,,b", "/*+ x */ '(' , ','"):
        assert plain_sql(plain_sql(text)) == plain_sql(text)
