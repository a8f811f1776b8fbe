"""The demo's story is told again and again, each time with jobs of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from projections.jobs import Job
from turbine.fleet import log_of
from turbine.publish import Accepted, Rejected, Unknown
from turbine.story import NAMES, NotAsTold, accepted, assigned, fresh_names, rejected


def test_each_telling_has_jobs_of_its_own() -> None:
    def number(n: int) -> tuple[str, ...]:
        return tuple(f"{name}-{n}" for name in NAMES)

    assert fresh_names({}) == NAMES
    assert fresh_names({"ads": Job("ads")}) == number(2)
    assert fresh_names({name: Job(name) for name in ("views", "carts-2", "users-3")}) == number(4)


ACCEPTED = Accepted("1.x", "clicks", "base", 1, "d", "outcomes.v1/0:0")
REJECTED = Rejected("1.x", "clicks", "stale", "so it is")
UNKNOWN = Unknown("1.x", "clicks", "no verdict")


def test_a_verdict_that_is_as_told() -> None:
    assert accepted(ACCEPTED, "x") is ACCEPTED
    assert rejected(REJECTED, "stale", "x") is REJECTED


@pytest.mark.parametrize("other", [REJECTED, UNKNOWN])
def test_what_should_have_been_accepted(other: Rejected | Unknown) -> None:
    with pytest.raises(NotAsTold, match="the change: "):
        accepted(other, "the change")


@pytest.mark.parametrize("other", [ACCEPTED, UNKNOWN, Rejected("1.x", "clicks", "invalid", "")])
def test_what_should_have_been_rejected(other: Accepted | Unknown | Rejected) -> None:
    with pytest.raises(NotAsTold, match="the change should be rejected as stale"):
        rejected(other, "stale", "the change")


def test_what_a_worker_was_assigned_last_stands_in_its_log(tmp_path: Path) -> None:
    assert assigned(tmp_path, "w") == []
    path = log_of(tmp_path, "w")
    path.parent.mkdir()
    path.write_text('not JSON assigned\n{"event": "other", "x": "assigned"}\n')
    assert assigned(tmp_path, "w") == []
    lines = [{"event": "assigned", "partitions": one} for one in ([0, 1], [1])]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"event": "x"}\n')
    assert assigned(tmp_path, "w") == [1]
