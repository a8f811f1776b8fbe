"""A log's file: what is written is what is read, and what is not as it was written is refused."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.runtime.kafka.intake import Message
from events.topics import CHANGES_BASE, CLOCK, JOURNAL, LOADS, OPERATOR, OUTCOMES
from tests.unit.turbine import logs
from tests.unit.turbine.lines import run
from turbine.failures import Code
from turbine.read.sources import log_lines
from turbine.read.sources.log import Log
from turbine.read.sources.log_file import LogFile
from turbine.read.sources.log_lines import BadFile
from turbine.read.sources.source import NoInstallation

AT = f"{JOURNAL}/0"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a seed."""
    return logs.write(tmp_path_factory.mktemp("logs") / "whole.log.gz", logs.told())


def test_the_last_records_are_found_between_the_markers_of_transactions(tmp_path: Path) -> None:
    said = [one for one in logs.told() if one.topic == JOURNAL][:9]
    marked = [one._replace(topic=OUTCOMES, offset=2 * n) for n, one in enumerate(said)]
    path = logs.write(tmp_path / "marked.log.gz", marked)
    ended = run("--log", str(path), "log", "tail", "--topic", "outcomes", "-n", "3", "-o", "jsonl")
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert [row["position"] for row in rows] == [f"{OUTCOMES}/0:{n}" for n in (12, 14, 16)]


def test_of_the_same_millisecond_a_request_stands_before_its_decision(tmp_path: Path) -> None:
    some = [next(one for one in logs.told() if one.topic == topic) for topic in (JOURNAL, OPERATOR)]
    at_once = [one._replace(offset=0, at_ms=some[0].at_ms) for one in some]
    path = logs.write(tmp_path / "at-once.log.gz", at_once)
    ended = run("--log", str(path), "log", "tail", "-o", "jsonl")
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert [row["position"] for row in rows] == [f"{OPERATOR}/0:0", f"{JOURNAL}/0:0"]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def rewritten(whole: Path, to: Path, change: Callable[[list[Any]], None], *, sign: bool) -> Path:
    """The file with other lines; signed anew, or left with the digest that it had."""
    found = lines_of(whole)
    change(found)
    lines = [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in found]
    if sign:
        found[-1]["end"]["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
        lines[-1] = json.dumps(found[-1]).encode() + b"\n"
    to.write_bytes(gzip.compress(b"".join(lines)))
    return to


def refusal(path: Path) -> str:
    with pytest.raises(BadFile) as refused:
        LogFile(path)
    return str(refused.value)


# --- reading


def test_every_message_comes_back_as_it_was(whole: Path) -> None:
    source = LogFile(whole)
    told = logs.told()
    ends = source.head.ends
    found = [one for poll in source.spans(dict.fromkeys(ends, (0, None))) for one in poll]
    key: Callable[[Message], Any] = lambda one: (one.place, one.offset)  # noqa: E731 - for two sorts
    assert sorted(found, key=key) == sorted(told, key=key)
    assert [one.at_ms for one in found] == sorted(one.at_ms for one in found)
    assert (source.tail.records, source.now_ms) == (len(told), max(one.at_ms for one in told))


def test_a_span_begins_and_ends_where_it_is_asked_to(whole: Path) -> None:
    source = LogFile(whole)
    found = [one.offset for poll in source.spans({AT: (3, 7), "none/0": (0, None)}) for one in poll]
    assert found == [3, 4, 5, 6]
    assert source.ends([AT]) == {AT: max(o.offset for o in logs.told() if o.place == AT) + 1}
    assert source.starts([AT]) == {AT: 0}


def test_a_time_is_the_first_offset_from_then_on(whole: Path) -> None:
    source = LogFile(whole)
    clock = [one for one in logs.told() if one.topic == CLOCK]
    for one in clock[::100]:
        assert source.times([f"{CLOCK}/0"], one.at_ms) == {f"{CLOCK}/0": one.offset}
        assert source.times([f"{CLOCK}/0"], one.at_ms + 1) == {f"{CLOCK}/0": one.offset + 1}
    assert source.times([AT], 1 << 60) == source.ends([AT])
    assert source.times(["none/0"], 0) == {"none/0": 0}


def test_births_are_what_a_naive_reader_finds(whole: Path) -> None:
    """The twin looks at every record: was all below the offset appended by then?"""
    source = LogFile(whole)
    times = [one.at_ms for one in sorted(logs.told(), key=lambda o: o.offset) if one.place == AT]
    for offset in range(len(times) + 3):
        for by_ms in (times[0] - 1, times[len(times) // 2], times[-1] - 1, times[-1] + 1):
            there = all(at_ms <= by_ms for at_ms in times[:offset]) and offset <= len(times)
            later = any(at_ms > by_ms for at_ms in times)
            expected = True if there else False if later else None
            assert source.possible(AT, offset, by_ms) is expected, (offset, by_ms)
    assert source.possible("none/0", 1, 1 << 60) is False


def test_a_log_that_is_not_small_lies_on_the_disk(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Log(source=LogFile(whole)).jobs()
    monkeypatch.setattr("turbine.read.sources.log_file.HELD_BYTES", 1_000)
    assert Log(source=LogFile(whole)).jobs() == before
    assert before


def test_a_plain_file_is_the_same_log(tmp_path: Path, whole: Path) -> None:
    plain = logs.write(tmp_path / "plain.jsonl", logs.told())
    assert (
        json.loads(plain.read_text(encoding="utf-8").splitlines()[0])["format"] == "turbine-log/2"
    )
    assert LogFile(plain).tail == LogFile(whole).tail
    assert Log(source=LogFile(plain)).jobs() == Log(source=LogFile(whole)).jobs()


def test_the_same_log_makes_the_same_file(tmp_path: Path, whole: Path) -> None:
    again = logs.write(tmp_path / "again.log.gz", logs.told())
    assert again.read_bytes() == whole.read_bytes()


def test_any_message_survives_the_file(tmp_path: Path) -> None:
    odd = [
        Message(CHANGES_BASE, 0, 0, 5, b"\xff", b"\x00", [("x", b"\xfe"), ("x", None), ("y", b"")]),
        Message(CHANGES_BASE, 0, 1, 5, None, None, None),
        Message(CHANGES_BASE, 0, 2, 4, b"", b"", [], "the name of a header is not UTF-8"),
        Message(LOADS, 0, 7, 1, "é\n".encode(), b"{}", []),
    ]
    source = LogFile(logs.write(tmp_path / "odd.log.gz", odd))
    spans = dict.fromkeys(source.head.ends, (0, None))
    assert sorted(one for poll in source.spans(spans) for one in poll) == sorted(odd)


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "half.log.gz"
    with pytest.raises(ZeroDivisionError), log_lines.LogFileWriter(path) as lines:
        lines.put({"a": 1 // 0})
    assert list(tmp_path.iterdir()) == []


def test_nothing_runs_in_a_file(whole: Path) -> None:
    with pytest.raises(NoInstallation, match="is a file, in which nothing runs"):
        _ = Log(source=LogFile(whole)).settings


# --- what is refused


def test_a_file_that_is_not_there() -> None:
    assert refusal(Path("none.log.gz")).startswith("there is no file none.log.gz; `turbine log")
    ended = run("open", "none.log.gz")
    assert (ended.code, ended.sentence) == (Code.USAGE, refusal(Path("none.log.gz")))
    assert run("--log", "none.log.gz", "get", "jobs").sentence == ended.sentence


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} cannot be read (Is a directory); name another file"


@pytest.mark.parametrize("share", [0.02, 0.5, 0.999])
def test_a_cut_file(tmp_path: Path, whole: Path, share: float) -> None:
    cut = tmp_path / "cut.log.gz"
    cut.write_bytes(whole.read_bytes()[: int(len(whole.read_bytes()) * share)])
    assert refusal(cut) == f"{cut}: it is cut off; export it again, or copy it whole"


@pytest.mark.parametrize("lines", [1, 100, -1])
def test_a_file_that_lacks_its_last_lines(tmp_path: Path, lines: int) -> None:
    plain = logs.write(tmp_path / "plain.jsonl", logs.told())
    known = plain.read_bytes().splitlines(keepends=True)
    plain.write_bytes(b"".join(known[:lines]))
    assert refusal(plain) == f"{plain}: it is cut off; export it again, or copy it whole"
    plain.write_bytes(b"".join(known)[:-3])
    assert "it is cut off" in refusal(plain)


def test_an_edited_file(tmp_path: Path, whole: Path) -> None:
    def other_body(lines: list[Any]) -> None:
        one = next(line for line in lines if line.get("kind") == "JobConfigChanged")
        one["body"]["author"] = "nobody"

    edited = rewritten(whole, tmp_path / "edited.log.gz", other_body, sign=False)
    assert refusal(edited).startswith(f"{edited}: it is not what was written: its content has not")
    ended = run("get", "jobs", "--log", str(edited))
    assert (ended.code, ended.out) == (Code.USAGE, "")


def test_a_file_that_lacks_a_record(tmp_path: Path, whole: Path) -> None:
    fewer = rewritten(whole, tmp_path / "f.log.gz", lambda lines: lines.pop(9), sign=True)
    assert "it is not what was written" in refusal(fewer)


def test_spoilt_bytes(tmp_path: Path, whole: Path) -> None:
    spoilt = tmp_path / "spoilt.log.gz"
    known = bytearray(whole.read_bytes())
    known[len(known) // 2] ^= 0xFF
    spoilt.write_bytes(known)
    assert refusal(spoilt).startswith(f"{spoilt}: ")


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ({"format": "turbine-log/1"}, "has the form turbine-log/1, and this build opens turbine-l"),
        ({"format": "turbine-log/99"}, "open it with the build that wrote it, or export it again"),
        ({"format": 7}, "is no log of Turbine; `turbine log export --out FILE` makes one"),
        ({"topics": {"nope.v1": 1}}, "line 1, topics: nope.v1 is nothing that a log has"),
        ({"topics": {JOURNAL: 0}}, "line 1, topics: journal.v1 is nothing that a log has"),
        ({"topics": {JOURNAL: 10**6}}, "line 1, topics: journal.v1 is nothing that a log has"),
        ({"topics": []}, "line 1, topics: what it says is nothing that a log has"),
        ({"begins": {"journal.v1/1": 0}}, "line 1, begins: journal.v1/1 is nothing"),
        ({"ends": {AT: -1}}, "line 1, ends: an offset is nothing"),
        ({"ends": {AT: True}}, "line 1, ends: what it says is nothing"),
        ({"job": 7}, "line 1, job, since_ms or settings: what they say is nothing"),
    ],
)
def test_a_first_line_that_this_build_does_not_take(
    tmp_path: Path, whole: Path, head: dict[str, Any], told: str
) -> None:
    path = rewritten(whole, tmp_path / "x.log.gz", lambda lines: lines[0].update(head), sign=True)
    assert told in refusal(path)


@pytest.mark.parametrize("text", ["", "\n", "[1]\n", "nope\n", "[" * 100_000 + "\n", '{"a":1}\n'])
def test_what_is_no_log_at_all(tmp_path: Path, text: str) -> None:
    path = tmp_path / "text"
    path.write_text(text)
    assert "`turbine log export --out FILE` makes" in refusal(path)


@pytest.mark.parametrize(
    "line",
    [
        {"place": "journal.v1/0", "offset": 1 << 40},
        {"place": "journal.v1/9", "offset": 0},
        {"place": "journal.v1/0", "offset": -1},
        {"place": "journal.v1/0", "offset": 0, "value_base64": "?"},
        {"place": "journal.v1/0", "offset": 0, "headers": 3},
        {"place": ["journal.v1/0"], "offset": 0},
        {"something": "else"},
    ],
)
def test_a_line_that_is_no_record(tmp_path: Path, whole: Path, line: dict[str, Any]) -> None:
    def add(lines: list[Any]) -> None:
        lines.insert(1, {"at_ms": 1, "key": None, "headers": [], "value_base64": None} | line)

    path = rewritten(whole, tmp_path / "x.log.gz", add, sign=True)
    assert "line 2 is no record of the places that line 1 names" in refusal(path)


def test_a_record_that_is_there_twice(tmp_path: Path, whole: Path) -> None:
    def twice(lines: list[Any]) -> None:
        lines.insert(5, lines[5])
        lines[-1]["end"]["records"] += 1

    path = rewritten(whole, tmp_path / "x.log.gz", twice, sign=True)
    assert "has one offset twice" in refusal(path)


def test_what_lies_beyond_the_end(tmp_path: Path, whole: Path) -> None:
    path = tmp_path / "x.log.gz"
    path.write_bytes(gzip.compress(gzip.decompress(whole.read_bytes()) + b"{}\n"))
    assert "lies beyond its end" in refusal(path)


def test_a_line_that_never_ends_is_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "LINE_BYTES", 1_000)
    path = tmp_path / "x.log.gz"
    path.write_bytes(gzip.compress(b'{"format":"' + b"x" * 1_000))
    assert refusal(path).startswith(f"{path}: line 1 is longer than 1000 bytes, which no record")


def test_a_file_that_swells_is_not_unpacked(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both sides of the bound: what a real log comes to is far below it."""
    monkeypatch.setattr(log_lines, "SWELL_FROM", 100_000)
    LogFile(whole)
    first = gzip.decompress(whole.read_bytes()).splitlines(keepends=True)[0]
    path = tmp_path / "bomb.log.gz"
    path.write_bytes(gzip.compress(first + (b'{"schema": {' + b" " * 1_000 + b"}}\n") * 5_000))
    assert "unpacks to more than 300 times its size, which no log does" in refusal(path)
