"""The page of fields: each question with what it answers, made of the answers' own types.

`python -m turbine.read.tables` writes docs/answers.md; a test holds the page against the types.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from turbine.read.plain import JsonObject, document
from turbine.read.questions import QUESTIONS, Question

PAGE = Path(__file__).resolve().parents[2] / "docs" / "answers.md"
HEAD = """\
# Answers

Each question about a fleet has one answer. A command shows it with `-o json`; the API has it as the
body, or, of a list, as the `items` of a page. `GET` paths are below `/api/v1`. What is unknown is
`null`, never 0.

This page is made of the answers' types: `python -m turbine.read.tables` writes it.
"""


def text() -> str:
    """The page as it should be."""
    first = list({question.kind: question for question in reversed(QUESTIONS)}.values())[::-1]
    parts = [part for question in first for part in _about(question)]
    schemas: JsonObject = {}
    for question in first:
        schemas |= document(question.kind).get("$defs", {})
    told = {question.kind.__name__ for question in first}
    inner = [part for name in sorted(schemas.keys() - told) for part in _table(name, schemas[name])]
    return "\n".join([HEAD, *parts, "## Parts of answers\n", *inner])


def _about(question: Question) -> Iterator[str]:
    schema, each = document(question.kind), "each of " if question.listed else ""
    path = question.path.replace("?limit=1000", "")
    names = {"job": "JOB", "tier": "TIER", "filter": "WORDS", "then": "TIME", "policy": "NAME"}
    yield f"## `{question.command.format(**names)}`\n"
    yield f"`GET {path.format(**names)}`, {each}{question.kind.__name__}: {_said(schema)}\n"
    yield from _rows(schema)


def _table(name: str, schema: JsonObject) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"{_said(schema)}\n"
    yield from _rows(schema)


def _rows(schema: JsonObject) -> Iterator[str]:
    yield "| field | type | meaning |"
    yield "| --- | --- | --- |"
    for name, field in schema["properties"].items():
        meaning = field.get("description", "").replace("|", "\\|")
        yield f"| `{name}` | {_kind(field)} | {meaning} |"
    yield ""


def _said(schema: JsonObject) -> str:
    return " ".join(schema.get("description", "").split())


def _kind(field: JsonObject) -> str:
    """The type of a field in a few words."""
    if "anyOf" in field:
        return " or ".join(_kind(one) for one in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"].rpartition("/")[2])
    match field.get("type"):
        case "array":
            return f"list of {_kind(field['items'])}"
        case "object":
            inner = field.get("additionalProperties")
            return f"object of {_kind(inner)}" if isinstance(inner, dict) else "object"
        case found:
            return str(found or "any")


def main() -> int:
    """Writes the page of all answers."""
    PAGE.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
