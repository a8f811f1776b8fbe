"""The checkers are checked: each rejects bad histories, made by hand from a good one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from components.job_service.decide import component as job_service
from events.generated.records import JobConfigChanged, JobConfigRejected, ScalingDecided
from events.wire.codec import Read, encode
from simulation import run
from simulation.bounds import USUAL, bounded
from simulation.checkers.cas import check_cas
from simulation.checkers.conservation import check_conservation
from simulation.checkers.evidence import check_evidence
from simulation.checkers.folds import check_folds
from simulation.checkers.history import History
from simulation.checkers.precedence import check_precedence
from simulation.world import SimulatedWorld

Tamper = Callable[[History], History]


@cache
def good() -> History:
    """An hour with faults, healed: what the checkers have to accept."""
    worlds = (SimulatedWorld(seed, 3_600_000) for seed in range(100))
    world = next(one for one in worlds if one.swarm.bounds == USUAL)
    with bounded(USUAL):
        return run.live_through(world, [])


def standing(kind: type, wanted: Callable[[Any], bool] = lambda _: True) -> Read:
    """The last standing decision of that kind."""
    return next(
        read
        for read in reversed(good().standing)
        if isinstance(read.record.body, kind) and wanted(read.record.body)
    )


def changed(old: Read, **fields: Any) -> Tamper:
    """Other words in the value of one record; its id and place stay."""

    def tamper(history: History) -> History:
        body: Any = replace(old.record.body, **fields)  # type: ignore[type-var]  # a record's body
        record = replace(old.record, body=body, value=encode(body))
        return swapped(history, old, replace(old, record=record))

    return tamper


def reheaded(old: Read, **headers: Any) -> Tamper:
    """Other headers of one record."""
    return lambda history: swapped(
        history, old, replace(old, record=replace(old.record, **headers))
    )


def swapped(history: History, old: Read, new: Read) -> History:
    """The history with one record in another's place."""
    reads = [new if read == old else read for read in history.log[old.place]]
    return replace(history, log={**history.log, old.place: reads})


def without(old: Read) -> Tamper:
    """The record never was: another, which concerns nobody, lies in its place."""
    return reheaded(old, key="nobody", id="nothing", parent="none", evidence={})


def accepted() -> Read:
    return standing(JobConfigChanged)


def ask_of(read: Read) -> Read:
    """The request that a verdict answers."""
    body: Any = read.record.body
    door = getattr(body, "ingress", None) or body.layer
    return next(
        one
        for one in good().log[f"changes.{door}.v1/0"]
        if one.record.id == body.change_id and one.record.key == read.record.key
    )


def stale() -> Read:
    return standing(JobConfigRejected, lambda body: body.reason == "stale")


def conservation(history: History) -> Iterator[str]:
    return check_conservation(history, run._owes)


def evidence(history: History) -> Iterator[str]:
    return check_evidence(history, job_service)


CHECKERS: dict[str, Callable[[History], Iterator[str]]] = {
    "K3": check_cas,
    "K5": conservation,
    "K6": check_folds,
    "K7": check_precedence,
    "K9": evidence,
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_good_history_is_accepted(checker: str) -> None:
    assert list(CHECKERS[checker](good())) == []


def tally(**fields: int) -> Tamper:
    def tamper(history: History) -> History:
        first = history.tallies[0]
        more = {name: getattr(first, name) + by for name, by in fields.items()}
        return replace(history, tallies=(replace(first, **more), *history.tallies[1:]))

    return tamper


def row_of(change: Callable[[Any], None]) -> Tamper:
    """One reader of the job service holds something else of one job."""

    def tamper(history: History) -> History:
        at = next(i for i, one in enumerate(history.rows) if one.component == "job-service")
        key = min(history.rows[at].text)
        plain = json.loads(history.rows[at].text[key])
        change(plain)
        text = {**history.rows[at].text, key: json.dumps(plain)}
        rows = [replace(one, text=text) if i == at else one for i, one in enumerate(history.rows)]
        return replace(history, rows=tuple(rows))

    return tamper


def bump(plain: Any) -> None:
    plain["row"]["layers"][0][0] += 1


def revive(plain: Any) -> None:
    plain["row"]["alive"] = not plain["row"]["alive"]


def forget(plain: Any) -> None:
    plain["vector"].pop(min(plain["vector"]))


def unchain(plain: Any) -> None:
    plain["last"] = {}


def reset(plain: Any) -> None:
    plain["tick_ms"] = 0


def owed_effect() -> Read:
    decision = standing(ScalingDecided)
    body: Any = decision.record.body
    return next(one for one in good().log["changes.scaler.v1/0"] if one.record.id == body.change_id)


def void_effect(history: History) -> History:
    """The effect of a decision that never stood was sent."""
    decision = standing(ScalingDecided)
    body: Any = decision.record.body
    end = len(history.log[history.journal])
    name = f"{body.change_id}0"
    twin: Any = replace(body, change_id=name)
    record = replace(decision.record, body=twin, value=encode(twin), id="twin", parent="nobody's")
    reads = [*history.log[history.journal], replace(decision, offset=end, record=record)]
    return replace(
        history,
        log={**history.log, history.journal: reads},
        sent=history.sent | {("small-scaler", "changes.scaler.v1", name)},
    )


def expected(change: Callable[[dict[str, Any]], None]) -> Tamper:
    body: Any = accepted().record.body
    merged = json.loads(body.expected_json)
    change(merged)
    return changed(accepted(), expected_json=json.dumps(merged))


def nested(merged: dict[str, Any]) -> None:
    merged["resources"] = {"cpu_cores": 99}


def oncall_lost(history: History) -> History:
    """The layer is told to be another than what the oncall asked for."""
    read = standing(JobConfigChanged, lambda body: body.layer == "oncall")
    return changed(read, layer_json='{"priority":98}')(history)


BAD: list[tuple[str, str, Callable[[], Tamper], str]] = [
    ("K3", "a gap", lambda: changed(accepted(), version=99), "version 99 where"),
    (
        "K3",
        "told versions",
        lambda: changed(accepted(), versions=replace(accepted().record.body.versions, scaler=77)),  # type: ignore[union-attr]  # a change has versions
        "told as version 77",
    ),
    ("K3", "no verdict", lambda: without(accepted()), "has no verdict"),
    (
        "K3",
        "a verdict on nothing",
        lambda: changed(stale(), change_id="9999999999999.nobody"),
        "such a request does not count",
    ),
    (
        "K3",
        "a just request rejected",
        lambda: changed(ask_of(stale()), expected_version=stale_version()),
        "rejected as stale, but it was not",
    ),
    (
        "K3",
        "stale, though unconditional",
        lambda: changed(ask_of(stale()), expected_version=None),
        "it expected no version",
    ),
    ("K5", "one record unaccounted for", lambda: tally(read=1), "are accounted for"),
    ("K5", "one record twice", lambda: tally(folded=1), "are accounted for"),
    ("K5", "one held back for ever", lambda: tally(held=2), "are accounted for"),
    ("K5", "an effect lost", lambda: without(owed_effect()), "was lost"),
    ("K5", "an effect of what is void", lambda: void_effect, "does not stand"),
    ("K6", "another version", lambda: row_of(bump), "has"),
    ("K6", "a job that rose", lambda: row_of(revive), "by hand"),
    ("K6", "another vector", lambda: row_of(forget), "has"),
    ("K6", "another chain", lambda: row_of(unchain), "has"),
    ("K6", "another tick", lambda: row_of(reset), "has"),
    ("K7", "a key more", lambda: expected(lambda m: m.update(extra=1)), "the layers add up to"),
    ("K7", "a key lost", lambda: expected(lambda m: m.pop("package")), "the layers add up to"),
    ("K7", "another value", lambda: expected(lambda m: m.update(tasks=1000)), "add up to"),
    ("K7", "deep within", lambda: expected(nested), "the layers add up to"),
    ("K7", "a null left", lambda: expected(lambda m: m.update(slo=None)), "the layers add up to"),
    ("K7", "the oncall overruled", lambda: oncall_lost, "what holds makes"),
    ("K9", "other words", lambda: changed(accepted(), author="x"), "does not come out again"),
    ("K9", "another parent", lambda: reheaded(accepted(), parent="x"), "not come out again"),
    ("K9", "no tick", lambda: reheaded(accepted(), tick_ms=accepted().record.tick_ms - 1), "tick"),
    (
        "K9",
        "evidence not closed",
        lambda: reheaded(
            accepted(), evidence={good().journal: accepted().record.evidence[good().journal]}
        ),
        "not closed",
    ),
    ("K9", "said on nothing", lambda: reheaded(accepted(), evidence={}), ""),
]


def stale_version() -> int:
    body: Any = stale().record.body
    return int(body.version)


@pytest.mark.parametrize(
    ("checker", "tamper", "sentence"),
    [pytest.param(*(one[0], *one[2:]), id=f"{one[0]} {one[1]}") for one in BAD],
)
def test_a_bad_history_is_rejected(
    checker: str, tamper: Callable[[], Tamper], sentence: str
) -> None:
    violations = list(CHECKERS[checker](tamper()(good())))

    assert violations != []
    assert any(sentence in violation for violation in violations), violations[:3]


@pytest.mark.parametrize("checker", CHECKERS)
def test_each_checker_has_five_bad_histories(checker: str) -> None:
    assert sum(one[0] == checker for one in BAD) >= 5
