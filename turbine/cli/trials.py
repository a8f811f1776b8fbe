"""`--dry-run`: what would be said of requests, by the components' own functions. Sends nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from events.generated.records import Body, JobConfigRejected, JobDeleteRequested
from projections.jobs import Job
from projections.syncs import Sync
from turbine.cli.plans import ChangeTerms, PlannedChange
from turbine.cli.reading import names_in
from turbine.cli.verdicts import asked_row, row_of
from turbine.ops.tiers import tiers_in
from turbine.read.answers.costs import cost_of, steps_of, times_of
from turbine.read.answers.trial import (
    ChangeTrial,
    Request,
    told,
    try_change,
    try_deletion,
    try_request,
)
from turbine.read.differences import differences
from turbine.read.moments import now_ms
from turbine.read.plain import JsonObject
from turbine.read.sources.log import Log
from turbine.read.state.running import Sightings
from turbine_client.creating import in_words, makes_a_job, no_such_tier, not_meant, tier_of

Seen = Mapping[str, tuple[Sync, Sightings]]


WAITS = "its tasks are being started, which is brought to its end first"


def trial_rows(
    plans: Iterable[PlannedChange], jobs: Mapping[str, Job], terms: ChangeTerms, log: Log
) -> list[JsonObject]:
    """The verdict on each change, what would differ, and what it would cost."""
    rows, verdicts = [], {}
    seen = seen_in(log) if (plans := list(plans)) else {}
    named = {tier_of(plan.set) for plan in plans} - {""}
    tiers = tiers_in(log) if named else set()
    for plan in plans:
        name, now = plan.wish.job, now_ms()
        job, sync = jobs.get(name), seen[name][0] if name in seen else None
        trial = try_change(job, sync, terms.layer, terms.asked(plan, now), now)
        row = _row_of_change(trial, terms)
        if not ((job is not None and job.alive) or terms.layer != "base" or plan.create):
            row = _unmade(row, plan)
        if row.get("reason") == "no-such-job":
            row["explanation"] = _nearest(log, name, row["explanation"])
        elif said := no_such_tier(tier_of(plan.set), tiers):
            row = _rejected(row, "no-such-tier", "tier", said)
        if row["verdict"] == "accepted":
            verdicts[name] = trial.verdict
        rows.append(row)
    found = costs_of(log, seen, verdicts) if verdicts else {}
    return [row | {"cost": found.get(row["job"])} for row in rows]


def _unmade(row: JsonObject, plan: PlannedChange) -> JsonObject:
    """Of a job that is not there, and is not to be made."""
    if not makes_a_job(plan.set):
        return row
    return _rejected(row, "no-such-job", "", not_meant(plan.wish.job))


def _rejected(row: JsonObject, reason: str, path: str, said: str) -> JsonObject:
    """What is refused before it is sent."""
    told = {name: row[name] for name in ("job", "layer")}
    return told | {"verdict": "rejected", "reason": reason, "path": path, "explanation": said}


def _row_of_change(trial: ChangeTrial, terms: ChangeTerms) -> JsonObject:
    refused = isinstance(trial.verdict, JobConfigRejected)
    plain = trial.verdict.to_plain()
    wanted = ("job", "reason", "path", "explanation") if refused else ("job", "version")
    return (
        {name: plain[name] for name in wanted}
        | {"verdict": "rejected" if refused else "accepted", "layer": terms.layer}
        | {"differences": [one.to_plain() for one in differences(trial.before, trial.after)]}
        | {"before": trial.before, "after": trial.after}
    )


def seen_in(log: Log) -> Seen:
    """What runs now of each job, and where."""
    sightings = Sightings()
    return {name: (sync, sightings) for name, sync in log.syncs(heed=sightings).items()}


def costs_of(log: Log, seen: Seen, verdicts: Mapping[str, Body]) -> dict[str, JsonObject]:
    """What each verdict would cost, where there is anything to do."""
    decisions = log.decisions(kinds=frozenset({"SyncPlanned", "SyncCommitted"}))
    fleet, found = times_of(decisions), {}
    for name, verdict in verdicts.items():
        steps = steps_of(seen[name][0] if name in seen else None, verdict, name)
        if steps is not None:
            found[name] = cost_of(name, steps, seen, times_of(decisions, name), fleet)
    return found


# --- what operators ask of one job


def try_asking(log: Log, asked: Request, verb: str, output: str) -> JsonObject:
    """The row that the request would have, and what it would cost."""
    name, now = asked.job, now_ms()
    if isinstance(asked, JobDeleteRequested):
        body: Body | None = try_deletion(log.job(name), asked, now)
    else:
        body = try_request(log.syncs(job=name).get(name), asked, now)
    if body is None:
        return {"job": name, "verdict": "waits", "explanation": WAITS}
    verdict = told(body)
    if isinstance(asked, JobDeleteRequested):
        row = row_of(verdict)
        row["verdict"] = "deleted" if row["verdict"] == "accepted" else row["verdict"]
    else:
        row = asked_row(verdict, verb, table=output == "table")
    left_out = ("change_id", "decision_id", "position")
    row = {field: value for field, value in row.items() if field not in left_out}
    if row["verdict"] != "rejected":
        return row | {"cost": costs_of(log, seen_in(log), {name: body}).get(name)}
    if row["reason"] == "no-such-job":
        row["explanation"] = _nearest(log, name, row["explanation"])
    return row


def _nearest(log: Log, name: str, sentence: str) -> str:
    return in_words(sentence, name, names_in(log))
