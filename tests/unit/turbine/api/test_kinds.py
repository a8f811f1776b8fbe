"""Answers are what their types say, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.turbine.api.test_answers import get
from tests.unit.turbine.api.world import World
from turbine.api.documents import Policies
from turbine.api.paging import Items, JobPage, Page, TierItems, TierPage
from turbine.read.answers.alerts import Alerts
from turbine.read.answers.diff import ChangedSubject
from turbine.read.answers.digest import Digest
from turbine.read.answers.fleet import Fleet
from turbine.read.answers.jobs import ListedJob
from turbine.read.answers.lag import JobBehind, PartitionBehind, TaskBehind
from turbine.read.answers.lines import JobLine
from turbine.read.answers.platform import Platform, TopicLine
from turbine.read.answers.syncs import SyncLine
from turbine.read.answers.tasks import Task, TaskLine
from turbine.read.answers.tiers import Container, Shard, Tier
from turbine.read.plain import adapter

ANSWERS: list[tuple[str, Any]] = [
    ("/fleet?limit=9", Fleet),
    ("/alerts", Alerts),
    ("/jobs", Page[JobLine]),
    ("/jobs?whole=true", Page[ListedJob]),
    ("/jobs/clicks/tasks", JobPage[TaskLine]),
    ("/jobs/clicks/tasks/1", Task),
    ("/syncs", Page[SyncLine]),
    ("/topics", Items[TopicLine]),
    ("/digest", Digest),
    ("/lag", Page[JobBehind]),
    ("/lag?by=task", Page[TaskBehind]),
    ("/lag?by=partition", Page[PartitionBehind]),
    ("/diff?from=1970-01-01T00:00:01Z", Page[ChangedSubject]),
    ("/policies", Policies),
    ("/platform", Platform),
    ("/tiers", Items[Tier]),
    ("/tiers/default/containers", TierItems[Container]),
    ("/tiers/default/shards", TierPage[Shard]),
]


@pytest.mark.parametrize(("target", "kind"), ANSWERS)
def test_an_answer_is_what_its_type_says_and_no_more(world: World, target: str, kind: Any) -> None:
    found = get(world, target)
    assert (
        adapter(kind).dump_python(adapter(kind).validate_python(found), mode="json", by_alias=True)
        == found
    )
