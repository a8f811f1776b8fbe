"""A plant under the auto scaler itself: what it asks for is accepted, and what runs reports.

A back-test asks a policy; here the component decides, by its own fold, with all that stands between
a verdict and a change: budgets, turns, grants, what people have set, outcomes. The job service and
the state syncer are played in the small. All that is said is a record, so that a played history can
be read like a real one. Pure, but for the plant's seeded stream.
"""

from __future__ import annotations

import json
import random  # noqa: TID251 - the type of a seeded stream; nothing is drawn from the module
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from components.auto_scaler.decide import component
from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    ScalingDecided,
    ScalingReverted,
    SyncCommitted,
    SyncKind,
    SyncPlanned,
)
from events.job_config.config import Invalid, validate_config
from events.job_config.merge import change_layer, merge_layers
from events.job_config.strict_json import canonical_json
from events.topics import CHANGES, JOURNAL, LAYERS, LOADS, place
from events.wire.codec import Read, Record, encode
from projections.scaling.facts import ASSIGNMENT, Facts, facts_of
from projections.scaling.row import ScalingRow
from projections.scaling.seen import MINUTE_MS, Minute
from turbine.lab.plant.plant import MINUTE_S, Plant
from turbine.lab.plant.played_job import (
    Pause,
    PlantLayers,
    PlayedMinute,
    PolicyWish,
    SizeChange,
    sized,
)
from turbine.lab.plant.reports import ReportShape, reports
from turbine_client.identity import decision_id

LOOKS_MOST = 64
"""Between two minutes: a component that wants to look more often than that never comes to rest."""
LATE_MS = 15_000
"""Of a report after its minute, where chance takes part: tasks tell of their minutes at their own
times, and brokers are slow now and then."""
TAKES = (0.7, 1.5)
"""Of the usual time of a restart."""
ASKS = CHANGES["scaler"]
SYNCER, JOBS = "state-syncer", "job-service"
ROOT = "root"


class ClosedLoop:
    """One job from an instant on; `reads` is its log where it is kept."""

    def __init__(
        self,
        plant: Plant,
        row: ScalingRow,
        layers: PlantLayers,
        now_ms: int,
        *,
        wish: PolicyWish | None = None,
        topics: Sequence[tuple[str, int]] = (),
        keep: bool = False,
        chance: random.Random | None = None,
        pauses: Sequence[Pause] = (),
    ) -> None:
        self.plant, self.row, self.layers, self.now_ms = plant, row, layers, now_ms
        self.wish, self.keep = wish, keep
        self._chance = chance  # what comes late comes as late as it draws; None: nothing does
        self.reads: list[Read] = []
        self.played: list[PlayedMinute] = []
        self.deeds: list[SizeChange] = []
        self._places = [(topic, number) for topic, count in topics for number in range(count)]
        self._ends: defaultdict[str, int] = defaultdict(int)
        self._last, self._number = ROOT, 0
        # Tasks that go on count on: who reported as much before would not be heard.
        self._count = max([one.report for one in row.learnt.rounds.heard.values()], default=0)
        self._specs = row.learnt.rounds.specs
        self._due: tuple[int, SyncCommitted] | None = None
        self._pauses, self._unseen_s = pauses, 0.0
        self.restarts = 0

    # --- what people and others want

    def begin(self) -> None:
        """The job is as its layers say, and runs."""
        rounds, facts = self.row.learnt.rounds, self._facts()
        assert facts is not None, "who begins has looked at its config"
        # Its tasks run on under the specs that they have, where they are as many.
        if not rounds.specs or rounds.tasks != facts.size.tasks:
            self._specs += 2
        for layer in LAYERS:
            at = LAYERS.index(layer)
            if self.layers.configs[at] or at == 0:
                self.layers.versions[at] += 1
                self._changed(layer, f"{self.now_ms + MINUTE_MS}.begin-{layer}", "begin")
        self.tell(JOURNAL, self._committed("simple"), source=SYNCER)
        self._placed()
        if facts.paused:
            self.plant.stop()

    def want(self, layer: str, config: dict[str, Any], name: str, author: str) -> None:
        """Somebody's layer is another one from now on."""
        at = LAYERS.index(layer)
        before = self._facts(), self._expected()
        self.layers.configs[at] = config
        self.layers.versions[at] += 1
        self._changed(layer, name, author)
        self._sync(*before)

    def hear(self, read: Read) -> None:
        """What others have said is read."""
        self.row = component.fold(self.row, read)

    def _expected(self) -> dict[str, Any]:
        merged: dict[str, Any] = merge_layers(self.layers.configs)
        if self.wish is None:
            return merged
        said = merged.get("policy")
        pace = {} if not isinstance(said, dict) else said
        named = {"name": self.wish.name, "settings": dict(self.wish.settings), "mode": "act"}
        return merged | {"policy": {**pace, **named}}

    def _facts(self) -> Facts | None:
        return facts_of(canonical_json(self._expected()))

    # --- a minute

    def step(self, at_ms: int, rate: float) -> None:
        """The minute until then, in which so many records a second came in."""
        self._pass(at_ms)
        told = self.plant.step(rate)
        self.now_ms = at_ms
        pace = self._pace
        lag_s, down_s = self.plant.lag_s * pace, MINUTE_S * pace
        if told is not None:
            down_s = told.down_s * pace
            if told.down_s < MINUTE_S:
                self._report(told, pace)
        self.played.append(PlayedMinute(at_ms, rate, lag_s, self.plant.size, down_s))
        self._speak()

    @property
    def _pace(self) -> float:
        """How long one of the job's minutes lasts, in minutes."""
        facts = self.row.config.facts
        return 1.0 if facts is None else facts.interval_ms / MINUTE_MS

    def _pass(self, until_ms: int) -> None:
        """What is due before then: a change comes into effect, the scaler wants to look again."""
        for _ in range(LOOKS_MOST):
            due = [component.wake_ms(self.row, self.now_ms), self._due and self._due[0]]
            soonest = min((at for at in due if at is not None and at < until_ms), default=None)
            if soonest is None:
                return
            self.now_ms = max(self.now_ms, soonest)
            self._commit()
            self._speak()

    def _commit(self) -> None:
        if self._due is not None and self._due[0] <= self.now_ms:
            body, self._due = self._due[1], None
            self.tell(JOURNAL, body, source=SYNCER)

    # --- the scaler

    def _speak(self) -> None:
        self._commit()
        evidence = dict(self._ends) if self.keep else {}
        for body in list(component.decide(self.row, self.now_ms)):
            self._note(body)
            self.tell(JOURNAL, body, source=component.name, evidence=evidence)
        for effect in list(component.effects(self.row)):
            assert effect.topic == ASKS, "the scaler asks for nothing else"
            known = dict(self._ends) if self.keep else {}  # the decision that owes it is among it
            self.tell(
                effect.topic, effect.body, name=effect.id, source=component.name, evidence=known
            )
            assert isinstance(effect.body, ConfigChangeProposed)
            self._answer(effect.body)

    def _note(self, body: Body) -> None:
        facts = self.row.config.facts
        if facts is None:
            return
        match body:
            case ScalingDecided(mode="act"):
                after = sized(facts.size, json.loads(body.set_json))
                told = SizeChange(self.now_ms, body.action, facts.size, after, body.explanation)
                self.deeds.append(told)
            case ScalingReverted(revert_change_id=str()) if self.row.change is not None:
                after = self.row.change.before
                self.deeds.append(
                    SizeChange(self.now_ms, "revert", facts.size, after, body.explanation)
                )
            case _:
                return

    # --- the job service and the state syncer

    def _answer(self, body: ConfigChangeProposed) -> None:
        at, before = LAYERS.index("scaler"), (self._facts(), self._expected())
        old = self.layers.configs[at]
        self.layers.configs[at] = change_layer(old, json.loads(body.set_json), body.clear)
        wrong = validate_config(self._expected())
        if isinstance(wrong, Invalid):
            self.layers.configs[at] = old
            refused = JobConfigRejected(
                job=self.row.name,
                ingress="scaler",
                change_id=body.change_id,
                reason="invalid",
                explanation=str(wrong),
                path="",
                version=self.layers.versions[at],
                author=body.author,
            )
            self.tell(JOURNAL, refused, source=JOBS)
            return
        self.layers.versions[at] += 1
        self._changed("scaler", body.change_id, body.author)
        self._sync(*before)

    def _changed(self, layer: str, name: str, author: str) -> None:
        at = LAYERS.index(layer)
        body = JobConfigChanged(
            job=self.row.name,
            layer=layer,  # type: ignore[arg-type]  # one of the four
            change_id=name,
            version=self.layers.versions[at],
            versions=self.layers.vector,
            layer_json=canonical_json(self.layers.configs[at]),
            expected_json=canonical_json(self._expected()),
            author=author,
        )
        self.tell(JOURNAL, body, source=JOBS)

    def _sync(self, before: Facts | None, was: Mapping[str, Any]) -> None:
        """Another size, or another sharing, is a restart; the rest is in effect at once."""
        after = self._facts()
        if after is None or before is None:
            return
        if after.paused and not before.paused:
            self.plant.stop()
        shared = self._expected().get(ASSIGNMENT) != was.get(ASSIGNMENT)
        resumed = before.paused and not after.paused
        if after.size == before.size and not shared and not resumed:
            if self._due is None:
                self.tell(JOURNAL, self._committed("simple"), source=SYNCER)
            else:
                self._due = (self._due[0], self._committed("complex"))
            return
        self._specs += 2
        self.restarts += 1
        self.tell(JOURNAL, self._planned(), source=SYNCER)
        if not after.paused:
            self.plant.resize(after.size)
            self._placed()
        ends_ms = self.now_ms + round(self._paused_s(stopped=after.paused) * 1000)
        self._due = (ends_ms, self._committed("complex"))

    def _paused_s(self, *, stopped: bool) -> float:
        """What a restart takes: as those that were measured, in their order, if there are any."""
        took_s = self.plant.nature.restart_s * self._pace
        if self._pauses:
            pause = self._pauses[(self.restarts - 1) % len(self._pauses)]
            took_s, self._unseen_s = pause.took_s, pause.seen_s - pause.took_s
        elif self._chance is not None:
            took_s *= self._chance.uniform(*TAKES)
        if not stopped:
            self.plant.down(took_s / self._pace)
        return took_s

    def _planned(self) -> SyncPlanned:
        return SyncPlanned(
            self.row.name, f"p{self._specs}", "played", "complex", "change", self.layers.vector,
            self._specs, (), canonical_json(self._expected()),
        )  # fmt: skip

    def _committed(self, kind: SyncKind) -> SyncCommitted:
        plain, facts = self._expected(), self._facts()
        assert facts is not None, "an invalid config is refused"
        return SyncCommitted(
            job=self.row.name,
            plan_id=f"p{self._specs}",
            kind=kind,
            versions=self.layers.vector,
            generation=self._specs,
            running_json=canonical_json(plain),
            state="paused" if facts.paused else "running",
            tasks=facts.size.tasks,
        )

    def _placed(self) -> None:
        """Partitions go to the tasks that an assignment names; the others are dealt round."""
        asked = self._expected().get(ASSIGNMENT)
        if not asked or not self._places:
            return
        named = {one: task for task, ones in enumerate(asked) for one in ones}
        tasks = self.plant.size.tasks
        self.plant.assign(
            [
                named.get(f"{topic}/{number}", at % tasks)
                for at, (topic, number) in enumerate(self._places)
            ]
        )

    # --- the tasks

    def _report(self, told: Minute, pace: float) -> None:
        """Each task tells of the time in which it ran, as tasks do."""
        self._count += 1
        shape = ReportShape(self.row.name, self._specs, self._count, pace, self._unseen_s)
        self._unseen_s = 0.0
        bodies = list(reports(self.plant, told, shape, self._places))
        for body, at_ms in zip(bodies, self._late(len(bodies), pace), strict=True):
            self.now_ms = at_ms
            self.tell(LOADS, body)

    def _late(self, count: int, pace: float) -> list[int]:
        """When each task's report lies in the log."""
        if self._chance is None:
            return [self.now_ms] * count
        most_ms = LATE_MS * pace
        return sorted(self.now_ms + round(self._chance.uniform(0, most_ms)) for _ in range(count))

    # --- the log

    def tell(
        self,
        topic: str,
        body: Body,
        *,
        name: str = "",
        source: str = "",
        evidence: Mapping[str, int] | None = None,
    ) -> None:
        """A record that is read at once, by the scaler and by whoever reads this log later."""
        key, kind, at = self.row.name, type(body).__name__, place(topic, 0)
        value = encode(body) if self.keep or topic != LOADS else b""
        parent = self._last if topic == JOURNAL else ""
        self._number += 1
        if parent:
            name = decision_id(parent, key, kind, value)
            self._last = name
            if evidence is None and self.keep:
                evidence = dict(self._ends)
        record = Record(
            key=key,
            id=name or f"played-{self._number}",
            kind=kind,
            value=value,
            body=body,
            parent=parent,
            evidence=evidence or {},
            tick_ms=self.now_ms if parent or source else 0,
            logic=component.logic if source == component.name else source,
            source=source,
            cause=(getattr(body, "change_id", None) or "") if parent else "",
        )
        read = Read(at, topic, self._ends[at], self.now_ms, record)
        self._ends[at] += 1
        if self.keep:
            self.reads.append(read)
        self.row = component.fold(self.row, read)
