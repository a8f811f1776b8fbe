"""`audit`: every decision of the log made again, or those since the last time."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Literal

from typer import Context

from components.auditor.bulk import LogAudit
from components.auditor.kept import keep, open_kept
from components.runtime.core.audit.judging import VERDICTS, AuditFinding
from events.topics import JOURNAL
from turbine.cli.columns import listed
from turbine.cli.files import writing
from turbine.cli.options import At, open_log
from turbine.cli.output import show_value, write
from turbine.failures import Code
from turbine.read.logics import AUDITED
from turbine.read.moments import given_moment
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log
from turbine.read.state.instants import log_at, position_at

DIFFERENCES_MOST = 1_000
"""That are told one by one; all of them are counted."""


def audit(
    context: Context,
    *,
    at: At = None,
    resume: Path | None = None,
    from_: str | None = None,
    output: Literal["table", "json", "yaml"] = "table",
) -> int:
    """Make every decision again, and compare.

    From its evidence and byte by byte. Exit code 5 where one comes out otherwise. What claims to
    have known the future is impossible, and void; what a logic or a policy made that this
    build does not have, or what rests on records that have expired, is not checkable.

    With --resume only what was said since the last time is judged. --from reads all that lies
    before, too, since decisions rest on it.

    --resume FILE: Go on from there, and keep there how far it came.
    --from TIME|POSITION: Only what was decided from there on.
    -o, --output: Form of the output.
    """
    moment, until = given_moment(from_, "--from"), given_moment(at)
    log = log_at(open_log(context), until)
    topics = log.audited()
    since = {} if moment is None else position_at(log, moment, topics, "--from")
    counts, found, unjudged = _run(log, resume, since)
    rows = [_row(family[0].name, counts.get(family[0].name)) for family in AUDITED]
    _show(rows, found, unjudged, output)
    return Code.FINDINGS if any(row["differs"] for row in rows) else Code.OK


def _run(
    log: Log, resume: Path | None, since: dict[str, int]
) -> tuple[dict[str, Counter[str]], list[JsonObject], list[JsonObject]]:
    """The verdicts of this time, the differences among them, and why others are not checkable."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    found: list[JsonObject] = []
    unjudged: Counter[tuple[str, str]] = Counter()
    with _opened(log, resume, since) as audit:
        for finding in audit.run():
            counts[finding.component][finding.verdict] += 1
            if finding.verdict == "differs" and len(found) < DIFFERENCES_MOST:
                found.append(_difference(finding))
            elif finding.verdict == "not checkable":
                unjudged[finding.component, finding.sentence] += 1
        if resume is not None:
            remedy = "the audit is done, and name another file to go on from the next time"
            with writing(str(resume), remedy):
                keep(resume, audit.audit, audit.counts, log.cluster)
    return counts, found, [_unjudged(*why, count) for why, count in unjudged.most_common()]


def _unjudged(component: str, sentence: str, count: int) -> JsonObject:
    return {"component": component, "count": count, "sentence": sentence}


def _opened(log: Log, resume: Path | None, since: dict[str, int]) -> LogAudit:
    kept, families = None, log.families()
    if resume is not None:
        kept = open_kept(resume, families, log.counts[JOURNAL], log.cluster)
    return log.open_audit(families, kept=kept, since=since)


def _row(name: str, counts: Counter[str] | None) -> JsonObject:
    return {
        "component": name,
        **{one.replace(" ", "_"): counts[one] if counts else 0 for one in VERDICTS},
    }


def _difference(finding: AuditFinding) -> JsonObject:
    read, record = finding.read, finding.read.record
    return {
        "position": f"{read.place}:{read.offset}",
        "component": finding.component,
        "job": record.key,
        "kind": record.kind,
        "id": record.id,
        "logic": record.logic,
        "byte": finding.byte,
        "field": finding.field,
        "sentence": finding.sentence,
    }


def _show(
    rows: list[JsonObject], found: list[JsonObject], unjudged: list[JsonObject], output: str
) -> None:
    if output != "table":
        show_value({"components": rows, "differences": found, "not_checkable": unjudged}, output)
        return
    for one in found:
        write(f"{one['position']} {one['kind']} {one['id']}: {one['sentence']}")
    left = sum(row["differs"] for row in rows) - len(found)
    if left:
        write(f"and {left} more")
    for one in unjudged:
        write(f"{one['count']} of {one['component']} not checkable: {one['sentence']}")
    write(listed(rows, "COMPONENT, SAME, DIFFERS, IMPOSSIBLE, NOT CHECKABLE"))
