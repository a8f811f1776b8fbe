"""The questions about a fleet: what is typed, what is asked for over HTTP, and what answers both.

The law of surfaces holds each against the other two, and the tables of fields are made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from turbine.read.answers.alerts import Alerts, alerts
from turbine.read.answers.fleet import Fleet, fleet
from turbine.read.answers.jobs import ListedJob, jobs
from turbine.read.answers.lag import JobBehind, PartitionBehind, TaskBehind, lag
from turbine.read.answers.lines import lines_of, some_of
from turbine.read.answers.syncs import SyncLine, syncs
from turbine.read.answers.tasks import TaskLine, tasks
from turbine.read.answers.tiers import (
    Container,
    Shard,
    Tier,
    containers,
    shards,
    tiers,
)
from turbine.read.state.view import View

Names = Mapping[str, str]


class Question(NamedTuple):
    """One question; in braces the name of what it is about."""

    command: str  # that is answered with `-o json`
    path: str  # below /api/v1
    kind: type  # of the answer, or of each item where it is a list
    answer: Callable[[View, Names], Any]
    listed: bool = True  # several items, which the API gives by the page


QUESTIONS = (
    Question(
        "top --once", "/fleet?limit=1000", Fleet, lambda view, _: fleet(view, lines_of(view)), False
    ),
    Question(
        "top --once --filter !deleted --sort lag",
        "/fleet?limit=1000&q=!deleted&sort=lag",
        Fleet,
        lambda view, _: fleet(view, lines_of(view), "!deleted", "lag"),
        False,
    ),
    Question(
        "get jobs",
        "/jobs?whole=true",
        ListedJob,
        lambda view, _: jobs(view, some_of(lines_of(view), "")),
    ),
    Question(
        "get jobs --filter {filter}",
        "/jobs?whole=true&q={filter}",
        ListedJob,
        lambda view, names: jobs(view, some_of(lines_of(view), names["filter"])),
    ),
    Question(
        "get tasks {job}",
        "/jobs/{job}/tasks",
        TaskLine,
        lambda view, names: tasks(view, names["job"]),
    ),
    Question(
        "get syncs",
        "/syncs",
        SyncLine,
        lambda view, _: syncs(view, lines_of(view)),
    ),
    Question(
        "get lag",
        "/lag",
        JobBehind,
        lambda view, _: lag(view, some_of(lines_of(view), "")),
    ),
    Question(
        "get lag --by task",
        "/lag?by=task",
        TaskBehind,
        lambda view, _: lag(view, some_of(lines_of(view), ""), "task"),
    ),
    Question(
        "get lag --by partition",
        "/lag?by=partition",
        PartitionBehind,
        lambda view, _: lag(view, some_of(lines_of(view), ""), "partition"),
    ),
    Question("get alerts", "/alerts", Alerts, lambda view, _: alerts(view), listed=False),
    Question("get tiers", "/tiers", Tier, lambda view, _: tiers(view)),
    Question(
        "get containers --tier {tier}",
        "/tiers/{tier}/containers",
        Container,
        lambda view, names: containers(view.tiers[names["tier"]], gone=False),
    ),
    Question(
        "get shards --tier {tier}",
        "/tiers/{tier}/shards",
        Shard,
        lambda view, names: shards(view.tiers[names["tier"]]),
    ),
)
