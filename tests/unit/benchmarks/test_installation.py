"""What a benchmark learns of its installation from the outside."""

import json
from pathlib import Path

import pytest

from benchmarks.installation import assigned
from benchmarks.pace import due

LINES = [
    "Traceback (most recent call last):",
    json.dumps({"event": "assigned", "partitions": [0, 1, 2]}),
    json.dumps({"event": "dead letter", "partitions": [9]}),
    json.dumps({"event": "assigned", "partitions": [2, 3]}),
    json.dumps(["assigned"]),
    '{"event": "assig',
]


@pytest.mark.parametrize(
    ("count", "owned"), [(0, []), (1, []), (2, [0, 1, 2]), (3, [0, 1, 2]), (4, [2, 3]), (6, [2, 3])]
)
def test_the_last_word_about_an_assignment_counts(
    tmp_path: Path, count: int, owned: list[int]
) -> None:
    log = tmp_path / "worker.log"
    log.write_text("\n".join(LINES[:count]))
    assert assigned(log) == owned


def test_a_worker_that_has_not_spoken_owns_nothing(tmp_path: Path) -> None:
    assert assigned(tmp_path / "none.log") == []


def test_an_open_loop_leaves_nothing_out() -> None:
    assert list(due(10_000, 50)) == list(range(50))
