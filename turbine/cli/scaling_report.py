"""What the auto scaler said, for people: `why` of its records and of a job, and `why-not`."""

from __future__ import annotations

import json

from typer import Context

from events.generated.records import RECORDS, ScalingReverted, ScalingVerified, from_plain
from events.job_config.strict_json import shorten
from events.sentences.scaling import outline
from events.topics import JOURNAL
from turbine.cli.columns import Cell, beside, first, known, listed, part, short
from turbine.cli.options import At, JobName, Shown, check_job
from turbine.cli.output import facts, show, some
from turbine.cli.reading import existed, existing_job, jobs_view, open_until
from turbine.read.answers.decision import DecisionDetail, detail_of, find_request
from turbine.read.answers.hindrance import hindrance
from turbine.read.answers.journal import DecisionHead, line_of, parsed
from turbine.read.answers.lines import line_in
from turbine.read.answers.scaling import ACTIONS, SHOWN, flat, scaling_of, size_of, words_of
from turbine.read.answers.why_not import AskedAgain, WhyNot
from turbine.read.answers.why_not import why_not as answer_to
from turbine.read.moments import show_time
from turbine.read.plain import JsonObject, plain
from turbine.read.state.framed import FramedLog
from turbine_client.errors import BadRequest

EVIDENCE_ROWS = 60
"""Of one record: more are the business of a program, which reads the JSON."""


# --- one record


def text_of(word: DecisionDetail) -> str:
    """All that a record of the scaler says, and what became of it."""
    body: JsonObject = word.body or {}
    assert word.scaling is not None, "it is a word of the scaler"
    match word.kind:
        case "ScalingDecided":
            parts = [_decided(body, word.before or {})]
        case "ScalingDeclined":
            parts = [_declined(body)]
        case _:
            parts = [_closed(word.kind, body, word.scaling.decided)]
    titles = "CONSTRAINT=name, BEFORE:short, AFTER:short, NOTE"
    parts += part(body.get("constraints", ()), titles)  # what each made of the number, in order
    parts += part(body.get("alternatives", ()), "NOT TAKEN=action, BECAUSE=reason")
    parts += _values("EVIDENCE", word.scaling.evidence) + _measured(word.scaling.measures)
    parts += part(word.became or (), "THEN=at_ms:time, KIND, WHAT=text, ID")
    if not word.became and word.kind == "ScalingDecided" and word.stands:
        parts.append(_nothing_yet(body))
    return "\n\n".join(parts)


def _decided(body: JsonObject, before: JsonObject) -> str:
    return facts(
        [
            ("action", body["action"]),
            ("of", size_of(before)),
            ("policy", f"{body['policy'] or '-'}, mode {body['mode']}"),
            ("because", body["explanation"]),
            ("symptom", body["symptom"]),
            ("cause", body["diagnosis"]),
            ("tasks", _tasks(body)),
            ("set", body["set_json"]),
            *some("clear", ", ".join(body["clear"])),
            ("expected", _expected(body)),
            ("change", body["change_id"] if body["mode"] == "act" else None),
        ]
    )


def _tasks(body: JsonObject) -> str:
    """Those of another size are not so many of the size before."""
    resized = "threads_per_task" in parsed(body["set_json"])
    more = " of the size before" if resized else ""
    return f"{body['raw_tasks']}{more} wanted, {body['final_tasks']} decided"


def _expected(body: JsonObject) -> str:
    rate, by_ms = body["expected_records_per_s"], body["verify_ms"]
    if body["mode"] != "act":
        by_ms = None  # what is only shown is held against nothing
    wanted = "" if rate is None else f"{short(rate)} records/s can be read"
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
            *some("until", body["until_ms"] and show_time(body["until_ms"])),
            *some("gave up", body["change_id"] and f"change {body['change_id']}"),
        ]
    )


def _closed(kind: str, body: JsonObject, decided: DecisionHead | None) -> str:
    record = from_plain(RECORDS[kind], body)
    assert isinstance(record, ScalingVerified | ScalingReverted), "the others close nothing"
    decision: list[tuple[str, object]] = []
    if decided is not None:
        was: JsonObject = decided.body or {}
        decision = [
            ("of", f"{was['action']}, decided {show_time(decided.at_ms)} ({decided.id})"),
            ("which said", decided.summary),
            ("expected", _expected(was)),
        ]
    back = body.get("revert_change_id")
    return facts(
        [
            ("outcome", outline(record)),
            ("because", body["explanation"]),
            *decision,
            ("change", body["change_id"]),
            *some("taken back by", back and f"change {back}"),
        ]
    )


def _measured(measures: JsonObject) -> list[str]:
    """Before and after side by side, where it has both and they are objects."""
    before, after = measures.get("before"), measures.get("after")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return _values("MEASURED", measures)
    sides = {"BEFORE": dict(flat(before)), "AFTER": dict(flat(after))}
    rest = {name: value for name, value in measures.items() if name not in ("before", "after")}
    both = [beside("MEASURED", sides, short)] if any(sides.values()) else []
    return [*both, *_values("MEASURED", rest)]


def _values(title: str, values: JsonObject) -> list[str]:
    rows = [{"name": name, "value": value} for name, value in flat(values)]
    cells: dict[str, Cell] = {"VALUE": lambda one: known(one["name"], one["value"])}
    return [first(rows, EVIDENCE_ROWS, f"{title}=name, VALUE", cells)] if rows else []


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
    decisions = listed(row["decisions"], "DECIDED=at_ms:time, KIND, SAYS=summary, ID")
    parts += [decisions, f"the last of them: {head}", text_of(last)]
    return "\n\n".join(parts)


def _standing(row: JsonObject) -> list[tuple[str, object]]:
    """How it is and why, ahead of all that is about its size."""
    tasks = f"{row['running']} of {row['tasks']} tasks run"
    return [
        ("state", f"{row['state']}, {tasks}"),
        *some("because", row["because"]),
        *some("since", row["since_ms"] and show_time(row["since_ms"])),
        *some("type", row["todo"]),
        *some("decision", row["decision"]),
    ]


def silence(*, alive: bool, mode: str) -> str:
    """Why the scaler said nothing of the job."""
    if not alive:
        return "nothing was said about its size"
    if mode == "off":
        return "nobody decides about its size: its policy is off"
    return "nothing was said about its size yet; is the auto scaler running?"


def why_not(
    context: Context, name: JobName, *, action: str, at: At = None, output: Shown = "table"
) -> int:
    """Say why the auto scaler did not do something about a job, and what would have made it.

    What stood against it, and when, the newest first. Then the last verdict is asked about again:
    the policy looks at what it looked at then, with one input or one setting changed, and the
    nearest changes are told with which it comes to the action.

    --action ACTION: Such as scale-up or scale-down.
    """
    check_job(name)
    _check_action(action)
    log, end = open_until(context, at, [JOURNAL])
    job = existing_job(log, name, at, end)
    answer = answer_to(log, job, log.decisions(job=name, end=end), action)
    return show(plain(answer), output, lambda: _text(answer))


def _check_action(action: str) -> None:
    if action not in ACTIONS:
        raise BadRequest(
            f"--action: there is no action {shorten(action)}; use one of {', '.join(ACTIONS)}"
        )


# --- told


def _text(answer: WhyNot) -> str:
    head = f"{answer.job}: policy {answer.policy}, mode {answer.mode}"
    if not answer.reasons:
        return f"{head}\n{silence(alive=answer.alive, mode=answer.mode)}"
    newest = answer.reasons[0]
    verdict = "it was taken" if newest.taken else f"no {answer.action}"
    told = f"{verdict}, {show_time(newest.at_ms)}: {newest.text}"
    parts = [
        head,
        told,
        "",
        listed(answer.reasons, "WHEN=at_ms:time, WHY=text, UNTIL=until_ms:time, ID"),
    ]
    return "\n".join([*parts, *_asked_again(answer.asked, answer.action)])


def _asked_again(asked: AskedAgain | None, action: str) -> list[str]:
    """What would have made it, the nearest first."""
    if asked is None:
        return []
    head = f"the last verdict, {show_time(asked.at_ms)} ({asked.position})"
    if not asked.rebuilt:
        return ["", f"{head}: the log does not tell any more what it was made on"]
    lines = ["", f"{head}: {asked.verdict}, {asked.explanation}"]
    if not asked.same:
        lines.append("this build comes to another word on the same evidence; what follows is its")
    if asked.already:
        still = f"; what stood against it: {asked.hindered}" if asked.hindered else ""
        return [*lines, f"the policy came to {action} itself{still}"]
    enough = asked.counterfactuals or ()
    if not enough:
        none = f"no single change of its {asked.tried} inputs and settings makes it {action}"
        return [*lines, none]
    lines += [f"  {one.text}" for one in enough[:SHOWN]]
    hidden = len(enough) - SHOWN
    return [*lines, *([f"  and {hidden} more; -o json has all"] if hidden > 0 else [])]
