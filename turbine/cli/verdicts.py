"""What became of requests, and what would: lines of each job, and the exit code of them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from events.job_config.strict_json import printable
from turbine.cli.output import show
from turbine.failures import Code, code_of_rejection
from turbine.read.answers.costs import sentences
from turbine.read.differences import ABSENT, Difference
from turbine.read.plain import JsonObject
from turbine_client.verdicts import Accepted, Verdict


def row_of(verdict: Verdict) -> JsonObject:
    """A verdict as JSON."""
    row = {**asdict(verdict), "verdict": type(verdict).__name__.lower()}
    if not row["change_id"]:
        del row["change_id"]  # nothing was sent
    return row


def asked_row(verdict: Verdict, verb: str, *, table: bool) -> JsonObject:
    """The verdict on what an operator asked; people read what is planned or in effect."""
    row = row_of(verdict)
    if not isinstance(verdict, Accepted):
        return row
    # No layer changed, so there is no version to tell.
    del row["layer"], row["version"]
    if table:
        effect = verdict.effect
        row["verdict"] = f"{verb} planned" if effect == "planned" else effect
    return row


def show_verdicts(rows: Sequence[JsonObject], output: str, *, dry_run: bool = False) -> int:
    """Each job's verdict; the exit code is that of the failures if they agree on one."""
    show(list(rows), output, lambda: "\n".join(_text(row, dry_run=dry_run) for row in rows))
    codes = {_code(row) for row in rows} - {Code.OK}
    return (codes.pop() if len(codes) == 1 else Code.FAILED) if codes else Code.OK


def _code(row: JsonObject) -> Code:
    match row["verdict"]:
        case "rejected":
            return code_of_rejection(row["reason"])
        case "unknown":
            return Code.TIMEOUT
        case _:
            return Code.OK


def _text(row: JsonObject, *, dry_run: bool) -> str:
    text = _sentence(row, "would be " if dry_run else "")
    if "change_id" in row and row["verdict"] not in ("unknown", "unchanged"):
        text += f" (change {row['change_id']})"
    return "\n".join([printable(text), *(f"  {one}" for one in _below(row, dry_run=dry_run))])


def _sentence(row: JsonObject, would: str) -> str:
    job = row["job"]
    match row["verdict"]:
        case "accepted":
            return f"{job}: {would}accepted as version {row['version']} of {row['layer']}"
        case "rejected" if row.get("findings"):
            return f"{job}: {would}rejected, {row['reason']}:"
        case "rejected":
            return f"{job}: {would}rejected, {row['reason']}: {row['explanation']}"
        case "unknown":
            return f"{job}: unknown: {row['explanation']}"
        case "unchanged":
            return f"{job}: unchanged, version {row['version']} of {row['layer']}"
        case "waits":
            return f"{job}: would wait: {row['explanation']}"
        case verdict if verdict.startswith("not sent"):
            return f"{job}: {verdict}"
        case verdict if would and verdict.endswith(" planned"):
            return f"{job}: {verdict.removesuffix(' planned')} {would}planned"
        case verdict:
            return f"{job}: {would}{verdict}"


def _below(row: JsonObject, *, dry_run: bool) -> Iterator[str]:
    """What is wrong, what differs, what it costs."""
    for one in row.get("findings", ()):
        yield printable(one["sentence"])
    differences = row.get("differences", ())
    for one in differences:
        yield str(Difference(one["path"], one.get("before", ABSENT), one.get("after", ABSENT)))
    if dry_run and row["verdict"] == "accepted" and not differences:
        yield "nothing would differ"
    if row.get("cost"):
        yield from map(printable, sentences(row["cost"]))
