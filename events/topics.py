"""Which topics there are: what lies on each, under which key, by whose hand and for how long.

This table creates the topics and writes the contract page; nothing else names a topic.  Whose hand
may write is said here and kept by the broker: its ACLs are the operator's to make, and nothing here
makes or checks one.

A topic's *short* name is its name without the prefix of its installation and the dot behind it, a
*place* is "<short>/<partition>". All that is decided and told in records speaks of short names and
places; the prefix is a setting of who talks to the broker (`turbine_client.settings`), and the
full names here are those under the usual one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from turbine_client.topics import (
    ALERT_KINDS,
    ALERTS,
    CHANGES,
    CHANGES_BASE,
    CHANGES_ONCALL,
    CHANGES_PROVISIONER,
    CHANGES_SCALER,
    JOURNAL,
    LAYERS,
    OPERATOR,
    OUTCOME_KINDS,
    OUTCOMES,
    REQUEST_BYTES,
    TIERS,
    USUAL_PREFIX,
    full_name,
    partition_of,
    place,
    short_of,
)

__all__ = [
    "ALERTS",
    "BY_SHORT",
    "CHANGES",
    "CHANGES_BASE",
    "CHANGES_ONCALL",
    "CHANGES_PROVISIONER",
    "CHANGES_SCALER",
    "CLOCK",
    "CONTAINERS",
    "DAY_MS",
    "DEAD_LETTERS",
    "DEFAULT_PARTITIONS",
    "FACTS_MS",
    "GRANTS",
    "JOURNAL",
    "LAYERS",
    "LETTERS_MS",
    "LIVES",
    "LOADS",
    "MIB",
    "OPERATOR",
    "OUTCOMES",
    "PROFILES",
    "PUBLISHER",
    "REQUEST_BYTES",
    "ROWS_CAPACITY_MANAGER",
    "ROWS_JOB_SERVICE",
    "ROWS_SHARD_MANAGER",
    "TASKS",
    "TIERS",
    "TOPICS",
    "USUAL_PREFIX",
    "Kind",
    "Topic",
    "full_name",
    "partition_of",
    "place",
    "rows_topic",
    "short_of",
    "topics_under",
]

Kind = Literal["ingress", "operator", "journal", "tiers", "facts", "world", "dead-letters", "rows"]

DEFAULT_PARTITIONS = 16

TASKS = "tasks.v1"
LOADS = "loads.v1"
CONTAINERS = "containers.v1"
GRANTS = "grants.v1"
PROFILES = "profiles.v1"
CLOCK = "clock.v1"
DEAD_LETTERS = "dead-letters.v1"
LIVES = "lives.v1"
ROWS_JOB_SERVICE = "rows.job-service.v1"
ROWS_SHARD_MANAGER = "rows.shard-manager.v1"
ROWS_CAPACITY_MANAGER = "rows.capacity-manager.v1"

PUBLISHER = "publisher"
MIB = 1024 * 1024
DAY_MS = 24 * 3_600_000
# Longer than the 14 days of history that a workload profile is made from.
FACTS_MS = 15 * DAY_MS
# Whoever has not asked for what became of a message by then never will.
LETTERS_MS = 30 * DAY_MS


@dataclass(frozen=True, slots=True)
class Topic:
    """One line of the table; `partitions` None means P, as many as all per-job topics have. The
    name is the one under the usual prefix, but for what `topics_under` gives."""

    name: str
    short: str
    key: str
    per_job: bool
    partitions: int | None
    written_by: str
    records: tuple[str, ...]
    kind: Kind
    config: Mapping[str, str]
    doc: str


def _config(*, retention_ms: int = -1, message_bytes: int = MIB) -> Mapping[str, str]:
    return MappingProxyType(
        {
            "cleanup.policy": "delete",
            "retention.ms": str(retention_ms),
            # A size limit would let a flood of one author expire what others said.
            "retention.bytes": "-1",
            "max.message.bytes": str(message_bytes),
            # Silence, validity and expiry are measured in the broker's time, never an author's.
            "message.timestamp.type": "LogAppendTime",
        }
    )


def _compacted(segment_bytes: int) -> Mapping[str, str]:
    kept = {
        "cleanup.policy": "compact",
        # Only closed segments are compacted, and a restart reads all that is left: with Kafka's own
        # segments of 1 GiB that would be all that was written in a week.
        "segment.bytes": str(segment_bytes),
        "min.cleanable.dirty.ratio": "0.2",
    }
    return MappingProxyType(dict(_config(message_bytes=8 * MIB)) | kept)


def _topic(
    short: str,
    key: str,
    written_by: str,
    kind: Kind,
    doc: str,
    *records: str,
    per_job: bool = True,
    partitions: int | None = None,
    config: Mapping[str, str] | None = None,
) -> Topic:
    return Topic(
        full_name(USUAL_PREFIX, short),
        short,
        key,
        per_job,
        partitions,
        written_by,
        records,
        kind,
        _config() if config is None else config,
        doc,
    )


def rows_topic(component: str, *, tier_wide: bool = False) -> Topic:
    """Where a component persists its rows: its own bytes, the newest of each key. A tier-wide one
    keeps snapshots of all that it holds, in one partition. What the publisher keeps is read by each
    container that starts, so less of it may lie in a segment that is open."""
    return _topic(
        f"rows.{component}.v1",
        "slot and chunk" if tier_wide else "job",
        component,
        "rows",
        f"What the {component} knows of its tiers, to start from; what it folded may expire."
        if tier_wide
        else f"What the {component} knows of each key, to start from; the journal is the truth.",
        per_job=not tier_wide,
        partitions=1 if tier_wide else None,
        config=_compacted(MIB if component == PUBLISHER else 16 * MIB),
    )


TOPICS: tuple[Topic, ...] = (
    *(
        _topic(
            CHANGES[layer],
            "job",
            "whoever the broker lets in: the topic is the authority",
            "ingress",
            f"Wishes to change the {layer} layer of a job's config.",
            "ConfigChangeProposed",
            config=_config(message_bytes=REQUEST_BYTES),
        )
        for layer in LAYERS
    ),
    _topic(
        OPERATOR,
        "subject",
        "operators",
        "operator",
        "What operators ask for, about a job, a container or a tier.",
        "ReleaseRequested",
        "PauseRequested",
        "ResumeRequested",
        "JobDeleteRequested",
        "OffsetResetRequested",
        "DrainRequested",
        "UndrainRequested",
        "PlacementApplyRequested",
        per_job=False,
        config=_config(message_bytes=REQUEST_BYTES),
    ),
    _topic(
        JOURNAL,
        "job",
        "job service, state syncer, task service, auto scaler, auditor",
        "journal",
        "All decisions about jobs: each names its parent, and the first valid child stands.",
        *OUTCOME_KINDS[:5],
        "SyncStepStarted",
        "SyncStepDone",
        *OUTCOME_KINDS[5:9],
        "TaskSpecsPublished",
        *OUTCOME_KINDS[9:],
        *ALERT_KINDS,
    ),
    _topic(
        TIERS,
        "tier/placement or tier/capacity",
        "shard manager, capacity manager; operators (TierDefined only)",
        "tiers",
        "All decisions about tiers, chained as in the journal.",
        "TierDefined",
        "PlacementPlanned",
        "PlacementRejected",
        "ShardDropRequested",
        "ShardAddRequested",
        "ShardForceKilled",
        "ContainerFailOverRequested",
        "CapacityReported",
        "CapacityShared",
        "CapacityLent",
        "CapacityBorrowed",
        "JobsPreempted",
        "JobsRestored",
        *ALERT_KINDS,
        per_job=False,
        partitions=1,
    ),
    _topic(
        TASKS,
        "job",
        "task managers",
        "facts",
        "Lives of tasks.",
        "TaskStarted",
        "TaskStopped",
        "TaskFailed",
        "TaskStateExported",
    ),
    _topic(
        LOADS,
        "job",
        "task managers",
        "facts",
        "What each task did in each minute.",
        "TaskLoadReported",
        config=_config(retention_ms=FACTS_MS),
    ),
    _topic(
        CONTAINERS,
        "container",
        "task managers; clock (ClockTicked only); shard manager (ContainerFailedOver only);"
        " capacity manager (ContainerReassigned only)",
        "facts",
        "Lives of containers, with ticks and fail-overs in the partition that decides.",
        "ContainerStarted",
        "ContainerHeartbeat",
        "ShardDropped",
        "ShardAdded",
        "ShardLoadsReported",
        "ContainerFailedOver",
        "ContainerReassigned",
        "ClockTicked",
        per_job=False,
        config=_config(retention_ms=FACTS_MS),
    ),
    _topic(
        GRANTS,
        "job",
        "capacity manager",
        "facts",
        "How much each job may use, as effects of decisions about tiers.",
        "CapacityGranted",
        "PreemptionRequested",
    ),
    _topic(
        PROFILES,
        "job",
        "history job",
        "facts",
        "The history of each job, folded into slots of a day.",
        "WorkloadProfiled",
    ),
    _topic(
        CLOCK,
        "none",
        "clock",
        "facts",
        "The log's own clock: a tick a second where something goes on, and now and then elsewhere.",
        "ClockTicked",
        per_job=False,
        config=_config(retention_ms=FACTS_MS),
    ),
    _topic(
        OUTCOMES,
        "job",
        "publisher",
        "world",
        "What stands in the journal about jobs, once more and in order, each once.",
        *OUTCOME_KINDS,
    ),
    _topic(
        ALERTS,
        "job, tier/placement, tier/capacity or audit/logic",
        "publisher",
        "world",
        "The alerts that stand, of jobs, tiers and logics, once more and in order, each once.",
        *ALERT_KINDS,
        per_job=False,
    ),
    _topic(
        DEAD_LETTERS,
        "source",
        "any shell",
        "dead-letters",
        "What could not be read, or was taken by no webhook: bytes, headers, position and reason.",
        per_job=False,
        partitions=1,
        # What authors write is small here, and much of it the same.
        config=MappingProxyType({**_config(retention_ms=LETTERS_MS), "compression.type": "zstd"}),
    ),
    _topic(
        LIVES,
        "container",
        "task managers",
        "rows",
        "The number of each container's last life and its tier, from which the next one begins.",
        per_job=False,
        config=_compacted(MIB),
    ),
    rows_topic("auto-scaler"),
    rows_topic("capacity-manager", tier_wide=True),
    rows_topic("job-service"),
    rows_topic(PUBLISHER),
    rows_topic("shard-manager", tier_wide=True),
    rows_topic("state-syncer"),
    rows_topic("task-service"),
)


def topics_under(prefix: str, topics: Iterable[Topic] = TOPICS) -> tuple[Topic, ...]:
    """The table, or some lines of it, with the names that they have under a prefix."""
    return tuple(replace(topic, name=full_name(prefix, topic.short)) for topic in topics)


BY_SHORT: Mapping[str, Topic] = MappingProxyType({topic.short: topic for topic in TOPICS})
