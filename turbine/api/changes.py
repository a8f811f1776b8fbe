"""`POST /changes`, and what else is asked of jobs and containers: planned, applied as planned."""

from __future__ import annotations

import getpass
import json
import shlex
from dataclasses import asdict, replace
from typing import Annotated, Any, assert_never

from fastapi import APIRouter, Path, Response

from events.generated.records import ConfigChangeProposed, JobConfigRejected
from events.job_config.strict_json import Malformed, parse_json, shorten, split_path
from events.topics import LAYERS
from projections.fleet import TierFleet
from turbine.api.desk import AtDesk, Desk
from turbine.api.jobs import existing
from turbine.api.plans import Fingerprint
from turbine.api.problems import RequestRefused, invalid, told
from turbine.api.shapes import ApplyAsked, ChangeAsked, VerdictAnswer, WishAsked
from turbine.api.writing import LayerChange, OperatorWish
from turbine.read.answers.dry_run import try_change
from turbine.read.answers.scaling import flat
from turbine.read.differences import differences
from turbine.read.moments import BadMoment, now_ms, parse_span
from turbine.read.plain import JsonObject, plain
from turbine.read.state.view import View
from turbine_client.creating import (
    makes_a_job,
    no_such_tier,
    not_meant,
    perhaps,
    tier_of,
    with_nearest,
)
from turbine_client.identity import change_id, is_job_id
from turbine_client.positions import format_vector
from turbine_client.publish import encoded
from turbine_client.verdicts import Accepted, Rejected, Unknown, Verdict

DRY_MS = 60_000

router = APIRouter(
    tags=["changes"], responses=told(400, 401, 403, 404, 409, 411, 413, 415, 422, 503, 504)
)
WAITED: dict[int | str, JsonObject] = {
    202: {"model": VerdictAnswer, "description": "No verdict yet; the change may yet stand."}
}
JobName = Annotated[str, Path(max_length=200, description="Of a job.")]
ContainerName = Annotated[str, Path(max_length=200, description="Of a container.")]


# --- a change of a layer


@router.post("/changes", response_model=VerdictAnswer, responses=WAITED, summary="Ask for a change")
def change(desk: AtDesk, response: Response, asked: ChangeAsked) -> Any:
    """Of one layer of a job's config. With `dry_run` the verdict that it would get, what would
    differ, and the id of a plan; else it is sent, and its verdict waited for."""
    wanted = change_of(asked)
    check_meant(wanted, desk.reading.view(None))
    if not asked.dry_run:
        check_size(wanted)
        return answered(desk.writer.change(wanted, asked.wait_s), response)
    return _plan_change(desk, desk.reading.view(None), wanted)


def change_of(asked: ChangeAsked) -> LayerChange:
    """What is asked, checked as far as it can be before it is sent."""
    set_ = strict(asked.set)
    for path in asked.clear:
        try:
            split_path(path)
        except Malformed as bad:
            raise invalid(f"clear: {bad.sentence}", "body.clear") from None
    if not set_ and not asked.clear:
        raise invalid("the change is empty; say what to set or to clear", "body.set")
    try:
        span_ms = None if asked.expires is None else parse_span(asked.expires, "expires")
    except BadMoment as bad:
        raise invalid(str(bad), "body.expires") from None
    return LayerChange(
        job=checked_job(asked.job, "body.job"),
        layer=asked.layer,
        set=set_,
        clear=tuple(asked.clear),
        reason=asked.reason,
        author=asked.author or user(),
        expected_version=asked.expected_version,
        expires_ms=None if span_ms is None else now_ms() + span_ms,
        create=asked.create,
    )


def check_meant(wanted: LayerChange, view: View) -> None:
    """Refuses a whole config for a job that is not there, where nobody said that it be made, and a
    tier that is not there."""
    if said := no_such_tier(tier_of(wanted.set), view.defined):
        raise RequestRefused(422, "no-such-tier", said, "body.set.tier")
    known = view.jobs.get(wanted.job)
    if wanted.layer != "base" or wanted.create or (known is not None and known.job.alive):
        return
    if makes_a_job(wanted.set):
        names = [one.job.name for one in view.jobs.values() if one.job.alive]
        sentence = with_nearest(not_meant(wanted.job), wanted.job, names)
        raise RequestRefused(404, "no-such-job", sentence, "body.job")


def strict(value: JsonObject, name: str = "set") -> JsonObject:
    """The value as the components will read it, within the bounds of JSON in the log."""
    try:
        found = parse_json(json.dumps(value), what=name)
    except Malformed as bad:
        raise invalid(bad.sentence, f"body.{name}") from None
    assert isinstance(found, dict)
    return found


def _plan_change(desk: Desk, view: View, wanted: LayerChange) -> JsonObject:
    known = view.jobs.get(wanted.job)
    body = check_size(wanted)
    job, sync = (None, None) if known is None else (known.job, known.sync)
    trial = try_change(job, sync, wanted.layer, body, now_ms())
    made = differences(trial.before, trial.after)
    told = trial.verdict.to_plain()
    row: JsonObject = {
        "job": wanted.job,
        "layer": wanted.layer,
        "version": told["version"],
        "base": format_vector(view.at),
        "differences": plain(made),
        "before": trial.before,
        "after": trial.after,
        "command": command_of(wanted),
    }
    if isinstance(trial.verdict, JobConfigRejected):
        return row | {
            "verdict": "rejected",
            **{name: told[name] for name in ("reason", "path", "explanation")},
        }
    at = LAYERS.index(wanted.layer)
    version = 0 if known is None else known.job.layers[at].version
    # What another author does until then is not overwritten unseen, even where the view is late.
    sure = replace(wanted, expected_version=version)
    plan, expires_ms = desk.plans.keep(
        wanted.job, view, of_job(wanted.job), lambda wait_s: desk.writer.change(sure, wait_s)
    )
    return row | {"verdict": "accepted", "plan": plan, "expires_ms": expires_ms}


def check_size(wanted: LayerChange) -> ConfigChangeProposed:
    """What would be sent, under an id as long as a real one; TooLarge where no message holds it."""
    body = ConfigChangeProposed(
        change_id=change_id(now_ms() + DRY_MS, "dry-run".zfill(32)),
        job=wanted.job,
        expected_version=wanted.expected_version,
        set_json=json.dumps(dict(wanted.set), ensure_ascii=False),
        clear=tuple(wanted.clear),
        author=wanted.author,
        reason=wanted.reason,
        expires_ms=wanted.expires_ms,
    )
    encoded(wanted.job, body)
    return body


def command_of(wanted: LayerChange) -> str:
    """The same on the command line."""
    words = ["turbine", "publish", "change", wanted.job, "--layer", wanted.layer]
    words += ["--create"] if wanted.create else []
    for path, value in flat(dict(wanted.set)):
        words += ["--set", f"{path}={json.dumps(value, ensure_ascii=False)}"]
    for path in wanted.clear:
        words += ["--clear", path]
    words += ["--reason", wanted.reason] if wanted.reason else []
    return shlex.join(words)


def of_job(name: str) -> Fingerprint:
    """What a plan about a job rests on: what is expected of it, and what runs."""

    def found(view: View) -> object:
        known = view.jobs.get(name)
        if known is None:
            return None
        sync = known.sync
        runs = None
        if sync is not None:
            runs = (sync.running, sync.plan, sync.quarantine, sync.held)
        return (known.job.alive, known.job.versions, known.job.expected_json, runs)

    return found


# --- what operators ask for


@router.post(
    "/jobs/{job}/pause", response_model=VerdictAnswer, responses=WAITED, summary="Pause a job"
)
def pause(desk: AtDesk, response: Response, job: JobName, asked: WishAsked) -> Any:
    """All its tasks stop, and stay so."""
    return _ask(desk, response, OperatorWish("pause", job, asked.reason, asked.author), asked)


@router.post(
    "/jobs/{job}/resume", response_model=VerdictAnswer, responses=WAITED, summary="Resume a job"
)
def resume(desk: AtDesk, response: Response, job: JobName, asked: WishAsked) -> Any:
    """A job that an operator paused runs again."""
    return _ask(desk, response, OperatorWish("resume", job, asked.reason, asked.author), asked)


@router.post(
    "/jobs/{job}/release", response_model=VerdictAnswer, responses=WAITED, summary="Release a job"
)
def release(desk: AtDesk, response: Response, job: JobName, asked: WishAsked) -> Any:
    """A quarantined job is tried again."""
    return _ask(desk, response, OperatorWish("release", job, asked.reason, asked.author), asked)


def _ask(desk: Desk, response: Response, wish: OperatorWish, asked: WishAsked) -> Any:
    view = desk.reading.view(None)
    existing(view, checked_job(wish.subject, "path.job"), "path.job")
    wish = replace(wish, author=wish.author or user())
    if not asked.dry_run:
        return answered(desk.writer.ask(wish, asked.wait_s), response)
    plan = desk.plans.keep(
        wish.subject, view, of_job(wish.subject), lambda wait_s: desk.writer.ask(wish, wait_s)
    )
    return {"job": wish.subject, **_planned(view, plan, wish, wish.subject)}


def _planned(view: View, plan: tuple[str, int], wish: OperatorWish, *words: str) -> JsonObject:
    """A plan that was kept, with the words of the command line for what it is about."""
    return {
        "verdict": "planned",
        "plan": plan[0],
        "base": format_vector(view.at),
        "expires_ms": plan[1],
        "command": shlex.join(["turbine", wish.verb, *words, "--reason", wish.reason]),
    }


@router.post(
    "/containers/{container}/drain", response_model=VerdictAnswer, summary="Drain a container"
)
def drain(desk: AtDesk, container: ContainerName, asked: WishAsked) -> Any:
    """It gives its shards away, and gets no new ones."""
    return _tell(desk, OperatorWish("drain", container, asked.reason, asked.author), asked)


@router.post(
    "/containers/{container}/undrain", response_model=VerdictAnswer, summary="Undrain a container"
)
def undrain(desk: AtDesk, container: ContainerName, asked: WishAsked) -> Any:
    """Has a drained container take shards again."""
    return _tell(desk, OperatorWish("undrain", container, asked.reason, asked.author), asked)


def _tell(desk: Desk, wish: OperatorWish, asked: WishAsked) -> Any:
    view, name = desk.reading.view(None), wish.subject
    names = {one for row in view.tiers.values() for one in row.lives if _is_in(row, one)}
    tier = next(
        (tier for tier, row in view.tiers.items() if name in row.lives and _is_in(row, name)), None
    )
    if tier is None:
        raise RequestRefused(
            404,
            "no-such-container",
            f"there is no container {shorten(name)}{perhaps(name, names)};"
            " GET tiers/TIER/containers lists those of one",
            "path.container",
        )
    wish = replace(wish, author=wish.author or user())

    def act(_: float) -> JsonObject:
        return {"verdict": "asked", "container": name, "change_id": desk.writer.tell(wish)}

    if not asked.dry_run:
        return act(0)
    plan = desk.plans.keep(name, view, _of_container(tier, name), act)
    words = ("container", name, "--tier", tier)
    return {"container": name, **_planned(view, plan, wish, *words)}


def _is_in(row: TierFleet, name: str) -> bool:
    return row.lives[name].tier == row.tier


def _of_container(tier: str, name: str) -> Fingerprint:
    def found(view: View) -> object:
        row = view.tiers.get(tier)
        life = None if row is None else row.lives.get(name)
        if row is None or life is None:
            return None
        return (life.epoch, life.over, name in row.drains)

    return found


# --- plans


@router.post(
    "/plans/{id}/apply", response_model=VerdictAnswer, responses=WAITED, summary="Apply a plan"
)
def apply(
    desk: AtDesk,
    response: Response,
    id: Annotated[str, Path(max_length=64)],  # noqa: A002 - the word of the contract
    asked: ApplyAsked | None = None,
) -> Any:
    """Just what was shown; refused where what it rests on has moved since."""
    plan = desk.plans.take(id, desk.reading.view(None))
    return answered(plan.act(30.0 if asked is None else asked.wait_s), response)


# --- verdicts


def answered(verdict: Verdict | JsonObject, response: Response) -> JsonObject:
    """The verdict as an answer; a refusal as a problem. What needs none is an answer already."""
    match verdict:
        case dict():
            return verdict
        case Accepted():
            return told_of(verdict)
        case Unknown():
            response.status_code = 202
            return told_of(verdict)
        case Rejected():
            status = {"stale": 409, "no-such-job": 404}.get(verdict.reason, 422)
            sentence = f"{verdict.job}: {verdict.explanation}"
            raise RequestRefused(
                status, f"rejected-{verdict.reason}", sentence, verdict.path or None
            )
        case _:
            assert_never(verdict)


def told_of(verdict: Accepted | Unknown) -> JsonObject:
    """As JSON, named as the command line names it."""
    return {**asdict(verdict), "verdict": type(verdict).__name__.lower()}


def checked_job(name: str, place: str) -> str:
    """The name, if a job may have it."""
    if not is_job_id(name):
        raise invalid(
            f"{shorten(name)} is no job's name; use up to 128 of a-z, 0-9, '.', '_', '-',"
            " beginning and ending with a letter or digit",
            place,
        )
    return name


def user() -> str:
    """Who asks, where they do not say: whose server this is."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "api"
