"""One spelling for all texts of a query that say the same. Pure.

What a job keeps is named after its query. Comments, blanks and the case of keywords mean nothing to
Spark; whatever may mean something (a name, a text in quotes, a hint) stands as it was written. A
query that is taken for another one is refused; one that was wrongly taken for the same would be
given a state that is not its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORDS = """
    SELECT DISTINCT FROM WHERE GROUP BY HAVING ORDER LIMIT AS AND OR NOT IN IS NULL LIKE BETWEEN
    CASE WHEN THEN ELSE END JOIN INNER LEFT RIGHT FULL OUTER CROSS ON USING UNION ALL EXCEPT
    INTERSECT WITH OVER PARTITION CAST TRUE FALSE ASC DESC LATERAL EXISTS
"""
KEYWORDS = frozenset(_WORDS.split())
_TOKEN = re.compile(
    r"""(?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`)
      |(?P<hint>/\*\+)
      |(?P<block>/\*)
      |(?P<line>--(?:\\\n|[^\r\n])*)
      |(?P<blank>[ \t\r\n\f\v]+)
      |(?P<word>\w+)
      |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_EDGE = re.compile(r"/\*|\*/")
_NAMED = re.compile(r"\s*[.:]")
"""What follows a word that is a name, whatever it is spelled like."""


def plain_sql(query: str) -> str:
    """The query without comments, with single blanks and large keywords; as it is where it holds
    anything that is not surely read as Spark reads it."""
    try:
        tokens = list(_tokens(query))
    except ValueError:
        return query
    said = ""
    for blank, word in tokens:
        if word == ",":
            said = said.rstrip(" ")
        elif said.endswith(",") or (blank and said and not said.endswith("(") and word != ")"):
            said += " "
        said += word
    return said


def _tokens(query: str) -> Iterator[tuple[bool, str]]:
    """What means something, each with whether a blank stands before it; ValueError: unsure."""
    at, blank, before = 0, False, ""
    while at < len(query):
        found = _TOKEN.match(query, at)
        assert found is not None
        kind, text = found.lastgroup, found[0]
        at = found.end()
        if kind == "block":
            at = _after_comment(query, at)
        if kind in ("block", "line", "blank"):
            blank = True
            continue
        if kind == "hint":
            at = _after_comment(query, at)
            text = query[found.start() : at]
        if kind == "other" and text in "'\"`$":  # a quote without its end, or Spark's $$…$$
            raise ValueError(text)
        if kind == "quoted" and before.upper() == "R" and not blank:  # its backslashes are plain
            raise ValueError(text)
        if kind == "word" and before not in (".", "<", "AS") and not _NAMED.match(query, at):
            text = text.upper() if text.upper() in KEYWORDS else text
        yield blank, text
        blank, before = False, text


def _after_comment(query: str, at: int) -> int:
    """Where the comment that was begun is over; one may hold others."""
    depth = 1
    while depth:
        found = _EDGE.search(query, at)
        if found is None:
            raise ValueError("a comment without its end")
        depth += 1 if found[0] == "/*" else -1
        at = found.end()
    return at
