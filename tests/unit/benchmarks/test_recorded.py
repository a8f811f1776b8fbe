"""A recorded log is a valid chain that calls for nothing more; one that is not is noticed."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from benchmarks.recorded import Line, Recording
from components.job_service.decide import component
from components.runtime.core.component import places_of
from components.runtime.core.step import Stepper
from events.topics import CLOCK, JOURNAL, LOADS, partition_of, place
from events.wire.codec import read_message
from events.wire.generate_decoders import HOT
from projections.jobs import Job

START_MS = 1_700_000_000_000
PARTITION, PARTITIONS = 3, 16


def recorded(seconds: int = 150) -> list[Line]:
    return list(Recording(PARTITION, PARTITIONS, START_MS).lines(seconds))


@dataclass(slots=True)
class Reader:
    """Reads lines from their bytes, as anybody would."""

    owner: Stepper[Job] = field(
        default_factory=lambda: Stepper(
            component, places_of(component, [PARTITION]), lambda *_: True
        )
    )
    ends: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def read(self, line: Line) -> None:
        at = place(line.topic, line.partition)
        offset, self.ends[at] = self.ends[at], self.ends[at] + 1
        if line.topic == CLOCK:
            self.owner.tick(at, offset, line.at_ms)
            return
        key = line.key.encode()
        self.owner.read(
            read_message(
                line.topic,
                line.partition,
                offset,
                line.at_ms,
                key,
                line.value,
                line.headers,
                PARTITIONS,
            )
        )


def test_what_is_one_in_a_hundred_records_has_a_decoder_of_its_own() -> None:
    kinds = Counter(line.headers[2][1].decode().rpartition(".")[2] for line in recorded())
    assert {kind for kind, n in kinds.items() if 100 * n >= kinds.total()} <= HOT.keys()


def test_all_stands_and_nothing_more_is_called_for() -> None:
    reader = Reader()
    for line in recorded():
        reader.read(line)
    assert reader.owner.flush() == []
    assert (reader.owner.counts.void, reader.owner.counts.impossible) == (0, 0)
    assert not reader.owner.blocked


def test_a_decision_that_is_lost_is_noticed() -> None:
    lines = recorded()
    lost = next(at for at, line in enumerate(lines) if line.topic == JOURNAL)
    reader = Reader()
    for line in lines[:lost] + lines[lost + 1 :]:
        reader.read(line)
    reader.owner.flush()
    assert reader.owner.counts.void or reader.owner.blocked


def test_the_mix_has_all_there_is() -> None:
    recording = Recording(PARTITION, PARTITIONS, START_MS)
    lines = list(recording.lines(400))
    assert recording.kinds == Counter(
        {
            "TaskLoadReported": recording.kinds["TaskLoadReported"],
            "ConfigChangeProposed": recording.kinds["ConfigChangeProposed"],
            "JobDeleteRequested": recording.kinds["JobDeleteRequested"],
            "JobConfigChanged": recording.kinds["JobConfigChanged"],
            "JobConfigRejected": recording.kinds["JobConfigRejected"],
            "OverrideExpired": recording.kinds["OverrideExpired"],
            "JobDeleted": recording.kinds["JobDeleted"],
            "ClockTicked": 400,
        }
    )
    assert all(recording.kinds.values())
    assert sum(recording.kinds.values()) == len(lines)


def test_keys_lie_where_everybody_looks_for_them() -> None:
    for line in recorded(20):
        assert line.partition == PARTITION
        assert line.topic == CLOCK or partition_of(line.key, PARTITIONS) == PARTITION


def test_times_never_go_back_in_a_place() -> None:
    high: dict[str, int] = defaultdict(int)
    for line in recorded():
        assert line.at_ms >= high[line.topic]
        high[line.topic] = line.at_ms


def test_the_same_recording_comes_out_twice() -> None:
    assert recorded(60) == recorded(60)


def test_every_task_reports_once_a_minute() -> None:
    tasks = Counter(line.headers[1][1] for line in recorded(60) if line.topic == LOADS)
    assert len(tasks) == 64 * 4
    assert set(tasks.values()) == {1}
