"""A decision of the log as a test: its records, what its component knew, and what it decided.

`turbine log export --as-test` writes the test; it asks `Incident` what the component says now.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.runtime.core.audit.alone import Alone
from components.runtime.core.component import Component
from events.job_config.strict_json import printable
from events.topics import JOURNAL
from events.wire.codec import SKIPPED, Record
from turbine.ops.exporting import Export, ExportRequest
from turbine.read.logics import NEWEST
from turbine.read.moments import show_time
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log, Standing
from turbine.read.sources.log_file import LogFile
from turbine.read.sources.log_lines import LogFileWriter
from turbine_client.errors import BadRequest


class NoIncident(BadRequest):
    """There is no such decision, or none that this build can make again; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Incident:
    """What a component knew of a job at one instant of a log that lies in a file."""

    file: Path
    component: str
    job: str
    evidence: Mapping[str, int]
    tick_ms: int

    def decide(self, kind: str, number: int = 0) -> JsonObject | None:
        """What the component decides now, by the one step: its word of that kind, the first one or
        that of the number; None where it says no such word."""
        component = next(one for one in NEWEST if one.name == self.component)
        said = _decided(Log(source=LogFile(self.file)), component, self)
        words = [one for one in said if one["kind"] == kind]
        return words[number]["body"] if number < len(words) else None


def write_test(log: Log, job: str, decision: str | None, path: Path, beside: Path) -> str:
    """Writes the test, and its records beside it; the decision's kind and id."""
    chosen = _choose(log, job, decision)
    record = chosen.read.record
    component = _component_of(record)
    incident = Incident(beside, component.name, job, dict(record.evidence), record.tick_ms)
    told = _told(record)
    words = [one for one in _decided(log, component, incident) if one["kind"] == record.kind]
    if told not in words:
        raise NoIncident(
            f"{record.kind} {record.id} comes out otherwise in this build, so its test would fail;"
            " `turbine audit` says what differs"
        )
    with LogFileWriter(beside) as lines:
        Export(log, ExportRequest({}, dict(record.evidence), job), lines, bodies=False).write()
    path.write_text(_text(chosen, incident, told["body"], words.index(told)), encoding="utf-8")
    return f"{record.kind} {record.id}"


def _choose(log: Log, job: str, name: str | None) -> Standing:
    """The decision of that id, or the last one that a component made."""
    found = [
        one
        for one in log.decisions(job=job)
        if (name is None and one.stands) or one.read.record.id == name
    ]
    if not found:
        what = f"no decision {name}" if name else "no decision that stands"
        raise NoIncident(
            f"the log has {what} about {job}; `turbine log tail --topic journal --job {job}"
            " -o wide` shows ids"
        )
    return found[-1] if name is None else found[0]


def _component_of(record: Record) -> Component[Any]:
    for one in NEWEST:
        if one.name == record.source and one.output == JOURNAL:
            if record.logic == one.logic and record.body not in (None, SKIPPED):
                return one
            break
    raise NoIncident(
        f"{record.kind} {record.id} was made by {printable(record.source[:80])} with the logic"
        f" {printable(record.logic[:80])}, which this build does not run; use the build that does"
    )


def _decided(log: Log, component: Component[Any], incident: Incident) -> list[JsonObject]:
    append_times = log.source.append_times()
    try:
        reads = log.read(
            component.inputs,
            kinds=component.folds | component.says,
            end=incident.evidence,
            key=incident.job,
        )
        places = log.places(component.inputs, key=incident.job)
        one = Alone(component, places, append_times.possible, incident.job, incident.evidence)
        for read in reads:
            one.read(read)
        one.end()
        said = one.say(incident.tick_ms)
    finally:
        append_times.close()
    return [_told(record) for topic, record in said if topic == component.output]


def _told(record: Record) -> JsonObject:
    assert record.body is not None
    return {"kind": record.kind, "body": record.body.to_plain()}


def _text(chosen: Standing, incident: Incident, told: JsonObject, number: int) -> str:
    record = chosen.read.record
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", record.kind).lower()
    name = re.sub(r"\W", "_", incident.job)
    when = show_time(record.tick_ms)
    return f'''"""{record.kind} about {incident.job}, decided {when}, as a test.

Written by `turbine log export`. The records that the {incident.component} had read lie
in {incident.file.name}; it reads them again, and has to decide the same.
"""

from pathlib import Path

from turbine.ops.incident import Incident

INCIDENT = Incident(
    Path(__file__).with_suffix(".log.gz"),
    component={_literal(incident.component)},
    job={_literal(incident.job)},
    evidence={_literal(dict(sorted(incident.evidence.items())), "    ")},
    tick_ms={incident.tick_ms},
)
DECIDED = {_literal(told)}


def test_{words}_about_{name}() -> None:
    """The one step, on what was known then."""
    assert INCIDENT.decide({_literal(record.kind)}{f", {number}" if number else ""}) == DECIDED
'''


def _literal(value: object, indent: str = "") -> str:
    """As Python, a line for each value of what holds several."""
    deeper = indent + "    "
    match value:
        case dict() if value:
            rows = [f"{_text_of(key)}: {_literal(one, deeper)}" for key, one in value.items()]
            start, end = "{}"
        case list() if value:
            rows = [_literal(one, deeper) for one in value]
            start, end = "[]"
        case str():
            return _text_of(value)
        case _:
            return repr(value)
    return "\n".join([start, *(f"{deeper}{row}," for row in rows), indent + end])


def _text_of(value: object) -> str:
    return json.dumps(value)  # of a text, Python's own literal as well
