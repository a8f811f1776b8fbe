"""What is sent for the jobs of a line or a file, the verdicts on it, and what `--dry-run` says."""

from __future__ import annotations

import json
import time  # noqa: TID251 - patience with a verdict is real time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigRejected,
    JobDeleteRequested,
)
from events.job_config.strict_json import printable
from events.topics import LAYERS
from projections.jobs import Job
from projections.jobs import LayerState as Wanted
from projections.syncs import Sync
from turbine.cli.documents import LayerWish
from turbine.cli.output import show
from turbine.cli.reading import names_in
from turbine.failures import Code, code_of_rejection
from turbine.ops.tiers import tiers_in
from turbine.read.answers.costs import ChangeCost, cost_of, sentences, steps_of, times_of
from turbine.read.answers.dry_run import (
    ChangeTrial,
    Request,
    told,
    try_change,
    try_deletion,
    try_request,
)
from turbine.read.differences import Difference, change_through, differences
from turbine.read.moments import now_ms
from turbine.read.plain import JsonObject, plain
from turbine.read.sources.log import Log
from turbine.read.state.running import Sightings
from turbine_client.creating import in_words, makes_a_job, no_such_tier, not_meant, tier_of
from turbine_client.identity import change_id
from turbine_client.publish import Pending, Publisher, Unheard, Unknown, encoded
from turbine_client.verdicts import Accepted, Verdict

VALID_S = (60.0, 600.0)
"""How long a change may wait to be decided: as long as its author waits, within the log's bound."""


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What is sent for one job; None: the layer is what is wished already."""

    wish: LayerWish
    set: JsonObject
    clear: tuple[str, ...]
    expected_version: int | None
    unchanged: bool = False
    create: bool = False  # a job that is not there is to be made


@dataclass(frozen=True, slots=True)
class ChangeTerms:
    """What is said of all jobs of one command."""

    layer: str
    author: str
    reason: str
    expires_ms: int | None
    expected_version: int | None
    wait_s: float

    def propose(
        self, publisher: Publisher, plan: PlannedChange, change_id: str | None = None
    ) -> Pending:
        """Sends the change; its verdict is awaited by others."""
        return publisher.propose(
            plan.wish.job,
            plan.set,
            plan.clear,
            layer=self.layer,
            create=plan.create,
            expected_version=plan.expected_version,
            reason=self.reason,
            expires_ms=self.expires_ms,
            change_id=change_id,
            valid_s=min(max(VALID_S[0], self.wait_s), VALID_S[1]),
        )

    def asked(self, plan: PlannedChange, now_ms: int) -> ConfigChangeProposed:
        """What would be sent, under an id that is as long as a real one."""
        return ConfigChangeProposed(
            change_id=dry_id(now_ms),
            job=plan.wish.job,
            author=self.author,
            expected_version=plan.expected_version,
            set_json=json.dumps(plan.set, ensure_ascii=False),
            clear=plan.clear,
            reason=self.reason,
            expires_ms=self.expires_ms,
        )


def plan_of(wish: LayerWish, job: Job | None, terms: ChangeTerms) -> PlannedChange:
    """A whole layer is turned into the least change, for the version that was seen: what another
    author did meanwhile is not overwritten unseen."""
    if not wish.whole:
        return PlannedChange(wish, wish.set, wish.clear, terms.expected_version)
    layer = Wanted() if job is None else job.layers[LAYERS.index(terms.layer)]
    set_, clear = change_through([json.loads(one) for one in layer.configs_json], wish.set)
    expected = layer.version if terms.expected_version is None else terms.expected_version
    same = not set_ and not clear and layer.expires_ms is None and terms.expires_ms is None
    unchanged = same and job is not None and job.alive
    return PlannedChange(wish, set_, tuple(clear), expected, unchanged, create=True)


def check_sizes(plans: Iterable[PlannedChange], terms: ChangeTerms) -> None:
    """Refuses what no message holds: all of it before the first is sent."""
    for plan in plans:
        encoded(plan.wish.job, terms.asked(plan, now_ms()))


def await_verdicts(
    publisher: Publisher, pending: Iterable[Pending], wait_s: float
) -> list[JsonObject]:
    """The verdict of each, all within one time."""
    limit_s = time.monotonic() + wait_s
    rows = []
    for one in pending:
        try:
            left_s = max(0.0, limit_s - time.monotonic())
            verdict = publisher.verdict(one, left_s)
            if verdict == one.unanswered(left_s):
                verdict = one.unanswered(wait_s)
        except Unheard as lost:  # what is known of the others is told all the same
            verdict = Unknown(one.change_id, one.job, str(lost))
        rows.append(row_of(verdict))
    return rows


def dry_id(at_ms: int) -> str:
    """An id as long as a real one, of what is not sent."""
    return change_id(at_ms + int(VALID_S[0] * 1000), "dry-run".zfill(32))


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
        there = (job is not None and job.alive) or terms.layer != "base" or plan.create
        if not there and makes_a_job(plan.set):
            row = _rejected(row, "no-such-job", "", not_meant(name))
        if row.get("reason") == "no-such-job":
            row["explanation"] = in_words(row["explanation"], name, names_in(log))
        elif said := no_such_tier(tier_of(plan.set), tiers):
            row = _rejected(row, "no-such-tier", "tier", said)
        if row["verdict"] == "accepted":
            verdicts[name] = trial.verdict
        rows.append(row)
    found = costs_of(log, seen, verdicts) if verdicts else {}
    return [row | {"cost": found.get(row["job"])} for row in rows]


def _rejected(row: JsonObject, reason: str, path: str, said: str) -> JsonObject:
    """What is refused before it is sent."""
    told = {name: row[name] for name in ("job", "layer")}
    return told | {"verdict": "rejected", "reason": reason, "path": path, "explanation": said}


def _row_of_change(trial: ChangeTrial, terms: ChangeTerms) -> JsonObject:
    refused = isinstance(trial.verdict, JobConfigRejected)
    told = trial.verdict.to_plain()
    wanted = ("job", "reason", "path", "explanation") if refused else ("job", "version")
    return (
        {name: told[name] for name in wanted}
        | {"verdict": "rejected" if refused else "accepted", "layer": terms.layer}
        | {"differences": plain(differences(trial.before, trial.after))}
        | {"before": trial.before, "after": trial.after}
    )


def seen_in(log: Log) -> Seen:
    """What runs now of each job, and where."""
    sightings = Sightings()
    return {name: (sync, sightings) for name, sync in log.syncs(observer=sightings).items()}


def costs_of(log: Log, seen: Seen, verdicts: Mapping[str, Body]) -> dict[str, ChangeCost]:
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
        row["explanation"] = in_words(row["explanation"], name, names_in(log))
    return row


def row_of(verdict: Verdict) -> JsonObject:
    """A verdict as a row of JSON."""
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
    if row["verdict"] == "rejected":
        return code_of_rejection(row["reason"])
    return Code.TIMEOUT if row["verdict"] == "unknown" else Code.OK


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
        yield str(Difference.from_plain(one))
    if dry_run and row["verdict"] == "accepted" and not differences:
        yield "nothing would differ"
    if row.get("cost"):
        yield from map(printable, sentences(row["cost"]))
