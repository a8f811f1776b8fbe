"""What the auto scaler said, for people: `why` of its records and of a job."""

from __future__ import annotations

import json
from collections.abc import Sequence

from events.generated.records import RECORDS, ScalingReverted, ScalingVerified, from_plain
from events.sentences.scaling import outline
from turbine.cli.columns import listed, part
from turbine.cli.output import Column, cell_text, facts, show, table_text
from turbine.cli.reading import existed, jobs_view
from turbine.read.answers.decision import DecisionDetail, detail_of, find_request
from turbine.read.answers.hindrance import hindrance
from turbine.read.answers.journal import DecisionHead, line_of, parsed
from turbine.read.answers.lines import line_in
from turbine.read.answers.scaling import (
    ACTIONS,
    SHOWN,
    Consequence,
    flat,
    scaling_of,
    size_of,
    words_of,
)
from turbine.read.moments import show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.state.framed import FramedLog

INSTANT_MS = 10**12
"""Of 2001: what is less is no instant of any log, but a length of time."""
CELL_CHARS = 100
"""Of a list in the evidence: all of it stands in the JSON."""
EVIDENCE_ROWS = 60
"""Of one record: more are the business of a program, which reads the JSON."""


# --- one record


def text_of(word: DecisionDetail) -> str:
    """All that a record of the scaler says, and what became of it."""
    body: JsonObject = word.body or {}
    assert word.scaling is not None, "it is a word of the scaler"
    match word.kind:
        case "ScalingDecided":
            parts = _decided(body, word.before or {})
        case "ScalingDeclined":
            parts = [_declined(body), *_constraints(body)]
        case _:
            parts = [_closed(word.kind, body, word.scaling.decided)]
    parts += _values("EVIDENCE", word.scaling.evidence) + _measured(word.scaling.measures)
    if word.became:
        parts.append(_became(word.became))
    elif word.kind == "ScalingDecided" and word.stands:
        parts.append(_nothing_yet(body))
    return "\n\n".join(parts)


def _decided(body: JsonObject, before: JsonObject) -> list[str]:
    pairs: list[tuple[str, object]] = [
        ("action", body["action"]),
        ("of", size_of(before)),
        ("policy", f"{body['policy'] or '-'}, mode {body['mode']}"),
        ("because", body["explanation"]),
        ("symptom", body["symptom"]),
        ("cause", body["diagnosis"]),
        ("tasks", _tasks(body)),
        ("set", body["set_json"]),
        *([("clear", ", ".join(body["clear"]))] if body["clear"] else []),
        ("expected", _expected(body)),
        ("change", body["change_id"] if body["mode"] == "act" else None),
    ]
    parts = [facts(pairs), *_constraints(body)]
    if body["alternatives"]:
        parts.append(listed(body["alternatives"], "NOT TAKEN=action, BECAUSE=reason"))
    return parts


def _constraints(body: JsonObject) -> list[str]:
    """What each made of the number, in order."""
    numbers = {
        "BEFORE": lambda one: _number(one["before"]),
        "AFTER": lambda one: _number(one["after"]),
    }
    return part(body["constraints"], "CONSTRAINT=name, BEFORE, AFTER, NOTE", numbers)


def _tasks(body: JsonObject) -> str:
    """Those of another size are not so many of the size before."""
    resized = "threads_per_task" in parsed(body["set_json"])
    more = " of the size before" if resized else ""
    return f"{body['raw_tasks']}{more} wanted, {body['final_tasks']} decided"


def _expected(body: JsonObject) -> str:
    rate, by_ms = body["expected_records_per_s"], body["verify_ms"]
    if body["mode"] != "act":
        by_ms = None  # what is only shown is held against nothing
    wanted = "" if rate is None else f"{_number(rate)} records/s can be read"
    by = "" if by_ms is None else f"looked at again {show_time(by_ms)}"
    return ", ".join(filter(None, (wanted, by))) or "nothing that is looked at later"


def _declined(body: JsonObject) -> str:
    return facts(
        [
            *([("action", f"{body['action']}, not taken")] if body["action"] in ACTIONS else []),
            ("reason", body["reason"]),
            ("because", body["explanation"]),
            ("policy", f"{body['policy'] or '-'}, mode {body['mode']}"),
            ("symptom", body["symptom"]),
            ("cause", body["diagnosis"]),
            *([("until", show_time(body["until_ms"]))] if body["until_ms"] else []),
            *([("gave up", f"change {body['change_id']}")] if body["change_id"] else []),
        ]
    )


def _closed(kind: str, body: JsonObject, decided: DecisionHead | None) -> str:
    record = from_plain(RECORDS[kind], body)
    assert isinstance(record, ScalingVerified | ScalingReverted), "the others close nothing"
    outcome = outline(record)
    pairs: list[tuple[str, object]] = [("outcome", outcome), ("because", body["explanation"])]
    if decided is not None:
        was: JsonObject = decided.body or {}
        pairs += [
            ("of", f"{was['action']}, decided {show_time(decided.at_ms)} ({decided.id})"),
            ("which said", decided.summary),
            ("expected", _expected(was)),
        ]
    pairs.append(("change", body["change_id"]))
    if body.get("revert_change_id"):
        pairs.append(("taken back by", f"change {body['revert_change_id']}"))
    return facts(pairs)


def _measured(measures: JsonObject) -> list[str]:
    """Before and after side by side, where it has both and they are objects."""
    before, after = measures.get("before"), measures.get("after")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return _values("MEASURED", measures)
    sides = dict(flat(before)), dict(flat(after))
    rows = [{"name": name} for name in dict.fromkeys([*sides[0], *sides[1]])]
    rest = {name: value for name, value in measures.items() if name not in ("before", "after")}
    numbers = {
        "BEFORE": lambda one: _number(sides[0].get(one["name"])),
        "AFTER": lambda one: _number(sides[1].get(one["name"])),
    }
    return [*part(rows, "MEASURED=name, BEFORE, AFTER", numbers), *_values("MEASURED", rest)]


def _values(title: str, values: JsonObject) -> list[str]:
    rows = [{"name": name, "value": value} for name, value in flat(values)]
    if not rows:
        return []
    columns = [
        Column(title, lambda one: one["name"]),
        Column("VALUE", lambda one: _value(one["name"], one["value"])),
    ]
    text = table_text(rows[:EVIDENCE_ROWS], columns)
    hidden = len(rows) - EVIDENCE_ROWS
    return [text + (f"\nand {hidden} more; -o json has all" if hidden > 0 else "")]


def _value(name: str, value: object) -> object:
    """An instant as one; whatever else as it is."""
    instant = isinstance(value, int) and name.endswith("_ms") and value >= INSTANT_MS
    return show_time(value) if instant and isinstance(value, int) else _number(value)


def _number(value: object) -> object:
    """Numbers short; unknown is a dash; lists cut."""
    if isinstance(value, float):
        return f"{value:,.6g}"
    if value is None or isinstance(value, bool | int | str):
        return value
    text = cell_text(value)
    return text if len(text) <= CELL_CHARS else text[: CELL_CHARS - 1] + "…"


def _became(events: Sequence[Consequence]) -> str:
    return listed(events, "THEN=at_ms:time, KIND, WHAT=text, ID")


def _nothing_yet(body: JsonObject) -> str:
    if body["mode"] != "act":
        return f"nothing came of it: in mode {body['mode']} nothing is proposed"
    return "nothing came of it yet: its change has no verdict; is the job service running?"


# --- a job


def why_job(log: FramedLog, name: str, output: str) -> int | None:
    """Why a job does not run as it should, then the last words about its size, the newest in full;
    None where there is no such job."""
    job = log.job(name)
    if job is None or not existed(job):
        return None
    decisions = log.decisions(job=name)
    words = words_of(decisions)
    view = jobs_view(log, None)
    row = {"job": name, "alive": job.alive}
    row["standing"] = hindrance(
        job,
        view.jobs[name].sync,
        line_in(view, name),
        decisions,
        lambda change: find_request(log, change, name),
        tiers=view.tiers,
    )
    row |= plain(scaling_of(job, decisions))
    row["expected"] = json.loads(job.expected_json)
    row["decisions"] = [plain(line_of(one)) for one in words[-SHOWN:]]
    last = detail_of(log, decisions, words[-1]) if words else None
    row["last"] = plain(last)
    return show(row, output, lambda: _job_text(row, last))


def _job_text(row: JsonObject, last: DecisionDetail | None) -> str:
    parts = [
        facts([("job", row["job"]), *_standing(row["standing"])]),
        facts(
            [
                ("size", size_of(row["expected"]) if row["alive"] else "none: it is deleted"),
                ("policy", f"{row['policy']}, mode {row['mode']}" if row["alive"] else None),
                ("the scaler's layer", row["layer"] or None),
            ]
        ),
    ]
    if last is None:
        return "\n\n".join([*parts, silence(alive=row["alive"], mode=row["mode"])])
    head = f"{last.kind}, {show_time(last.at_ms)} ({last.id})"
    parts += [decisions_text(row["decisions"]), f"the last of them: {head}", text_of(last)]
    return "\n\n".join(parts)


def _standing(row: JsonObject) -> list[tuple[str, object]]:
    """How it is and why, ahead of all that is about its size."""
    tasks = f"{row['running']} of {row['tasks']} tasks run"
    pairs: list[tuple[str, object]] = [("state", f"{row['state']}, {tasks}")]
    if row["because"]:
        pairs.append(("because", row["because"]))
    if row["since_ms"]:
        pairs.append(("since", show_time(row["since_ms"])))
    if row["todo"]:
        pairs.append(("type", row["todo"]))
    if row["decision"]:
        pairs.append(("decision", row["decision"]))
    return pairs


def silence(*, alive: bool, mode: str) -> str:
    """Why nothing was said."""
    if not alive:
        return "nothing was said about its size"
    if mode == "off":
        return "nobody decides about its size: its policy is off"
    return "nothing was said about its size yet; is the auto scaler running?"


def decisions_text(decisions: list[JsonObject]) -> str:
    """A line each."""
    return listed(decisions, "DECIDED=at_ms:time, KIND, SAYS=summary, ID")


def section(row: JsonObject) -> str:
    """What `describe job` says of scaling."""
    last = row["last"]
    pairs: list[tuple[str, object]] = [("scaling", f"policy {row['policy']}, mode {row['mode']}")]
    if last is not None:
        pairs += [
            ("last word", f"{last['kind']}, {show_time(last['at_ms'])}"),
            ("which says", last["summary"]),
            ("more", f"turbine why {row['job']}"),
        ]
    return facts(pairs)
