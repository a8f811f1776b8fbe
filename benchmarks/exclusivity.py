"""Does any task run twice, or have an effect twice, while containers are killed and cut off?"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.children import ChildFailed
from benchmarks.exclusivity_faults import KINDS, QUICK_SHARE, Fault, Faults, sequence
from benchmarks.exclusivity_fleet import OUTPUTS, PER_MILLE, Fleet, Shape, fleet_of
from benchmarks.exclusivity_heard import Heard
from benchmarks.exclusivity_judge import (
    CHAIN,
    LIVES,
    claims_of,
    counts_of,
    effects_of,
    grants_of,
    instances,
    offsets_back,
    overlap_ms,
    overlaps,
    past_lease_ms,
    readers_of,
    recoveries,
    stale_effects,
    sums,
)
from benchmarks.exclusivity_lives import Lives, epochs_in, lives_of
from benchmarks.exclusivity_offsets import read_commits
from benchmarks.exclusivity_watch import left_in
from benchmarks.figures import Result, load, say, share
from components.shard_manager.decide import component as shard_manager
from events.wire.codec import Read
from projections.timing import Timing
from tasks.deadline import own_ms
from turbine.read.sources.log import Log

SEED = 7
START_S, REST_S, END_S = 120.0, 60.0, 10.0
LATE_S = 10.0
"""Who comes back later than that is looked into, and so the logs are kept."""
SENTENCES = 12
"""Of violations that are shown; all of them are in the evidence."""


@dataclass(slots=True)
class Finding:
    """Figures, and every violation as a sentence."""

    figures: dict[str, float] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    evidence: str = ""  # where it is kept, if there is something to look into


def measure(quick: bool) -> Result:
    """One fleet, hurt in every way that there is, one at a time."""
    shape, dice = Shape(), random.Random(SEED)
    with fleet_of(shape) as fleet:
        topics = [f"out-{job}" for job in fleet.jobs]
        heard = Heard(fleet.site.settings.bootstrap, topics, OUTPUTS)
        try:
            faults = hurt(fleet, heard, dice, QUICK_SHARE if quick else 1.0)
            finding = judge(fleet, heard, faults)
        finally:
            heard.close()
    notes = [
        f"seed {SEED}: {shape.containers} containers, {len(fleet.tasks)} tasks, all times a tenth",
        "overlap: both awake, by the system's word every 20 ms, under leases as the log has them",
        "recover: the longest that a task was without a committed output, from the fault on",
    ]
    notes += finding.violations[:SENTENCES]
    if finding.evidence:
        notes.append(f"{len(finding.violations)} violations; the logs are in {finding.evidence}")
    return Result("exclusivity", finding.figures, {}, notes)


def hurt(fleet: Fleet, heard: Heard, dice: random.Random, part: float) -> list[Fault]:
    """All faults, one after the other, then rest."""
    fleet.start()
    fleet.feed.start()
    _until(lambda: len(heard.outputs) == len(fleet.tasks), START_S, "every task has an effect")
    faults = Faults(fleet, heard, dice)
    todo = sequence(KINDS, part, dice)
    say(f"all tasks run; {len(todo)} faults")
    for number, kind in enumerate(todo, 1):
        one = faults.play(kind)
        worst = max(one.recovered_s.values(), default=0.0)
        lost = f", {len(one.missing)} NOT BACK" if one.missing else ""
        say(
            f"{number}/{len(todo)} {kind.name} {one.container} {one.more}: {len(one.tasks)} tasks,"
            f" the last back after {worst:.1f} s{lost}"
        )
    faults.await_well()
    fleet.feed.close()
    try:
        _until(lambda: heard.counted() >= fleet.feed.written, REST_S, "all input is counted")
    except ChildFailed as late:
        say(str(late))
    return faults.done


def judge(fleet: Fleet, heard: Heard, faults: Sequence[Fault]) -> Finding:
    """What the histories say, once nothing of the containers runs any more."""
    say("the containers end; their histories are judged")
    wall_ms = int(time.time() * 1000) - own_ms()
    fleet.stop()
    finding = Finding()
    finding.figures["processes_left"] = _left(fleet)
    fleet.watch.close()
    log = read_log(fleet)
    lives = lives_of(log[LIVES], Timing().scaled(PER_MILLE).lease_ms, wall_ms)
    finding.figures |= counts_of(faults, lives)
    _judge_instances(finding, fleet, lives)
    _judge_effects(finding, fleet, heard)
    unfounded, early = grants_of(log, PER_MILLE)
    finding.violations += [*unfounded, *early]
    finding.figures |= {
        "grants_unfounded": len(unfounded),
        "fail_overs_early": len(early),
        "inputs_refused": fleet.feed.lost,
        **sums(fleet.feed.ends, heard.outputs),
        **recovered(recoveries(faults)),
        "watch_gap_ms_p99": share(fleet.watch.gaps_ms, 0.99),
        "watch_gap_ms_max": max(fleet.watch.gaps_ms),
    }
    _tell(finding, faults)
    if finding.violations or finding.figures["recover_s_max"] > LATE_S:
        finding.evidence = str(keep(fleet, finding, faults))
    return finding


def _judge_instances(finding: Finding, fleet: Fleet, lives: Lives) -> None:
    """K1: of one task one instance is awake under a lease."""
    epochs = epochs_in({name: one.log for name, one in fleet.containers.items()})
    seen = fleet.watch.seen()
    found = list(instances(seen, lives.leases, epochs, _numbers(fleet)))
    together = overlaps(found)
    finding.violations += together
    finding.figures |= {
        "overlap_s": overlap_ms(found) / 1000,
        "overlaps": len(together),
        "awake_past_lease_s_max": past_lease_ms(seen, lives.leases, epochs) / 1000,
        "instances": len(found),
        "lives": len(epochs),
    }


def _judge_effects(finding: Finding, fleet: Fleet, heard: Heard) -> None:
    """K2: what was accepted never went back."""
    commits, numbers = list(read_commits(fleet.site.settings)), _numbers(fleet)
    claims = list(claims_of(commits, readers_of(heard.outputs), numbers))
    stale = stale_effects(effects_of(heard.outputs, numbers), claims)
    finding.violations += stale
    finding.figures |= {
        "stale_effects_accepted": len(stale),
        "offsets_went_back": offsets_back(commits),
        "effects": sum(map(len, heard.outputs.values())),
        "claims": len(claims),
    }


def _numbers(fleet: Fleet) -> dict[str, int]:
    return {task: number for number, task in enumerate(fleet.tasks)}


def recovered(by_kind: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Over all faults, and for each kind the usual and the worst."""
    every = [one for found in by_kind.values() for one in found]
    figures = {
        "recover_s_p50": share(every, 0.5),
        "recover_s_p99": share(every, 0.99),
        "recover_s_max": max(every),
    }
    for kind, found in sorted(by_kind.items()):
        if found:
            figures[f"{kind}_recover_s_p50"] = share(found, 0.5)
            figures[f"{kind}_recover_s_max"] = max(found)
    return figures


def read_log(fleet: Fleet) -> dict[str, list[Read]]:
    """All that shard managers read, and the chain that they write."""
    log = Log(fleet.site.settings)
    found: dict[str, list[Read]] = {at: [] for at in log.places(shard_manager.inputs)}
    for read in log.read(shard_manager.inputs):
        found[read.place].append(read)
    assert CHAIN in found, found.keys()
    return found


def _left(fleet: Fleet) -> int:
    """Processes of containers that live on after all containers ended."""
    limit = time.monotonic() + END_S
    while (left := list(left_in(str(fleet.places)))) and time.monotonic() < limit:
        time.sleep(0.1)
    return len(left)


def _tell(finding: Finding, faults: Sequence[Fault]) -> None:
    """What is a violation although no checker says so."""
    figures = finding.figures
    for name in (
        "processes_left",
        "offsets_went_back",
        "inputs_missing",
        "inputs_doubled",
        "tasks_moved_needlessly",
    ):
        if figures[name]:
            finding.violations.append(f"{name}: {figures[name]:g}")
    for one in faults:
        if one.missing:
            finding.violations.append(
                f"{one.kind.name} of {one.container} at {one.at_ms}: not back: {one.missing}"
            )


def keep(fleet: Fleet, finding: Finding, faults: Iterable[Fault]) -> Path:
    """Copies the logs of all processes to where they outlive the benchmark."""
    place = Path(tempfile.mkdtemp(prefix="turbine-exclusivity-"))
    for path in fleet.site.directory.glob("*.log"):
        shutil.copy(path, place)
    (place / "violations.txt").write_text("\n".join(finding.violations) + "\n")
    lines = [
        f"{one.at_ms} {one.healed_ms} {one.over_ms} {one.kind.name} {one.container} {one.more}"
        f" {one.recovered_s} missing={one.missing}"
        for one in faults
    ]
    (place / "faults.txt").write_text("\n".join(lines) + "\n")
    return place


def _until(holds: Callable[[], bool], wait_s: float, what: str) -> None:
    limit = time.monotonic() + wait_s
    while not holds():
        if time.monotonic() > limit:
            raise ChildFailed(f"not within {wait_s:g} s: {what}; the load is {load()}")
        time.sleep(0.1)
