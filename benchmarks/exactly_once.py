"""Is each input in the output once, while Spark and its containers are killed, frozen and moved?"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.containers import TIER
from benchmarks.exactly_once_watch import Feed, GroupWatch, count_numbers
from benchmarks.figures import Result, say, share
from benchmarks.spark_fleet import SparkFleet, config_of, spark_fleet, until
from events.generated.records import DrainRequested, UndrainRequested
from turbine.ops.tiers import ask, new_id
from turbine.read.sources.log import Log
from turbine_client.settings import Settings

SEED = 11
NAMES, JOB = ("east", "west"), "copy"
INPUTS, TASKS = 8, 4
PER_MILLE = 250
"""All times a quarter: a lease of 10 s, silence of 15 s, 30 s for a cold Spark."""
RATE, LEAST = 6_000, 1_000_000
FROZEN_S = 20.0
BACK_S, END_S, MOVE_S = 120.0, 120.0, 90.0
CALM_S = (1.0, 4.0)
"""From one fault to the next, whatever has come back by then."""


class Kind(NamedTuple):
    """One kind of fault."""

    name: str
    times: int
    kills: bool


KINDS = (
    Kind("python", 8, True),
    Kind("java", 6, True),
    Kind("supervisor", 4, True),
    Kind("container", 4, True),
    Kind("zombie", 3, False),
    Kind("move", 3, False),
)


@dataclass(slots=True)
class Faults:
    """What was done, and how long the job was without a commit because of it."""

    fleet: SparkFleet
    watch: GroupWatch
    dice: random.Random
    kills: int = 0
    zombies: int = 0
    moves: int = 0
    gaps_s: list[float] = field(default_factory=list)

    def play(self, kind: Kind) -> None:
        """One fault; returns when every partition has come on since."""
        name = self.dice.choice([one for one in self.fleet.names if self.fleet.java(one)])
        began = time.monotonic()
        match kind.name:
            case "zombie":
                self._freeze(name)
                self.zombies += 1
            case "move":
                self._move(name)
                self.moves += 1
            case _:
                self._kill(kind.name, name)
                self.kills += 1
        before = self.watch.looked()  # what was under way before the fault does not count
        until(lambda: self.watch.beyond(before), f"all go on after {kind.name} of {name}", BACK_S)
        self.gaps_s.append(time.monotonic() - began)
        say(f"{kind.name} of {name}: all partitions go on after {self.gaps_s[-1]:.1f} s")
        time.sleep(self.dice.uniform(*CALM_S))

    def _kill(self, what: str, name: str) -> None:
        fleet = self.fleet
        match what:
            case "python":
                victims = [fleet.engine(name)]
            case "java":
                victims = [fleet.java(name)]
            case "supervisor":
                victims = [fleet.supervisor(name)]
            case _:
                victims = list(fleet.family(name))
        send(victims, signal.SIGKILL)

    def _freeze(self, name: str) -> None:
        """It is failed over meanwhile; what wakes has everything but the right to an effect."""
        family = self.fleet.family(name)
        send(family, signal.SIGSTOP)
        time.sleep(FROZEN_S)
        self.dice.shuffle(family)
        send(family, signal.SIGCONT)

    def _move(self, name: str) -> None:
        log = Log(self.fleet.site.settings)
        ask(log, name, DrainRequested(new_id(), name, "benchmark", "its tasks are to move"))
        until(lambda: empty(log, name), f"{name} is empty", MOVE_S, 0.3)
        ask(log, name, UndrainRequested(new_id(), name, "benchmark", "it was emptied"))


def empty(log: Log, name: str) -> bool:
    """Does the container hold no shard any more?"""
    row = log.fleet(TIER)
    return row is not None and not row.holdings.get(name)


def send(victims: Sequence[int | None], number: signal.Signals) -> None:
    """To processes that may have ended meanwhile."""
    for pid in victims:
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def measure(quick: bool) -> Result:
    """One job under load, hurt again and again."""
    kinds = [kind for kind in KINDS for _ in range(max(1, kind.times // (6 if quick else 1)))]
    dice = random.Random(SEED)
    dice.shuffle(kinds)
    least = LEAST // 10 if quick else LEAST
    with spark_fleet(NAMES, {"numbers": INPUTS, "copies": INPUTS}, per_mille=PER_MILLE) as fleet:
        client = {"bootstrap.servers": fleet.site.settings.bootstrap}
        schedule = {"batch_interval_ms": 200}
        checkpoints = fleet.site.directory / "checkpoints"
        config = config_of("numbers", INPUTS, "copies", TASKS, checkpoints, schedule=schedule)
        fleet.submit(JOB, config)
        feed = Feed(client, "numbers", INPUTS, RATE)
        watch = GroupWatch(client, Settings().job_group(JOB), "numbers", INPUTS)
        faults = Faults(fleet, watch, dice)
        hurt(faults, feed, kinds, least)
        found = count_numbers(client, "copies", INPUTS, feed.numbers)
    figures = {
        "inputs": feed.written,
        **found._asdict(),
        "kills": faults.kills,
        "zombies_revived": faults.zombies,
        "moves": faults.moves,
        "offsets_went_back": watch.went_back,
        "group_asked": watch.asked,
        "group_unseen": watch.unseen,
        "back_s_p50": share(faults.gaps_s, 0.5),
        "back_s_max": max(faults.gaps_s),
    }
    return Result("exactly-once", figures, {}, NOTES)


def hurt(faults: Faults, feed: Feed, kinds: Sequence[Kind], least: int) -> None:
    """All faults under load; returns when all that was written has been read."""
    watch = faults.watch
    feed.start()
    watch.start()
    until(lambda: watch.beyond({}), "every partition is read")
    for at, kind in enumerate(kinds, 1):
        say(f"fault {at} of {len(kinds)}")
        faults.play(kind)
    until(lambda: feed.written >= least, "enough was written", least / RATE)
    feed.close()
    until(lambda: watch.position() == feed.ends, "all was read", END_S)
    watch.close()


NOTES = (
    f"seed {SEED}: {len(NAMES)} containers with Spark, {TASKS} tasks, all times a quarter",
    "each number from 1 is looked for in what a reader of committed records sees",
    "group_unseen: of the times a lag tool asked for the group, those without an answer",
    "back: from the fault until every partition's committed offset had come on",
)
