"""Which partitions are audited together, by whose ticks, and by which logics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from components.auto_scaler.decide import component as auto_scaler
from components.capacity_manager.decide import component_of
from components.job_service.decide import component as job_service
from components.runtime.core.audit.audit import Audit
from components.runtime.core.audit.progress import AuditProgress
from components.runtime.core.component import Component
from events.generated.records import AlertRaised
from events.topics import CLOCK, TIERS, place
from events.wire.codec import Read, Record, encode
from turbine.read.logics import AUDITED, TIERED, audited_with, families

PARTITIONS = 3


def desks_of(name: str) -> Audit:
    component = auto_scaler if name == "auto-scaler" else component_of("default")
    return Audit([[component]], PARTITIONS, AuditProgress(lambda *_: True))


def test_who_decides_about_jobs_has_the_ticks_of_its_own_partition() -> None:
    desks = desks_of("auto-scaler").desks.values()
    assert [desk.clocks for desk in desks] == [[place(CLOCK, at)] for at in range(PARTITIONS)]
    assert not [desk for desk in desks if desk.places & set(desk.clocks)]


def test_who_decides_about_a_tier_may_have_the_tick_of_any_record_that_it_read() -> None:
    """Ticks of a second differ by milliseconds from one partition to the next; a decision is never
    earlier than what it was made on."""
    [desk] = desks_of("capacity-manager").desks.values()
    assert desk.clocks == [place(CLOCK, at) for at in range(PARTITIONS)]
    assert not desk.places & set(desk.clocks)


def test_all_that_a_component_reads_is_read_once_and_so_is_the_clock() -> None:
    audit = Audit(AUDITED, PARTITIONS, AuditProgress(lambda *_: True))
    inputs = frozenset[str]().union(*(one.inputs for family in AUDITED for one in family))
    assert {at.partition("/")[0] for at in audit.places} == inputs | {CLOCK}
    assert len(set(audit.places)) == len(audit.places)


def test_every_component_that_decides_is_audited() -> None:
    from turbine.serve import ALONE, KEYED

    names = {family[0].name for family in AUDITED}
    assert names == (set(KEYED) | set(ALONE)) - {"api", "auditor", "clock", "publisher", "webhooks"}


def test_older_logics_stand_behind_the_newest_and_each_once() -> None:
    old = replace(job_service, logic="job-service/0")
    [family] = families((job_service,), {"job-service": (old,)})
    assert [one.logic for one in family] == [job_service.logic, "job-service/0"]
    with pytest.raises(AssertionError, match="a logic twice"):
        families((job_service,), {"job-service": (job_service,)})
    with pytest.raises(AssertionError, match="not of one component"):
        families((job_service,), {"job-service": (replace(auto_scaler),)})


def test_each_tier_of_the_log_is_audited_by_its_own_logic() -> None:
    assert audited_with(()) == audited_with(("default",)) == AUDITED
    found = {family[0].name: family for family in audited_with(("rich", "default", "b"))}
    for name, of in TIERED.items():
        assert [one.logic for one in found[name]] == [of(t).logic for t in ("default", "b", "rich")]
    assert [one for one in found.values() if one[0].name not in TIERED] == [
        family for family in AUDITED if family[0].name not in TIERED
    ]


@pytest.mark.parametrize("of", TIERED.values(), ids=TIERED)
def test_what_was_said_of_a_tier_that_nobody_defined_has_a_verdict_too(
    of: Callable[[str], Component[Any]],
) -> None:
    """Passed over in silence it would look like one that came out the same."""
    audit = Audit([[of("default")]], PARTITIONS, AuditProgress(lambda *_: True))
    rich = of("rich")
    body = AlertRaised("rich", "any", "warning", "a cause", "docs/runbooks/any.md")
    record = Record(
        key="rich/placement",
        id="1",
        kind="AlertRaised",
        value=encode(body),
        body=body,
        parent="0",
        logic=rich.logic,
        source=rich.name,
    )
    audit.read(Read(place(TIERS, 0), TIERS, 0, 1_000, record))
    [found] = audit.findings(whole=True)
    assert (found.verdict, found.component) == ("not checkable", rich.name)
    assert rich.logic in found.sentence
