"""Which files are the history: at any instant each row once, whoever dies and wherever.

The dumb twin of all of it is a set of the rows that were written.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from spark_streaming.history import compaction
from spark_streaming.history.compaction import compact
from spark_streaming.history.layout import (
    DAY_MS,
    DONE,
    REPORTS,
    BadHistory,
    Batch,
    DirectoryListing,
    Manifest,
    days_between,
    dead_paths,
    due_days,
    live_paths,
    read_manifest,
)

DAYS = ("2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02")


class Crash(Exception):
    """Whoever works here is killed."""


@dataclass(slots=True)
class Disk:
    """Names and what is under them. After each step somebody looks, and the worker may die."""

    files: dict[str, Any] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    looked: list[tuple[int, list[str], set[str]]] = field(default_factory=list)
    steps_left: int = 10**9
    draw: random.Random = field(default_factory=random.Random)

    def step(self) -> None:
        self.check()
        self.steps_left -= 1
        if self.steps_left < 0:
            raise Crash

    # --- what compaction needs

    def look(self) -> tuple[Manifest, DirectoryListing]:
        found = DirectoryListing.of(self.files)
        return self.manifest(found.manifests[-1]) if found.manifests else Manifest(), found

    def manifest(self, number: int) -> Manifest:
        path = Manifest(number).path
        return read_manifest(self.files[path], path)

    def place(self, path: str) -> str:
        return f"mem:/{path}"

    def make_once(self, path: str, text: str, attempt: str) -> bool:
        self.step()
        if path in self.files:
            return False
        self.files[path] = text
        self.step()
        return True

    def remove(self, path: str) -> None:
        gone = [name for name in self.files if name == path or name.startswith(f"{path}/")]
        self.draw.shuffle(gone)  # no file system says in which order
        for name in gone:
            del self.files[name]
            self.step()

    # --- what Spark does

    def write_day(self, paths: list[str], path: str) -> int:
        rows = sorted(self.read(paths))
        self.files[path] = None
        for part in (rows[: len(rows) // 2], rows):
            self.files[f"{path}/{REPORTS}"] = part
            self.step()
        return len(rows)

    def write_batch(self, batch: Batch, rows: dict[str, list[str]]) -> None:
        if f"{batch.path}/{DONE}" in self.files:
            return
        draft = batch.draft("a")
        for day, some in rows.items():
            self.files[f"{draft}/day={day}"] = some
            self.step()
        for name in [name for name in self.files if name.startswith(f"{draft}/")]:
            self.files[name.replace(draft, batch.path)] = self.files.pop(name)
        self.files[f"{batch.path}/{DONE}"] = None
        self.written |= {one for some in rows.values() for one in some}
        self.step()

    # --- who looks

    def read(self, paths: list[str]) -> list[str]:
        return [row for path in paths for row in self.files[path]]

    def check(self) -> None:
        manifest, found = self.look()
        paths = live_paths(manifest, found)
        rows = self.read(paths)
        assert sorted(rows) == sorted(self.written), "a look finds each row once"
        self.looked.append((manifest.number, paths, set(rows)))
        self.looked = [one for one in self.looked if one[0] >= manifest.number - 1][-40:]
        for _, before, known in self.looked:
            assert set(self.read(before)) == known, "what was found is still there"


def story(seed: int) -> Disk:
    """Batches and compactions, each of which may die at any step and is then done again."""
    draw = random.Random(seed)
    disk = Disk(draw=draw)
    lineage, number, today = "a", 0, 1
    for turn in range(12):
        act = draw.random()
        if act < 0.5:
            days = draw.sample(DAYS[: today + 1], draw.randrange(3) % (today + 1))
            rows = {day: [f"{turn}-{row}-{n}" for n in range(1, 4)] for row, day in enumerate(days)}
            batch = Batch(lineage, number)
            again(disk, lambda batch=batch, rows=rows: disk.write_batch(batch, rows))
            number += 1
        elif act < 0.6:
            today = min(today + 1, len(DAYS) - 1)
        elif act < 0.65:
            lineage, number = f"{lineage}a", 0
        else:
            attempt = iter(range(10**6))
            again(
                disk,
                lambda today=today, attempt=attempt: list(
                    compact(disk, disk.write_day, DAYS[today], f"x{next(attempt)}")
                ),
            )
    return disk


def again(disk: Disk, work: Callable[[], object]) -> None:
    """Until it is done; killed twice at most."""
    for steps in (disk.draw.randrange(12), disk.draw.randrange(12), 10**9):
        disk.steps_left = steps
        try:
            work()
        except Crash:
            continue
        return


@pytest.mark.parametrize("seed", range(60))
def test_each_row_is_there_once_at_every_step(seed: int) -> None:
    disk = story(seed)
    for attempt in ("y", "z"):  # the second one clears what the first one has replaced
        disk.steps_left = 10**9
        disk.write_batch(Batch(attempt, 0), {DAYS[0]: [f"late {attempt}"]})
        assert dict(compact(disk, disk.write_day, "2027-01-01", attempt))[DAYS[0]]
    manifest, found = disk.look()
    assert due_days(manifest, found, "2027-01-01") == []
    assert len(live_paths(manifest, found)) == len(manifest.days)
    left = {name for name in disk.files if name.endswith(DONE)}
    assert left == {f"{Batch('z', 0).path}/{DONE}"}, "what two manifests do not need is gone"


@pytest.mark.parametrize(
    "broken",
    [
        # What the manifest before still counts on goes at once.
        lambda now, _, found: dead_paths(now, now, found),
        # Compacted days go, and never batches.
        lambda _, before, __: [one.path for one in before.days.values()],
    ],
)
def test_a_wrong_clearing_is_seen(
    broken: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "dead_paths", broken)
    with pytest.raises((AssertionError, KeyError)):
        [story(seed) for seed in range(60)]


def test_who_comes_second_says_so() -> None:
    disk = Disk()
    disk.write_batch(Batch("a", 0), {DAYS[0]: ["1"]})

    def slow(paths: list[str], path: str) -> int:
        list(compact(disk, disk.write_day, DAYS[2], "quick"))
        return disk.write_day(paths, path)

    with pytest.raises(BadHistory) as refused:
        list(compact(disk, slow, DAYS[2], "slow"))
    assert str(refused.value) == (
        "mem:/manifests/000001.json was made by another compaction meanwhile; nothing is lost, run"
        " one at a time"
    )
    disk.check()


def test_a_day_that_is_not_over_is_left_alone() -> None:
    disk = Disk()
    disk.write_batch(Batch("a", 0), {DAYS[0]: ["1"], DAYS[1]: ["2"]})
    assert list(compact(disk, disk.write_day, DAYS[1], "x")) == [(DAYS[0], 1)]
    assert list(compact(disk, disk.write_day, DAYS[1], "y")) == []
    disk.write_batch(Batch("a", 1), {DAYS[0]: ["3"]})
    assert list(compact(disk, disk.write_day, DAYS[1], "z")) == [(DAYS[0], 2)]


def test_names_that_mean_nothing_are_nobodys() -> None:
    odd = ["batches/a/1/day=2026-01-30", "batches/a/_000000001-x/_SUCCESS", "days/x/000001-a"]
    odd += ["manifests/000001.json.x", "batches/a/000000001/day=__HIVE_DEFAULT_PARTITION__", ""]
    assert DirectoryListing.of(odd) == DirectoryListing(set(), set(), set(), ())


def test_a_manifest_comes_back_as_it_was() -> None:
    disk = Disk()
    disk.write_batch(Batch("a", 7), {DAYS[0]: ["1"]})
    list(compact(disk, disk.write_day, DAYS[1], "x"))
    [day] = disk.manifest(1).days.values()
    assert (day.path, day.upto) == (f"days/{DAYS[0]}/000001-x", {"a": 7})
    assert read_manifest(disk.manifest(1).to_text(), "") == disk.manifest(1)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"number": 1, "days": {"d": {"path": "x"}}}', '{"days": {}}']
)
def test_what_is_no_manifest_is_told(text: str) -> None:
    with pytest.raises(BadHistory) as bad:
        read_manifest(text, "/h/manifests/000001.json")
    said = str(bad.value)
    assert said.startswith("/h/manifests/000001.json is no manifest of a history (")
    assert said.endswith("alone: restore the file, or name another directory")


def test_days_of_a_span() -> None:
    assert days_between(0, DAY_MS) == ["1970-01-01"]
    assert days_between(DAY_MS - 1, DAY_MS + 1) == ["1970-01-01", "1970-01-02"]


@pytest.mark.parametrize("number", [0, 999_999_999])
def test_a_batch_is_found_by_its_name(number: int) -> None:
    batch = Batch("0af-9", number)
    found = DirectoryListing.of([f"{batch.path}/{DONE}", f"{batch.path}/day={DAYS[0]}"])
    assert found.done == {batch}
    assert [one.batch for one in found.pieces] == [batch]
