"""Which files are the history, and which are not yet or not any more. Pure: names in, names out.

A batch counts once it has its name, which it gets when it is whole. A compacted day counts
once a manifest names it, and from then on the batches count no more that it was made of: the
manifest says up to which batch that is, of each lineage. So one file that is made in one piece
moves all readers from the one to the other.

What a manifest has put in place of other files stays beside them until the manifest after it: a
reader who has looked at the one before goes on reading what it found.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from turbine_client.errors import Corrupt

DAY_MS = 24 * 3_600_000
DONE = "_SUCCESS"
"""What Spark writes last, beside the files of a write that is complete."""
DRAFTS = "batches/{}/_"
"""How drafts of batches begin, of one lineage or, with a star, of all."""
REPORTS, MINUTES, SPANS = "reports", "minutes", "spans"
"""What a compacted day consists of."""
_DONE = re.compile(rf"batches/([^/]+)/([0-9]{{9}})/{DONE}")
_PIECE = re.compile(r"batches/([^/]+)/([0-9]{9})/day=([0-9]{4}-[0-9]{2}-[0-9]{2})")
_MANIFEST = re.compile(r"manifests/([0-9]{6})\.json")
_DAY = re.compile(r"days/([0-9]{4}-[0-9]{2}-[0-9]{2})/([0-9]{6})-[^/]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadHistory(Corrupt):
    """Files that are no history of ours; the sentence says which, and what to do."""


def check_root(root: str) -> str:
    """The directory, if a history can lie there: Spark takes these for patterns of names."""
    if not root or not set(root).isdisjoint("*?[]{}\\\n"):
        raise BadHistory(
            f"{root!r} cannot be the directory of a history; name one without * ? [ ] {{ }} \\"
        )
    return root


class Batch(NamedTuple):
    """One batch of one lineage: a stream that was begun anew counts its batches anew."""

    lineage: str
    number: int

    @property
    def path(self) -> str:
        """The directory in which the batch's pieces lie."""
        return f"batches/{self.lineage}/{self.number:09d}"

    def draft(self, attempt: str) -> str:
        """Where one attempt at it is written. Each has its own place, so that a writer that was
        taken for dead and goes on cannot touch what another one has made of the batch."""
        return f"{DRAFTS.format(self.lineage)}{self.number:09d}-{attempt}"


class DayBatch(NamedTuple):
    """What one batch brought of one day."""

    batch: Batch
    day: str

    @property
    def path(self) -> str:
        """The directory of the batch's files of that day."""
        return f"{self.batch.path}/day={self.day}"


@dataclass(frozen=True, slots=True)
class Compacted:
    """One day in few files, and up to which batch of each lineage they hold it."""

    path: str
    upto: Mapping[str, int]

    def holds(self, batch: Batch) -> bool:
        """Is what this batch brought of the day among them?"""
        return batch.number <= self.upto.get(batch.lineage, -1)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The days that are compacted, as of one compaction; 0 is before the first one."""

    number: int = 0
    days: Mapping[str, Compacted] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def path(self) -> str:
        """The path of the manifest's file."""
        return f"manifests/{self.number:06d}.json"

    def to_text(self) -> str:
        """The text of the manifest's file."""
        days = {
            day: {"path": one.path, "upto": dict(one.upto)}
            for day, one in sorted(self.days.items())
        }
        return json.dumps({"number": self.number, "days": days}, indent=1) + "\n"


def read_manifest(text: str, path: str) -> Manifest:
    """A manifest as it was written."""
    try:
        plain = json.loads(text)
        days = {
            str(day): Compacted(str(one["path"]), {str(k): int(v) for k, v in one["upto"].items()})
            for day, one in plain["days"].items()
        }
        return Manifest(int(plain["number"]), days)
    except (AttributeError, KeyError, TypeError, ValueError) as bad:
        raise BadHistory(
            f"{path} is no manifest of a history ({type(bad).__name__}: {bad}); it is written by"
            " `turbine history compact` alone: restore the file, or name another directory"
        ) from bad


@dataclass(frozen=True, slots=True)
class DirectoryListing:
    """What lies in a directory, by the names alone."""

    done: Set[Batch]
    pieces: Set[DayBatch]  # of those that are not done as well
    days: Set[str]  # paths of compacted days, whoever names them
    manifests: tuple[int, ...]  # ascending

    @classmethod
    def of(cls, paths: Iterable[str]) -> DirectoryListing:
        """What the paths say; names that mean nothing here are nobody's."""
        done, pieces, days, manifests = set[Batch](), set[DayBatch](), set[str](), set[int]()
        for path in paths:
            if at := _MANIFEST.fullmatch(path):
                manifests.add(int(at[1]))
            elif _DAY.fullmatch(path):
                days.add(path)
            elif at := _PIECE.fullmatch(path):
                pieces.add(DayBatch(Batch(at[1], int(at[2])), at[3]))
            elif at := _DONE.fullmatch(path):
                done.add(Batch(at[1], int(at[2])))
        return cls(done, pieces, days, tuple(sorted(manifests)))

    def counting(self, manifest: Manifest) -> dict[str, list[DayBatch]]:
        """The pieces of each day that no compacted file holds, in order."""
        found = defaultdict[str, list[DayBatch]](list)
        for piece in sorted(self.pieces):
            if piece.batch in self.done and not _holds(manifest, piece):
                found[piece.day].append(piece)
        return dict(found)


def live_paths(
    manifest: Manifest, found: DirectoryListing, days: Iterable[str] | None = None
) -> list[str]:
    """All that a reader reads of these days, or of all of them: each row of the history once."""
    counting = found.counting(manifest)
    known = sorted(manifest.days.keys() | counting.keys())
    wanted = set(known if days is None else days)
    paths = list[str]()
    for day in known:
        if day in wanted:
            compacted = manifest.days.get(day)
            paths += [f"{compacted.path}/{REPORTS}"] if compacted else []
            paths += [piece.path for piece in counting.get(day, ())]
    return paths


def due_days(manifest: Manifest, found: DirectoryListing, today: str) -> list[str]:
    """Days that are over and of which there is something that is not compacted."""
    return sorted(day for day in found.counting(manifest) if day < today)


def next_manifest(manifest: Manifest, found: DirectoryListing, made: Mapping[str, str]) -> Manifest:
    """The manifest once these days are made, each in the directory that is named."""
    upto = dict[str, int]()
    for batch in found.done:
        upto[batch.lineage] = max(batch.number, upto.get(batch.lineage, -1))
    days = dict(manifest.days)
    for day, path in made.items():
        before = manifest.days[day].upto if day in manifest.days else {}
        days[day] = Compacted(path, {**before, **upto})
    return Manifest(manifest.number + 1, days)


def dead_paths(now: Manifest, before: Manifest, found: DirectoryListing) -> list[str]:
    """What nobody reads any more who looks at this manifest, or has looked at the one before.

    A batch that Spark may repeat goes, too: it would be written again, and not count again.
    """
    named = {one.path for manifest in (now, before) for one in manifest.days.values()}
    dead = [path for path in found.days if _number(path) <= now.number and path not in named]
    held = {piece for piece in found.pieces if all(_holds(one, piece) for one in (now, before))}
    needed = {piece.batch for piece in found.pieces - held}
    whole = (found.done | {piece.batch for piece in held}) - needed
    dead += [batch.path for batch in whole]
    dead += [piece.path for piece in held if piece.batch not in whole]
    dead += [Manifest(number).path for number in found.manifests if number < before.number]
    return sorted(dead)


def _holds(manifest: Manifest, piece: DayBatch) -> bool:
    compacted = manifest.days.get(piece.day)
    return compacted is not None and compacted.holds(piece.batch)


def _number(path: str) -> int:
    at = _DAY.fullmatch(path)
    assert at is not None, f"{path} is not of a compacted day"
    return int(at[2])


def day_of(at_ms: int) -> str:
    """The day of an instant, UTC."""
    return (_EPOCH + timedelta(milliseconds=at_ms)).date().isoformat()


def days_between(from_ms: int, to_ms: int) -> list[str]:
    """The days that a span touches."""
    return [day_of(at) for at in range(from_ms - from_ms % DAY_MS, to_ms, DAY_MS)]
