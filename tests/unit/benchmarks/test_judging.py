"""The judge of verdicts finds what is missing, doubled or skipped when it is planted."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from benchmarks.authors import KINDS, Part, Versions, Wish, wishes
from benchmarks.simulation import differences
from benchmarks.verdicts import judge, version_gaps
from events.generated.records import (
    Body,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleted,
    LayerVersions,
    OverrideExpired,
)
from events.wire.codec import SKIPPED, Read, Record
from turbine.read.sources.log import Standing

SENT: dict[str, Any] = {name: {"id": name, "at_ms": 1_000.0} for name in ("a", "b")}


def read(kind: str, cause: str = "", body: Body = SKIPPED, at_ms: int = 1_500) -> Read:
    record = Record("job", f"id-{cause}", kind, b"", body, cause=cause)
    return Read("journal.v1/0", "journal.v1", 0, at_ms, record)


def stand(*reads: Read) -> list[Standing]:
    return [Standing(one, True) for one in reads]


ACCEPTED, REJECTED = read("JobConfigChanged", "a"), read("JobConfigRejected", "b", at_ms=3_000)


def test_one_verdict_each_is_as_it_should_be() -> None:
    found = judge(SENT, [ACCEPTED, REJECTED], stand(ACCEPTED, REJECTED))
    assert found == {
        "changes": 2,
        "verdicts_missing": 0,
        "verdicts_doubled": 0,
        "version_gaps": 0,
        "accepted": 1,
        "rejected": 1,
        "decisions": 2,
        "void": 0,
        "median_wait_s": 2.0,
        "longest_wait_s": 2.0,
    }


@pytest.mark.parametrize(
    ("told", "standing"),
    [([ACCEPTED], [ACCEPTED, REJECTED]), ([ACCEPTED, REJECTED], [ACCEPTED]), ([], [])],
)
def test_a_verdict_is_missing_where_either_has_none(told: list[Read], standing: list[Read]) -> None:
    found = judge(SENT, told, stand(*standing))
    assert found["verdicts_missing"] == len(SENT) - min(len(told), len(standing))


def test_a_verdict_that_lost_is_none() -> None:
    found = judge(SENT, [ACCEPTED, REJECTED], [*stand(ACCEPTED), Standing(REJECTED, False)])
    assert (found["verdicts_missing"], found["void"], found["decisions"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("told", "standing"),
    [
        ([ACCEPTED, REJECTED, ACCEPTED], [ACCEPTED, REJECTED]),
        ([ACCEPTED, REJECTED], [ACCEPTED, REJECTED, read("JobConfigRejected", "a")]),
    ],
)
def test_a_second_verdict_is_found_wherever_it_is(told: list[Read], standing: list[Read]) -> None:
    assert judge(SENT, told, stand(*standing))["verdicts_doubled"] == 1


def test_what_nobody_asked_and_what_is_no_verdict_is_not_counted() -> None:
    foreign, expiry = read("JobConfigChanged", "other"), read("OverrideExpired", "a")
    found = judge(
        SENT,
        [ACCEPTED, REJECTED, foreign, expiry],
        stand(ACCEPTED, REJECTED, foreign, expiry),
    )
    assert (found["verdicts_missing"], found["verdicts_doubled"]) == (0, 0)


NONE = LayerVersions(0, 0, 0, 0)


def changed(layer: Any, version: int) -> Body:
    return JobConfigChanged(
        job="job",
        layer=layer,
        change_id="1.x",
        version=version,
        versions=NONE,
        layer_json="{}",
        expected_json="{}",
        author="",
        reason="",
    )


def expired(version: int) -> Body:
    return OverrideExpired(
        job="job",
        layer="oncall",
        version=version,
        versions=NONE,
        expected_json="{}",
        expires_ms=1,
    )


def deleted(*versions: int) -> Body:
    return JobDeleted(
        job="job", change_id="1.x", versions=LayerVersions(*versions), author="", reason=""
    )


def rejected() -> Body:
    return JobConfigRejected(
        job="job", ingress="base", change_id="1.x", reason="stale", explanation="", version=1
    )


@pytest.mark.parametrize(
    ("bodies", "gaps"),
    [
        ([changed("base", 1), changed("base", 2), changed("oncall", 1), expired(2)], 0),
        ([changed("base", 1), rejected(), deleted(2, 1, 1, 1), changed("scaler", 2)], 0),
        ([changed("base", 2)], 1),
        ([changed("base", 1), changed("base", 1)], 1),
        ([changed("base", 1), changed("base", 3), changed("base", 4)], 1),
        ([changed("oncall", 1), expired(3)], 1),
        ([changed("base", 1), deleted(2, 0, 0, 0)], 3),
    ],
)
def test_every_version_that_does_not_count_on_is_found(bodies: Sequence[Body], gaps: int) -> None:
    assert version_gaps(read(type(body).__name__, body=body) for body in bodies) == gaps


def test_layers_are_counted_by_job() -> None:
    other = Read(
        "journal.v1/0",
        "journal.v1",
        1,
        1,
        Record("other", "id", "JobConfigChanged", b"", changed("base", 1)),
    )
    assert version_gaps([read("JobConfigChanged", body=changed("base", 1)), other]) == 0


def asked(part: Part) -> list[Wish]:
    return list(wishes(part, Versions({"verdicts-001": 7})))


def test_authors_create_each_job_once_and_then_want_everything() -> None:
    parts = [Part(author, 2, 400, 10, 1.0) for author in range(2)]
    first = [wish.job for part in parts for wish in asked(part)[:5]]
    assert sorted(first) == [f"verdicts-{number:03}" for number in range(10)]
    assert {wish.kind for wish in asked(parts[0])} == KINDS.keys() - {"repeated"}


def test_what_is_repeated_comes_on_top_and_as_it_was() -> None:
    found = asked(Part(1, 2, 400, 10, 1.0))
    times = Counter(wish.change_id for wish in found)
    assert len(times) == 400
    assert max(times.values()) > 1
    by_id = {wish.change_id: wish for wish in found}
    assert all(by_id[wish.change_id] is wish for wish in found)


def test_an_author_names_the_version_it_saw() -> None:
    found = asked(Part(0, 1, 400, 3, 1.0))
    seen = {wish.more["expected_version"] for wish in found if wish.kind == "cas"}
    assert seen == {0, 7}


def test_a_log_that_differs_is_counted() -> None:
    one = {0: {"digest": "x"}, 1: {"digest": "y"}, 2: {"digest": "z"}}
    assert differences(one, dict(one)) == 0
    assert differences(one, {0: {"digest": "x"}, 1: {"digest": "q"}}) == 1
