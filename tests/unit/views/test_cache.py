"""The cache of frames: it is trusted where it fits to the last byte, and thrown away where not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from components.runtime.kafka.intake import Message
from tests.laws.played import messages_of, source_of
from turbine.read.sources.held import topics_of
from turbine.read.sources.log import Log
from turbine.read.state import opening
from turbine.read.state.cache import Cache
from turbine.read.state.opening import open_cache
from turbine.read.state.past import view_at
from turbine.read.state.reader import ViewReader
from turbine.read.state.serialization import UNFIT, pack, unpack

SEED = 2
EVERY = 30


def log_of(messages: tuple[Message, ...]) -> Log:
    return Log(source=source_of(messages))


def ends_of(log: Log) -> dict[str, int]:
    return log.source.ends(log.places(topics_of(log)))


def filled(directory: Path, messages: tuple[Message, ...] | None = None) -> int:
    """How many frames it has."""
    log = log_of(messages_of(SEED) if messages is None else messages)
    cache = open_cache(log, directory)
    reader = ViewReader(log, cache, EVERY)
    for _ in reader.catch_up(ends_of(log)):
        pass
    reader.close()
    cache.close()
    return len(cache.frames)


def reopened(directory: Path, log: Log | None = None) -> tuple[Cache, list[str]]:
    """The cache as the next start finds it, and why it was thrown away."""
    with capture_logs() as said:
        cache = open_cache(log or log_of(messages_of(SEED)), directory)
    return cache, [one["why"] for one in said if one["event"] == "views cache thrown away"]


def test_what_was_kept_is_there_again(tmp_path: Path) -> None:
    frames = filled(tmp_path)
    cache, why = reopened(tmp_path)
    assert (len(cache.frames), why) == (frames, [])
    assert frames > 2
    cache.close()


def cut_rows(at: Path) -> None:
    with (at / "rows").open("r+b") as file:
        file.truncate((at / "rows").stat().st_size - 1)


def change_rows(at: Path) -> None:
    with (at / "rows").open("r+b") as file:
        file.seek(40)
        byte = file.read(1)[0]
        file.seek(40)
        file.write(bytes([byte ^ 1]))


def cut_frame(at: Path) -> None:
    file = at / "00000001.frame"
    file.write_bytes(file.read_bytes()[:-9])


def lose_frame(at: Path) -> None:
    (at / "00000001.frame").unlink()


def foreign_frame(at: Path) -> None:
    (at / "00000001.frame").write_bytes(pack({"no": "frame"}))


def lose_identity(at: Path) -> None:
    (at / "identity.json").unlink()


def spoil_identity(at: Path) -> None:
    (at / "identity.json").write_text("{")


def other_cluster(at: Path) -> None:
    told = json.loads((at / "identity.json").read_text())
    (at / "identity.json").write_text(json.dumps(told | {"cluster": "another"}))


def other_partitions(at: Path) -> None:
    told = json.loads((at / "identity.json").read_text())
    (at / "identity.json").write_text(json.dumps(told | {"partitions": {"journal.v1": 2}}))


WAYS: list[tuple[Callable[[Path], None], str]] = [
    (cut_rows, "its rows are cut or changed"),
    (change_rows, "its rows are cut or changed"),
    (cut_frame, "00000001.frame cannot be read"),
    (lose_frame, "the frame 00000001.frame is missing"),
    (foreign_frame, "00000001.frame cannot be read"),
    (lose_identity, "it does not say of what it was made"),
    (spoil_identity, "identity.json cannot be read"),
    (other_cluster, "it was made of another cluster"),
    (other_partitions, "it was made of another partitions"),
]


@pytest.mark.parametrize(("spoil", "why"), WAYS, ids=lambda one: getattr(one, "__name__", ""))
def test_what_does_not_fit_is_thrown_away_whole_and_made_anew(
    spoil: Callable[[Path], None], why: str, tmp_path: Path
) -> None:
    frames = filled(tmp_path)
    spoil(tmp_path)
    cache, told = reopened(tmp_path)
    assert len(told) == 1
    assert told[0].startswith(why)
    assert (cache.frames, list(tmp_path.glob("*.frame"))) == ([], [])
    cache.close()
    assert filled(tmp_path) == frames


def test_another_build_has_no_use_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    monkeypatch.setattr(opening, "code", lambda: "another")
    cache, told = reopened(tmp_path)
    assert (cache.frames, told) == ([], ["it was made of another build"])
    cache.close()


def test_a_log_that_is_shorter_than_it_was_is_another_log(tmp_path: Path) -> None:
    filled(tmp_path)
    shorter = log_of(tuple(one for one in messages_of(SEED) if one.offset < 10))
    cache, told = reopened(tmp_path, shorter)
    assert not cache.frames
    assert told[0].startswith("changes.base.v1/0 had been read up to")
    cache.close()


def test_a_log_that_says_something_else_there_is_another_log(tmp_path: Path) -> None:
    filled(tmp_path)
    messages = list(messages_of(SEED))
    last = max(at for at, one in enumerate(messages) if one.topic == "journal.v1")
    messages[last] = messages[last]._replace(value=b"\0")
    cache, told = reopened(tmp_path, log_of(tuple(messages)))
    assert not cache.frames
    assert told == [f"journal.v1/0 says something else at {messages[last].offset} than it did"]
    cache.close()


def test_a_second_process_reads_and_does_not_write(tmp_path: Path) -> None:
    frames = filled(tmp_path)
    first, _ = reopened(tmp_path)
    second, told = reopened(tmp_path)
    assert (first.writes, second.writes, told) == (True, False, [])
    assert len(second.frames) == frames
    log = log_of(messages_of(SEED))
    end = ends_of(log)
    assert dict(view_at(log, end, second).jobs) == dict(view_at(log, end).jobs)
    lose_frame(tmp_path)
    third, why = reopened(tmp_path)
    assert (third.frames, third.writes, why) == ([], False, [])
    assert list(tmp_path.glob("*.frame")), "they are the writer's"
    for one in (first, second, third):
        one.close()


@pytest.mark.parametrize("frames", [1, 3])
def test_a_full_cache_keeps_what_it_has_and_takes_no_more(frames: int, tmp_path: Path) -> None:
    log = log_of(messages_of(SEED))
    sized = open_cache(log, tmp_path / "sized")
    reader = ViewReader(log, sized, EVERY)
    sizes = {sized.bytes for _ in reader.catch_up(ends_of(log))}
    sized.close()
    bound = sorted(sizes)[frames - 1]
    cache = Cache(tmp_path / "full", opening.identity_of(log), bytes_max=bound)
    reader = ViewReader(log, cache, EVERY)
    with capture_logs() as said:
        for _ in reader.catch_up(ends_of(log)):
            pass
        reader.close()
    assert len(cache.frames) == frames, "at the bound it is full"
    assert [one["event"] for one in said] == ["views cache is full"]
    end = ends_of(log)
    assert dict(view_at(log, end, cache).jobs) == dict(view_at(log, end).jobs)
    cache.close()


def test_a_log_in_a_file_has_a_cache_that_goes_with_its_process() -> None:
    cache = open_cache(log_of(messages_of(SEED)))
    assert cache.directory.is_dir()
    cache.close()
    assert not cache.directory.exists()


def test_a_packed_row_may_name_rows_and_nothing_else() -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return print, ("called",)

    with pytest.raises(UNFIT, match="is no row"):
        unpack(pack(Evil()))
    log = log_of(messages_of(SEED))
    frame = replace(view_at(log, ends_of(log)), jobs={})
    assert unpack(pack(frame)) == frame
