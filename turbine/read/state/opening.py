"""Which cache is this log's, and whether it still is: by cluster, build, and the log itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import components
import events
import projections
import tasks
import turbine
import turbine_client
from components.runtime.faust.rows import build
from events.topics import BY_SHORT
from turbine.read.sources.held import polls_of, topics_of
from turbine.read.sources.log import Log
from turbine.read.sources.source import NoInstallation
from turbine.read.state.cache import Cache, Spoilt, digest_of

FORMAT = 1
DIRECTORY = "views"


def open_cache(log: Log, directory: Path | None = None) -> Cache:
    """The log's own, thrown away where it does not fit; of a log in a file, one for now."""
    passing = False
    if directory is None:
        try:
            directory = log.settings.directory / DIRECTORY
        except NoInstallation:
            directory, passing = Path(mkdtemp(prefix="turbine-views-")), True
    found = Cache(directory, identity_of(log), passing=passing)
    try:
        check(found, log)
    except Spoilt as bad:
        found.throw_away(str(bad))
    return found


def identity_of(log: Log) -> Mapping[str, object]:
    """What a cache is made of: with another log or another build, it is another cache."""
    return {
        "format": FORMAT,
        "cluster": log.cluster,
        "partitions": {topic: log.counts[topic] for topic in topics_of(log)},
        "build": f"{build()}-{code()}",
    }


@cache
def code() -> str:
    """Of all that folds: a row may mean another thing although nobody counted its logic up."""
    digest = hashlib.sha256()
    for room in (turbine_client, events, projections, tasks, components, turbine):
        base = Path(next(iter(room.__path__)))
        for file in sorted(base.rglob("*.py")):
            digest.update(f"{base.name}/{file.relative_to(base).as_posix()}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def check(kept: Cache, log: Log) -> None:
    """Spoilt where the log is not the one that was read: it ends before that, or says another thing
    where reading came to."""
    if not kept.frames:
        return
    seen = kept.frames[-1].seen
    ends = log.source.ends(log.places(topics_of(log)))
    for at, offset in sorted(seen.items()):
        if offset > ends.get(at, 0):
            raise Spoilt(f"{at} had been read up to {offset}, and ends at {ends.get(at, 0)}")
    _compare(kept.witness, log)


def _compare(witness: Mapping[str, tuple[int, str]], log: Log) -> None:
    starts = log.source.starts(sorted(witness))
    left = {at: one for at, one in witness.items() if one[0] >= starts[at] or not _expires(at)}
    begin = {at: offset for at, (offset, _) in left.items()}
    polls = polls_of(log, begin, {at: offset + 1 for at, offset in begin.items()})
    found = {one.place: digest_of(one) for poll in polls for one in poll}
    for at, (offset, digest) in sorted(left.items()):
        if found.get(at) != digest:
            raise Spoilt(f"{at} says something else at {offset} than it did")


def _expires(at: str) -> bool:
    return BY_SHORT[at.partition("/")[0]].config["retention.ms"] != "-1"
