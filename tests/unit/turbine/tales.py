"""A tier's tale as the command line reads it, and writes into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from components.runtime.core.step import ROOT
from events.topics import OPERATOR, TIERS, place
from events.wire.codec import Read, Record
from projections.fleet import TierFleet
from projections.jobs import Job
from tests.unit.shard_manager.fleets import CHAIN, LIVES, Tale
from tests.unit.turbine.lines import put_for
from tests.unit.turbine.logs import log_of_reads
from turbine.read.sources.log import Standing
from turbine_client.settings import Settings


class TaleLog:
    """Stands in for a Log. What is asked is answered at once, but with `deaf`."""

    def __init__(self, tale: Tale | None, *, deaf: bool = False) -> None:
        self.tale, self.deaf = tale, deaf
        self.settings = Settings()
        self.counts = {OPERATOR: 1, TIERS: 1, "containers.v1": 1}
        self.written: list[Record] = []

    def jobs(self, **_: Any) -> dict[str, Job]:
        return {}

    def fleet(self, tier: str, *, end: Any = None) -> TierFleet | None:
        del end
        return self.tale.fleet if self.tale is not None and tier == "default" else None

    def job(self, name: str) -> None:
        """It tells of no jobs."""

    def chain(self, tier: str, *, end: Any = None) -> list[Standing]:
        del end
        known = self.tale.log if self.tale is not None and tier == "default" else []
        return [Standing(one, True) for one in known if one.place == CHAIN]

    def spoken(
        self, spans: Iterable[tuple[int, int]], kinds: frozenset[str], **_: Any
    ) -> Iterator[Read]:
        assert self.tale is not None
        asked = list(spans)
        for one in self.tale.log:
            within = any(since < one.at_ms <= until for since, until in asked)
            if one.place == LIVES and one.record.kind in kinds and within:
                yield one

    def read(
        self,
        topics: Iterable[str],
        *,
        kinds: frozenset[str] | None = None,
        start: Mapping[str, int] | None = None,
        **_: Any,
    ) -> Iterator[Read]:
        wanted = set(topics)
        for one in self.tale.log if self.tale is not None else ():
            late = one.offset >= (start or {}).get(one.place, 0)
            if one.topic in wanted and late and (kinds is None or one.record.kind in kinds):
                yield one

    def places(self, topics: Iterable[str], **_: Any) -> list[str]:
        return [place(topic, 0) for topic in topics]

    def ends(self, places: Iterable[str]) -> dict[str, int]:
        known = self.tale.log if self.tale is not None else []
        return {at: sum(one.place == at for one in known) for at in places}

    def take(self, _: Settings, topic: str, __: int, record: Record) -> None:
        """A record that is written: the tier reads it, and says what it has to say."""
        self.written.append(record)
        assert record.body is not None
        if topic == TIERS:
            self.tale = self.tale or Tale(4)
            return
        assert self.tale is not None
        self.tale.read(place(topic, 0), record.key, record.body)
        if not self.deaf:
            self.tale.settle()


def chained(tale: Tale | None) -> Iterator[Read]:
    """All that a tale's log has, each decision on the one before it."""
    last = ROOT
    for one in tale.log if tale is not None else ():
        if one.place == CHAIN:
            yield replace(one, record=replace(one.record, parent=last))
            last = one.record.id
        else:
            yield one


def serve(monkeypatch: pytest.MonkeyPatch, tale: Tale | None, *, deaf: bool = False) -> TaleLog:
    """From now on the commands read this tale, and write into it."""
    log = TaleLog(tale, deaf=deaf)
    for module in ("reading", "placement", "tiers"):
        monkeypatch.setattr(f"turbine.cli.{module}.open_log", lambda _: log)
    monkeypatch.setattr("turbine.cli.reasons.open_log", lambda _: log_of_reads(chained(log.tale)))
    monkeypatch.setattr("turbine.ops.tiers._write", log.take)

    def next_id() -> str:
        return log.tale.next_id() if log.tale else "1.x"

    put_for(monkeypatch, "new_id", next_id, "placement", "tiers")
    return log
