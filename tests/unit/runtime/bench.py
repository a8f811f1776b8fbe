"""A toy component and a bench to try the one step on: a log, an owner, and what it is fed by hand.

The toy answers each wish on `changes.base.v1` with an AlertRaised on the journal. Each of its
decisions owes one more alert on `alerts.v1`. A wish that expires asks for a wake-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from components.runtime.core.component import Component, Effect, places_of
from components.runtime.core.step import ROOT, KeyState, Stepper
from events.generated.records import (
    AlertRaised,
    Body,
    ConfigChangeProposed,
    JobDeleteRequested,
    SyncStepDone,
)
from events.topics import ALERTS, CHANGES_BASE, CLOCK, JOURNAL, LOADS, OPERATOR, place
from events.wire.codec import Read, Record, encode
from simulation.log import PARTITION, TICKS, SimulatedLog, SimulatedRecord
from turbine.lab.kernel import VirtualClock
from turbine_client.identity import effect_id

BASE, DECISIONS, SENT, ASKED, UNHEARD = (
    place(short, PARTITION) for short in (CHANGES_BASE, JOURNAL, ALERTS, OPERATOR, LOADS)
)
BEGIN_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class Toy:
    """What the toy knows of a key: wishes in the order of folding, decisions, and what is owed."""

    name: str
    folded: tuple[str, ...] = ()  # ids, in the order in which they were folded
    wishes: int = 0
    answers: int = 0
    owed: tuple[str, ...] = ()
    wake_at_ms: int | None = None


def fold(row: Toy | None, read: Read) -> Toy:
    row, record = row or Toy(read.record.key), read.record
    row = replace(row, folded=(*row.folded, record.id))
    match record.body:
        case ConfigChangeProposed(expires_ms=at_ms):
            return replace(row, wishes=row.wishes + 1, wake_at_ms=at_ms or row.wake_at_ms)
        case AlertRaised() if read.topic == JOURNAL:
            owed = (*row.owed, effect_id(record.id, "alert"))
            return replace(row, answers=row.answers + 1, owed=owed)
        case AlertRaised():
            return replace(row, owed=tuple(name for name in row.owed if name != record.id))
        case _:
            return row


def decide(row: Toy, now_ms: int) -> Iterator[Body]:
    for number in range(row.answers, row.wishes):
        yield alert(row.name, f"answer {number}")
    if row.wake_at_ms is not None and row.wake_at_ms <= now_ms and row.answers <= row.wishes:
        yield alert(row.name, "it is time")


def effects(row: Toy) -> Iterator[Effect]:
    for name in row.owed:
        yield Effect(ALERTS, name, alert(row.name, "owed"))


def wake_ms(row: Toy, now_ms: int) -> int | None:
    at_ms = row.wake_at_ms
    return at_ms if at_ms is not None and at_ms > now_ms else None


def dump(row: Toy) -> object:
    return [row.name, row.folded, row.wishes, row.answers, row.owed, row.wake_at_ms]


def load(plain: Any) -> Toy:
    name, folded, wishes, answers, owed, wake_at_ms = plain
    return Toy(name, tuple(folded), wishes, answers, tuple(owed), wake_at_ms)


def alert(name: str, cause: str) -> AlertRaised:
    return AlertRaised(name, "toy", "warning", cause, "toy")


toy: Component[Toy] = Component(
    name="toy",
    logic="toy/1",
    output=JOURNAL,
    inputs=frozenset({CHANGES_BASE, OPERATOR, JOURNAL, ALERTS}),
    folds=frozenset({"ConfigChangeProposed", "JobDeleteRequested", "AlertRaised"}),
    says=frozenset({"AlertRaised"}),
    fold=fold,
    decide=decide,
    effects=effects,
    wake_ms=wake_ms,
    dump=dump,
    load=load,
)


class Bench:
    """A log that is written by hand, and one owner of the toy that reads it by hand."""

    def __init__(self, log: SimulatedLog | None = None, clock: VirtualClock | None = None) -> None:
        self.clock = clock or VirtualClock(BEGIN_MS)
        self.log = log or SimulatedLog(self.clock, over_the_wire=False)
        self.owner = self.assign()
        self.count = 0

    def assign(
        self,
        *,
        held: dict[str, KeyState[Toy]] | None = None,
        seen: dict[str, int] | None = None,
        component: Component[Toy] = toy,
    ) -> Stepper[Toy]:
        """An owner as at an assignment: the ends are those of now."""
        places = places_of(component, [PARTITION])
        ends = {at: self.log.end(at) for at in places}
        self.owner = Stepper(component, places, self.log.possible, ends=ends, held=held, seen=seen)
        return self.owner

    # --- writing

    def wish(self, name: str = "", *, key: str = "orders", **said: Any) -> SimulatedRecord:
        """A wish on its ingress topic; fields of the record by their names."""
        self.count += 1
        name = name or f"wish-{self.count}"
        wake_at_ms = said.pop("wake_at_ms", None)
        body = ConfigChangeProposed(change_id=name, job=key, author="ann", expires_ms=wake_at_ms)
        return self.write(CHANGES_BASE, name, body, key=key, **said)

    def other(self, name: str, *, key: str = "orders", **said: Any) -> SimulatedRecord:
        """A record of another input."""
        body = JobDeleteRequested(change_id=name, job=key, author="ann", reason="")
        return self.write(OPERATOR, name, body, key=key, **said)

    def decision(
        self, name: str, parent: str = ROOT, *, key: str = "orders", **said: Any
    ) -> SimulatedRecord:
        """A decision by somebody."""
        return self.write(JOURNAL, name, alert(key, name), key=key, parent=parent, **said)

    def unheard(self) -> SimulatedRecord:
        """A record on a topic that the toy does not read."""
        return self.write(LOADS, "unheard", alert("orders", "unheard"), key="orders")

    def step_done(self, name: str, parent: str = ROOT, *, key: str = "orders") -> SimulatedRecord:
        """A decision of a kind that the toy does not fold."""
        body = SyncStepDone(job=key, plan_id="plan", step=1, name="stop")
        return self.write(JOURNAL, name, body, key=key, parent=parent)

    def write(
        self, topic: str, name: str, body: Body, *, key: str, build: int = 1, **said: Any
    ) -> SimulatedRecord:
        record = Record(key, name, type(body).__name__, encode(body), body, **said)
        return self.log.append(topic, record, build)

    def land(self, said: Iterable[tuple[str, Record]]) -> None:
        """What was said arrives in the log, in that order."""
        for topic, record in said:
            self.log.append(topic, record)

    # --- reading

    def tick(self, after_ms: int = 1_000) -> None:
        """Time passes, the clock says so, and the owner hears it."""
        self.clock.now_ms += after_ms
        self.log.append(CLOCK, Record("", "", "ClockTicked", b"", None))
        self.read(TICKS)

    def read(self, *places: str, most: int = 10**9, build: int = 2) -> None:
        """One poll of these places, one after another, to their ends; of all without a name."""
        for at in places or (BASE, ASKED, DECISIONS, SENT, TICKS):
            begin = self.owner.seen.get(at, 0)
            for offset in range(begin, min(self.log.end(at), begin + most)):
                self.hear(at, offset, build)
        self.owner.settle()

    def hear(self, at: str, offset: int, build: int = 2) -> None:
        """The owner gets to read one record, again perhaps."""
        if at == TICKS:
            self.owner.tick(at, offset, self.log.lines[at][offset].at_ms)
        else:
            self.owner.read(self.log.read(at, offset, self.owner.component.folds, build))

    def say(self) -> list[tuple[str, Record]]:
        """What the owner has to say once it has read all that there is."""
        self.read()
        return self.owner.flush()

    def settle(self) -> list[Record]:
        """Lets it speak and read back until it says no more; all that it said, in order."""
        out: list[Record] = []
        while said := self.say():
            out.extend(record for _, record in said)
            self.land(said)
        return out

    @property
    def held(self) -> KeyState[Toy]:
        """What is held of the usual key."""
        return self.owner.held["orders"]

    @property
    def row(self) -> Toy:
        """The row of the usual key."""
        row = self.held.row
        assert row is not None
        return row
