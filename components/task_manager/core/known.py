"""All that a container knows: its own life, its tier, and the lists of all jobs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from components.runtime.core.standing import Row
from components.task_manager.core.catalogue import Catalogue, ShardCounts
from components.task_manager.core.periods import UNIT, Periods, periods_of, scale_of
from events.generated.records import TierDefined
from events.wire.codec import Read
from projections import hold, lists
from projections.hold import ContainerHold
from projections.lists import TaskLists


class ContainerKnowledge:
    """Folded from what is read. Whether it was all read yet is for the reader to say."""

    def __init__(self, container: str, epoch: int, tier: str) -> None:
        self.hold = ContainerHold(container, epoch)
        self.tier = tier
        self.scale = UNIT
        self.periods = Periods()
        self.catalogue: Catalogue | None = None  # None: the tier is not defined yet
        self.lists: dict[str, TaskLists] = {}
        self._vectors: dict[str, Mapping[str, int]] = {}

    def live(self, read: Read) -> None:
        """A record of the partition in which this container's life lies."""
        if read.record.key == self.hold.container:
            self.hold = hold.fold(self.hold, read)

    def begin(self, key: str, row: Row, vector: Mapping[str, int]) -> None:
        """What stood of a job, or of the tier, where reading began."""
        if isinstance(row, TierDefined):
            self.hold = hold.define(self.hold, row)
            self._define(row)
            return
        self._vectors[key] = vector
        if row is not None:
            self._list(key, row)

    def learn(self, read: Read, vector: Mapping[str, int]) -> None:
        """A decision that stands, about the tier or about a job."""
        kind, key = read.record.kind, read.record.key
        if kind in hold.FOLDED_KINDS:
            self.hold = hold.fold(self.hold, read)
            if isinstance(read.record.body, TierDefined) and self.catalogue is None:
                self._define(read.record.body)
            return
        self._vectors[key] = vector
        self._list(key, lists.fold(self.lists.get(key), read))

    def _list(self, job: str, row: TaskLists) -> None:
        before, self.lists[job] = self.lists.get(job), row
        if self.catalogue is not None and _moved(before, row):
            self.catalogue.put(row)

    def vector(self, job: str) -> dict[str, int]:
        """All that is known of the job: the evidence of what is said of its tasks."""
        return dict(self._vectors.get(job, {}))

    def _define(self, body: TierDefined) -> None:
        # What was renewed before counts by another table of times, which may be a longer one.
        self.hold = self.hold._replace(lease_ms=None)
        self.scale = scale_of(body.settings_json)
        self.periods = periods_of(body.settings_json)
        self.catalogue = Catalogue(ShardCounts(body.tier, body.shards, body.regions))
        for row in self.lists.values():
            self.catalogue.put(row)


def _moved(before: TaskLists | None, row: TaskLists) -> bool:
    """Is another task to run, or over? The parts of a long list change nothing before the last."""
    if before is None:
        return True
    return row.listed is not before.listed or row.former is not before.former
