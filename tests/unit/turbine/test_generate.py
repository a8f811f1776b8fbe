"""`generate`: an even pace whatever the broker does, an end in order, a word for each bad input."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.runtime.process.loop import StopSignal
from tests.unit.turbine.lines import run
from turbine.cli.generate import progress_text, teller, to_plain
from turbine.failures import Code
from turbine.ops import generate as generating
from turbine.ops.generate import LAST_S, Generator, GeneratorProgress, open_trace
from turbine.ops.traffic import BadTrace, Draws, RateSchedule, RecordShape, played, steady
from turbine_client.settings import Settings


class World:
    """A clock that moves while somebody waits, and a broker that takes so much a second."""

    def __init__(self, *, takes_per_s: float = 1e9, room: int = 10**9) -> None:
        self.now_s = 100.0
        self.stop = Waiting(self)
        self.values: list[dict[str, Any]] = []
        self.at_s: list[float] = []
        self.told: list[GeneratorProgress] = []
        self.on_wait: Callable[[], object] = lambda: None
        self._takes_per_s, self._room, self._taken = takes_per_s, room, 0.0

    # --- what a run is given

    def offer(self, key: str, value: str) -> bool:
        assert json.loads(value)["key"] == key
        if self.waiting >= self._room:
            return False
        self.values.append(json.loads(value))
        self.at_s.append(self.now_s - 100)
        return True

    @property
    def waiting(self) -> int:
        return len(self.values) - int(self._taken)

    def turn(self, timeout_s: float = 0.0) -> None:
        self.pass_(timeout_s)

    def settle(self, timeout_s: float) -> int:
        if self.waiting:
            self.pass_(timeout_s)
        return self.waiting

    def pass_(self, seconds: float) -> None:
        self.now_s += seconds
        self._taken = min(self._taken + seconds * self._takes_per_s, float(len(self.values)))
        self.on_wait()

    # --- what is asked of it

    def play(self, schedule: RateSchedule, records: int | None = None) -> GeneratorProgress:
        draws = Draws(random.Random(1), RecordShape(size_bytes=1))
        one = Generator(
            self, schedule, draws, records=records, begin_ms=5_000, now=lambda: self.now_s
        )
        return one.run(self.stop, self.told.append)


class Waiting(StopSignal):
    """Waits in the world's time."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def wait(self, seconds: float | None) -> bool:
        assert seconds is not None
        self._world.pass_(seconds)
        return self.wanted


# --- the pace


def test_a_steady_rate_is_sent_evenly_and_whole() -> None:
    world = World()
    done = world.play(steady(100).until(10))
    assert done.sent == len(world.values) == 1_000
    assert [value["n"] for value in world.values] == list(range(1_000))
    for number, (value, at_s) in enumerate(zip(world.values, world.at_s, strict=True)):
        due_s = (number + 1) / 100
        assert due_s - 1e-5 <= at_s <= due_s + 0.01
        assert value["at_ms"] == pytest.approx(5_000 + 1000 * due_s, abs=2)
    assert done.seconds == pytest.approx(10, abs=0.3)
    assert [round(one.seconds) for one in world.told] == list(range(1, 10))


def test_a_trace_is_followed() -> None:
    world = World()
    done = world.play(played([(0, 60.0), (1, 6_000.0), (2, 60.0)]))
    assert done.sent == 3030 + 3030 + 60
    assert sum(at_s < 30 for at_s in world.at_s) == pytest.approx(772, abs=3)
    assert sum(at_s > 120 for at_s in world.at_s) == 60


def test_it_ends_after_so_many_records() -> None:
    world = World()
    assert world.play(steady(1_000), records=250).sent == 250
    assert world.play(steady(5).until(2), records=250).sent == 10


def test_a_run_lasts_as_long_as_was_asked_although_nothing_more_is_due() -> None:
    world = World()
    done = world.play(played([(0, 60.0), (1, 0.0), (2, 0.0), (3, 0.0)]))
    assert done.sent == 30
    assert done.seconds >= 240


def test_a_slow_broker_makes_it_late_and_not_smaller() -> None:
    world = World(takes_per_s=50, room=20)
    done = world.play(steady(100).until(4))
    assert done.sent == 400
    assert done.seconds == pytest.approx(8, abs=0.5)
    assert done.behind_s == pytest.approx(4, abs=0.5)
    assert world.told[0].behind_s < world.told[-1].behind_s
    late = [
        at_s - value["at_ms"] / 1000 + 5
        for value, at_s in zip(world.values, world.at_s, strict=True)
    ]
    assert max(late) > 3, "a record bears the instant at which it was due"


def test_it_ends_in_order_when_it_is_told_to() -> None:
    world = World()
    world.on_wait = lambda: world.now_s >= 102 and world.stop.set()
    done = world.play(steady(100))
    assert done.sent == len(world.values)
    assert done.sent == pytest.approx(200, abs=30)


def test_it_ends_although_the_broker_takes_nothing_any_more() -> None:
    world = World(takes_per_s=0, room=10)
    world.on_wait = lambda: world.now_s >= 102 and world.stop.set()
    done = world.play(steady(100))
    assert (done.sent, done.behind_s) == (0, 0)
    assert done.seconds == pytest.approx(2 + LAST_S, abs=1)


# --- what is told


def test_progress_is_told_to_who_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    teller()(GeneratorProgress(5, 1.0, 0.0))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    told = teller()
    told(GeneratorProgress(1_000, 1.0, 0.01))
    told(GeneratorProgress(3_000, 2.0, 4.0))
    first, second = capsys.readouterr().err.split("\r\x1b[K")[1:]
    assert first == "1.0 s: 1,000 sent, 1,000 a second"
    assert second == "2.0 s: 3,000 sent, 2,000 a second, 4.0 s behind"


def test_what_came_of_a_run() -> None:
    assert to_plain("clicks", GeneratorProgress(2_000, 4.0, 0.0125)) == {
        "topic": "clicks",
        "sent": 2_000,
        "seconds": 4.0,
        "sent_per_s": 500.0,
        "behind_ms": 12,
    }
    assert to_plain("clicks", GeneratorProgress(0, 0.0, 0.0))["sent_per_s"] == 0.0
    assert progress_text(GeneratorProgress(0, 61.0, 0.0), 0.0) == "1 min 1 s: 0 sent, 0 a second"


# --- what is refused


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text("minute_index,rate\n0,5\n1,-5\n")
    Path("good.csv").write_text("0,5\n1,5\n")
    Path("vast.csv").write_text("0,1e300\n")
    Path("plain.csv.gz").write_text("0,5\n")
    Path("cut.csv.gz").write_bytes(gzip.compress(b"0,5\n1,5\n")[:-9])
    Path("bytes.csv").write_bytes(b"\xff\xfe\x00")


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "Missing option '--topic'"),
        ("--topic .x", '--topic: ".x" is no topic\'s name; use up to 249 letters, digits, '),
        ("--topic turbine.journal.v1", "--topic: turbine.journal.v1 is a topic of the log itself;"),
        ("--topic __x", "--topic: __x is a topic of the log itself;"),
        ("--topic t --rate 5 --trace good.csv", "--rate and --trace both say how fast; leave one"),
        ("--topic t --rate 0", "--rate: 0 is not a number above 0 up to 10,000,000; correct it"),
        ("--topic t --rate -1", "--rate: -1 is not a number above 0 up to"),
        ("--topic t --rate nan", "--rate: nan is not a number above 0 up to"),
        ("--topic t --rate fast", "Invalid value for '--rate': "),
        ("--topic t --speed 60", "--speed is of a trace; name one with --trace FILE"),
        ("--topic t --scale 2", "--scale is of a trace; name one with --trace FILE"),
        ("--topic t --trace good.csv --speed 0", "--speed: 0 is not a number above 0"),
        ("--topic t --trace good.csv --scale inf", "--scale: inf is not a number above 0"),
        ("--topic t --trace none.csv", "--trace: none.csv cannot be read (No such file or direct"),
        ("--topic t --trace .", "--trace: . cannot be read (Is a directory); name another file"),
        ("--topic t --trace bad.csv", "--trace: bad.csv, line 3: the rate -5 is below 0; correct"),
        ("--topic t --trace plain.csv.gz", "--trace: plain.csv.gz is not packed by gzip, or not"),
        ("--topic t --trace cut.csv.gz", "--trace: cut.csv.gz is not packed by gzip, or not whole"),
        ("--topic t --trace bytes.csv", "--trace: bytes.csv is no text; name a CSV of"),
        ("--topic t --trace vast.csv", "--trace: vast.csv asks for 1"),
        ("--topic t --for soon", "--for: 'soon' is no span of time"),
        ("--topic t --records 0", "Invalid value for '--records': "),
        ("--topic t --keys 0", "Invalid value for '--keys': "),
        ("--topic t --skew -1", "--skew: -1 is not a number from 0 up to 10; correct it"),
        ("--topic t --bytes 0", "Invalid value for '--bytes': "),
        ("--topic t --late 0.5", "--late alone makes nothing late; add --late-by MS"),
        ("--topic t --late-by 50", "--late-by alone makes nothing late; add --late SHARE"),
        ("--topic t --late 2 --late-by 50", "--late: 2 is not a number from 0 up to 1; correct it"),
        ("--topic t --partitions 0", "Invalid value for '--partitions': "),
    ],
)
def test_what_is_refused_before_anything_is_asked(line: str, sentence: str) -> None:
    ended = run("generate", *line.split())
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith(sentence)
    assert ended.out == ""


@pytest.mark.usefixtures("_here")
def test_a_trace_may_be_packed() -> None:
    text = "minute_index,rate\n0,5\n1,6.5\n"
    Path("a.csv.gz").write_bytes(gzip.compress(text.encode()))
    Path("b.csv").write_text("\ufeff" + text)
    assert open_trace(Path("a.csv.gz")) == open_trace(Path("b.csv")) == [(0, 5), (1, 6.5)]


def test_a_file_without_lines_is_not_read_to_its_end() -> None:
    with pytest.raises(BadTrace, match=r"^/dev/zero has a line of more than 1000 characters; name"):
        open_trace(Path("/dev/zero"))


# --- the command


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Stands in for a broker that has these topics; nothing is sent to it."""
    topics = {"clicks": 4}

    def create(_: Settings, name: str, partitions: int) -> bool:
        topics[name] = partitions
        return True

    monkeypatch.setattr("turbine_client.clients.knock", lambda _: "")
    monkeypatch.setattr(generating, "counts_of", lambda _: dict(topics))
    monkeypatch.setattr(generating, "create_topic", create)
    monkeypatch.setattr(generating, "TopicFeed", lambda *_: World())
    monkeypatch.setattr(StopSignal, "listen", lambda self: self)
    return topics


def test_a_topic_that_is_missing_is_created_and_told(broker: dict[str, int]) -> None:
    ended = run("generate", "--topic", "views", "--partitions", "3", "--records", "1", "-o", "json")
    assert (ended.code, broker["views"]) == (Code.OK, 3)
    assert ended.err == "topic views is created, with 3 partitions\n"
    row = json.loads(ended.out)
    assert list(row) == ["topic", "sent", "seconds", "sent_per_s", "behind_ms"]
    assert (row["topic"], row["sent"]) == ("views", 1)


def test_a_topic_that_is_there_has_the_partitions_that_it_has(broker: dict[str, int]) -> None:
    ended = run("generate", "--topic", "clicks", "--partitions", "4", "--records", "1")
    assert (ended.code, ended.err) == (Code.OK, "")
    assert ended.out.split()[:5] == ["TOPIC", "SENT", "SECONDS", "PER", "SECOND"]
    ended = run("generate", "--topic", "clicks", "--partitions", "5")
    assert ended.code == Code.USAGE
    assert ended.sentence.startswith("--partitions: topic clicks has 4 already; leave the option")


def test_who_interrupts_it_reads_what_was_sent(
    broker: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StopSignal, "listen", lambda self: self.set() or self)
    ended = run("generate", "--topic", "clicks", "-o", "json")
    assert ended.code == Code.INTERRUPTED
    assert json.loads(ended.out)["sent"] == 0


@pytest.mark.usefixtures("_here")
def test_no_records_go_into_the_log_of_the_own_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURBINE_PREFIX", "staging")
    for topic in ("staging.journal.v1", "turbine.journal.v1"):
        ended = run("generate", "--topic", topic)
        assert ended.code == Code.USAGE
        assert f"--topic: {topic} is a topic of the log itself;" in ended.err
        ended = run("topics", "create", topic)
        assert ended.code == Code.USAGE
        assert f"{topic} is of the log itself; `turbine topics apply` creates it" in ended.err
