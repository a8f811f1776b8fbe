"""What stands in the journal about one job's tasks: what is to run, and what was before. Pure.

Every container keeps this of all jobs (Turbine IV-A): with the shards that it is given it is all
that there is to know for running tasks, whoever else of the control plane is away.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from events.generated.records import (
    Body,
    LayerVersions,
    SyncCommitted,
    TaskSpec,
    TaskSpecsPublished,
)
from events.wire.codec import Read
from projections.syncs import DELETED

FOLDED_KINDS = frozenset(one.__name__ for one in (SyncCommitted, TaskSpecsPublished))


class ListHead(NamedTuple):
    """What holds for all tasks of a list, beside their specs: another one is another program."""

    operator: str
    guarantee: str
    package: str
    package_version: str
    config_json: str


class ListedSpecs(NamedTuple):
    """A list of task specs that stands as a whole."""

    plan_id: str
    generation: int
    tasks: int
    versions: LayerVersions
    tier: str
    regions: tuple[str, ...]
    head: ListHead
    specs: tuple[TaskSpec, ...]


class PreviousList(NamedTuple):
    """The last list that had tasks before the one that stands: its tasks must not run any more."""

    generation: int
    tasks: int
    tier: str
    regions: tuple[str, ...]


class TaskLists(NamedTuple):
    """One job. Of the list that is still coming in, the parts that there are."""

    job: str
    listed: ListedSpecs | None = None
    former: PreviousList | None = None
    part: ListedSpecs | None = None
    parts: int = 0

    @property
    def live(self) -> PreviousList | None:
        """The last list that had tasks, whether or not it still stands."""
        if self.listed is not None and self.listed.tasks:
            return former_of(self.listed)
        return self.former


def former_of(listed: ListedSpecs) -> PreviousList:
    """What is kept of a list that another replaces."""
    return PreviousList(listed.generation, listed.tasks, listed.tier, listed.regions)


def fold(row: TaskLists | None, read: Read) -> TaskLists:
    """The row after a decision that stands. Total; what does not concern it changes nothing."""
    row = row or TaskLists(read.record.key)
    body = read.record.body
    return row if body is None else apply(row, body)


def apply(row: TaskLists, body: Body) -> TaskLists:
    """The row once that was decided."""
    match body:
        case TaskSpecsPublished():
            return _published(row, body)
        case SyncCommitted():
            # All have stopped, and nobody will ask for them any more.
            return row._replace(former=None) if body.state == DELETED else row
        case _:
            return row


def _published(row: TaskLists, body: TaskSpecsPublished) -> TaskLists:
    """A list stands with its last part; one that breaks off is begun anew."""
    before = row.part
    if body.part != 1 and (before is None or body.part != row.parts + 1):
        return row._replace(part=None, parts=0)
    listed = _listed(body, before.specs if before is not None and body.part > 1 else ())
    if body.part < body.parts:
        return row._replace(part=listed, parts=body.part)
    was, former = row.listed, row.former
    if was is not None and was.tasks:
        emptied, replaced = not listed.tasks, was.generation != listed.generation
        former = former_of(was) if emptied or replaced else former
    return row._replace(listed=listed, former=former, part=None, parts=0)


def _listed(body: TaskSpecsPublished, specs: tuple[TaskSpec, ...]) -> ListedSpecs:
    return ListedSpecs(
        plan_id=body.plan_id,
        generation=body.generation,
        tasks=body.tasks,
        versions=body.versions,
        tier=body.tier,
        regions=body.regions,
        head=ListHead(
            body.operator, body.guarantee, body.package, body.package_version, body.config_json
        ),
        specs=(*specs, *body.specs),
    )


def dump(row: TaskLists) -> object:
    """As plain JSON; `load` is its inverse."""
    return {
        "job": row.job,
        "listed": None if row.listed is None else _dump_listed(row.listed),
        "former": row.former,
        "part": None if row.part is None else _dump_listed(row.part),
        "parts": row.parts,
    }


def load(plain: Any) -> TaskLists:
    """From what `dump` made, or JSON of it."""
    former = plain["former"]
    return TaskLists(
        plain["job"],
        None if plain["listed"] is None else _load_listed(plain["listed"]),
        None if former is None else PreviousList(former[0], former[1], former[2], tuple(former[3])),
        None if plain["part"] is None else _load_listed(plain["part"]),
        plain["parts"],
    )


def _dump_listed(listed: ListedSpecs) -> object:
    specs = [one.to_plain() for one in listed.specs]
    return [*listed[:3], listed.versions.to_plain(), *listed[4:7], specs]


def _load_listed(plain: Any) -> ListedSpecs:
    plan_id, generation, tasks, versions, tier, regions, head, specs = plain
    return ListedSpecs(
        plan_id,
        generation,
        tasks,
        LayerVersions.from_plain(versions),
        tier,
        tuple(regions),
        ListHead(*head),
        tuple([TaskSpec.from_plain(one) for one in specs]),
    )
