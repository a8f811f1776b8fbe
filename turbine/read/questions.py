"""The questions about a fleet: what is typed, what is asked for over HTTP, and what answers both.

The law of surfaces holds each against the other two, and the tables of fields are made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from turbine.read.answers.alerts import Alerts, alerts
from turbine.read.answers.diff import ChangedSubject, diff
from turbine.read.answers.digest import Digest
from turbine.read.answers.digest import look as digest
from turbine.read.answers.fleet import Fleet, fleet
from turbine.read.answers.jobs import ListedJob, jobs
from turbine.read.answers.lag import JobBehind, PartitionBehind, TaskBehind, lag
from turbine.read.answers.lines import lines_of, some_of
from turbine.read.answers.policies import PolicyLine, policy
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
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.state.past import view_at
from turbine.read.state.view import View


class Asked(NamedTuple):
    """What a question is about, and where its answer is looked for."""

    log: Log
    view: View
    names: Mapping[str, str]  # what stands for the names in braces
    then_ms: int  # the instant that `then` names

    def before(self) -> View:
        """What the log said at that instant."""
        return view_at(self.log, self.log.at(self.then_ms, topics_of(self.log)))


class Question(NamedTuple):
    """One question; in braces the name of what it is about."""

    command: str  # that is answered with `-o json`
    path: str  # below /api/v1
    kind: type  # of the answer, or of each item where it is a list
    answer: Callable[[Asked], Any]
    listed: bool = True  # several items, which the API gives by the page
    moment: str = "--at"  # the option that names what the API calls `at`; "" of no log


QUESTIONS = (
    Question(
        "top --once",
        "/fleet?limit=1000",
        Fleet,
        lambda asked: fleet(asked.view, lines_of(asked.view)),
        False,
    ),
    Question(
        "top --once --filter !deleted --sort lag",
        "/fleet?limit=1000&q=!deleted&sort=lag",
        Fleet,
        lambda asked: fleet(asked.view, lines_of(asked.view), "!deleted", "lag"),
        False,
    ),
    Question(
        "get jobs",
        "/jobs?whole=true",
        ListedJob,
        lambda asked: jobs(asked.view, some_of(lines_of(asked.view), "")),
    ),
    Question(
        "get jobs --filter {filter}",
        "/jobs?whole=true&q={filter}",
        ListedJob,
        lambda asked: jobs(asked.view, some_of(lines_of(asked.view), asked.names["filter"])),
    ),
    Question(
        "get tasks {job}",
        "/jobs/{job}/tasks",
        TaskLine,
        lambda asked: tasks(asked.view, asked.names["job"]),
    ),
    Question(
        "get syncs",
        "/syncs",
        SyncLine,
        lambda asked: syncs(asked.view, lines_of(asked.view)),
    ),
    Question(
        "get lag",
        "/lag",
        JobBehind,
        lambda asked: lag(asked.view, some_of(lines_of(asked.view), "")),
    ),
    Question(
        "get lag --by task",
        "/lag?by=task",
        TaskBehind,
        lambda asked: lag(asked.view, some_of(lines_of(asked.view), ""), "task"),
    ),
    Question(
        "get lag --by partition",
        "/lag?by=partition",
        PartitionBehind,
        lambda asked: lag(asked.view, some_of(lines_of(asked.view), ""), "partition"),
    ),
    Question("get alerts", "/alerts", Alerts, lambda asked: alerts(asked.view), listed=False),
    Question(
        "diff --from {then}",
        "/diff?from={then}",
        ChangedSubject,
        lambda asked: diff(asked.log, asked.before(), asked.view),
        moment="--to",
    ),
    Question(
        "digest --since {then}",
        "/digest?from={then}",
        Digest,
        lambda asked: digest(asked.log, asked.view, lines_of(asked.view), asked.then_ms),
        listed=False,
    ),
    Question("get tiers", "/tiers", Tier, lambda asked: tiers(asked.view)),
    Question(
        "get containers --tier {tier}",
        "/tiers/{tier}/containers",
        Container,
        lambda asked: containers(asked.view.tiers[asked.names["tier"]], gone=False),
    ),
    Question(
        "get shards --tier {tier}",
        "/tiers/{tier}/shards",
        Shard,
        lambda asked: shards(asked.view.tiers[asked.names["tier"]]),
    ),
    Question(
        "describe policy {policy}",
        "/policies/{policy}",
        PolicyLine,
        lambda asked: policy(asked.names["policy"]),
        listed=False,
        moment="",
    ),
)
