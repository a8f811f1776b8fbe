"""What the process engine heeds of a task's arguments: knobs to try it out. Pure.

--work-us N        microseconds of work for each record
--wait-us N        microseconds that each record waits for something that is not the task's
--at-once N        as many records wait at a time: one, if nothing is said
--among N          tasks share what is waited for: with two of them each waits twice as long
--fail-after N     fail when as many records were counted since the start
--ignore-sigterm   do not stop in order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from turbine_client.errors import BadRequest

BATCH_RECORDS = 10_000
BATCH_US = 500_000


class BadKnob(BadRequest):
    """An argument that cannot be meant; the sentence says which."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """The faults and delays that a job's arguments ask of its tasks."""

    work_us: int = 0
    wait_us: float = 0.0
    fail_after: int | None = None
    ignore_sigterm: bool = False

    @property
    def batch_records(self) -> int:
        """Records of one batch: with more of them a task that is to stop would not end in time."""
        return max(2, int(BATCH_US / self.wait_us)) if self.wait_us else BATCH_RECORDS


def knobs_of(argv: Sequence[str]) -> Knobs:
    """What the arguments ask for; BadKnob where a number is none."""
    at_once, among = (_number(argv, name) or 1 for name in ("--at-once", "--among"))
    return Knobs(
        _number(argv, "--work-us") or 0,
        (_number(argv, "--wait-us") or 0) * among / at_once,
        _number(argv, "--fail-after"),
        "--ignore-sigterm" in argv,
    )


def _number(argv: Sequence[str], name: str) -> int | None:
    if name not in argv:
        return None
    text = "".join(argv[argv.index(name) + 1 :][:1])
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadKnob(f"{name} is followed by a whole number, not by {text[:24]!r}; correct it")
    return int(text)
