"""Every kind of record has its sentence, whatever its fields hold: one line, and no JSON."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.generated.records import RECORDS, from_plain
from events.job_config.strict_json import printable
from events.sentences import LINE, UNREAD, Said, sentence
from events.wire.codec import decode
from tests.golden.write import paths_of
from tests.laws.plain import NEWEST, plains

PLAIN_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='{}[]"'), max_size=300
)
"""As people and programs write; what they quote of others is theirs."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | PLAIN_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN_TEXT, inner, max_size=3),
    max_leaves=6,
)
JSON = st.dictionaries(PLAIN_TEXT, VALUES, max_size=3).map(json.dumps)
SPOILT = st.sampled_from(["", "{", "[]", "null", "9" * 5_000, "[" * 5_000, '{"a":1,"a":2}'])
PLAIN = plains({"_json": JSON | SPOILT, "to": JSON | SPOILT | PLAIN_TEXT, "": PLAIN_TEXT})

MATTERS: dict[str, tuple[str, ...]] = {
    "AlertCleared": ("alert", "explanation"),
    "AlertRaised": ("severity", "alert", "cause"),
    "CapacityBorrowed": ("lender", "explanation"),
    "CapacityGranted": ("tasks_max", "explanation"),
    "CapacityLent": ("borrower", "explanation"),
    "CapacityReported": ("state", "containers", "jobs", "jobs_waiting", "jobs_preempted"),
    "CapacityShared": ("explanation",),
    "ClockTicked": ("number",),
    "ConfigChangeProposed": ("author", "clear", "reason"),
    "ContainerFailOverRequested": ("container", "explanation"),
    "ContainerFailedOver": ("container", "epoch", "explanation"),
    "ContainerHeartbeat": ("container", "state", "shards", "tasks"),
    "ContainerReassigned": ("container", "tier", "explanation"),
    "ContainerStarted": ("container", "epoch", "tier", "region"),
    "DrainRequested": ("author", "container", "reason"),
    "JobConfigChanged": ("layer", "version", "author", "reason"),
    "JobConfigRejected": ("reason", "author", "path", "explanation"),
    "JobDeleteRequested": ("author", "reason"),
    "JobDeleted": ("author", "reason"),
    "JobQuarantined": ("name", "explanation"),
    "JobReleased": ("author", "reason"),
    "JobsPreempted": ("jobs", "explanation"),
    "JobsRestored": ("explanation",),
    "OffsetResetRequested": ("author", "to", "reason"),
    "OverrideExpired": ("layer", "version"),
    "PauseRequested": ("author", "reason"),
    "PlacementApplyRequested": ("author", "plan_id", "reason"),
    "PlacementPlanned": ("moves", "trigger", "plan_id", "explanation"),
    "PlacementRejected": ("plan_id", "reason", "explanation"),
    "PreemptionRequested": ("action", "tasks_max", "explanation"),
    "ReleaseRequested": ("author", "reason"),
    "ResumeRequested": ("author", "reason"),
    "ScalingDecided": ("final_tasks", "mode", "explanation"),
    "ScalingDeclined": ("reason", "explanation"),
    "ScalingReverted": ("explanation",),
    "ScalingVerified": ("explanation",),
    "ShardAddRequested": ("shard", "from_container", "container", "reason"),
    "ShardAdded": ("container", "shard", "tasks"),
    "ShardDropRequested": ("shard", "container", "to_container", "reason"),
    "ShardDropped": ("container", "shard"),
    "ShardForceKilled": ("shard", "container", "explanation"),
    "ShardLoadsReported": ("container",),
    "SyncCommitted": ("state", "tasks"),
    "SyncFailed": ("name", "failures", "explanation"),
    "SyncPlanned": ("intent", "attempt"),
    "SyncStepDone": ("name",),
    "SyncStepStarted": ("name",),
    "TaskFailed": ("task", "container", "cause", "error_class", "explanation"),
    "TaskLoadReported": ("task", "records_in_per_s", "lag_records"),
    "TaskSpecsPublished": ("tasks", "operator", "package", "package_version", "generation"),
    "TaskStarted": ("task", "container", "attempt"),
    "TaskStateExported": ("task",),
    "TaskStopped": ("task", "container", "cause"),
    "TierDefined": ("tier", "shards", "regions"),
    "UndrainRequested": ("author", "container", "reason"),
    "WorkloadProfiled": (),
}


def test_no_kind_is_left_out() -> None:
    assert set(get_args(Said)) == set(RECORDS.values())
    assert MATTERS.keys() == RECORDS.keys()


@pytest.mark.parametrize("kind", sorted(RECORDS))
def test_the_sentence_of_each_kind_names_what_matters(kind: str) -> None:
    binary, text = paths_of(NEWEST[kind])
    said, told = sentence(decode(binary.read_bytes())), json.loads(text.read_text())
    assert well_formed(said)
    for name in MATTERS[kind]:
        assert any(one in said for one in written(told[name])), (name, said)


def written(value: Any) -> list[str]:
    """How a value may stand in a sentence."""
    match value:
        case list():
            return [str(value[0])]
        case int() | float():
            return [str(value), f"{value:,.0f}"]
        case _:
            return [str(value)]


def well_formed(said: str) -> bool:
    return 0 < len(said) <= LINE and said == printable(said) and "{" not in said


@pytest.mark.parametrize("kind", sorted(RECORDS))
@given(data=st.data())
def test_any_record_of_a_kind_is_one_line_without_json(kind: str, data: st.DataObject) -> None:
    body = from_plain(RECORDS[kind], data.draw(PLAIN[kind]))
    said = sentence(body)
    assert well_formed(said), said
    assert said == sentence(body), "the same again"


def test_what_cannot_be_read_says_so() -> None:
    assert sentence(None) == UNREAD
