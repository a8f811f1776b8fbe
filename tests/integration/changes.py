"""Changes of jobs' configs under load, and the promise about them: each has exactly one verdict."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import Producer

from events.generated.records import ConfigChangeProposed
from events.topics import BY_SHORT, CHANGES, OUTCOMES, partition_of, place
from events.wire.codec import encode
from infra.waiting import until
from tests.integration.processes import PARTITIONS
from turbine.read.sources.log import Log, Standing
from turbine_client.clients import producer
from turbine_client.identity import change_id
from turbine_client.reading import read_span
from turbine_client.settings import Settings

SMALLEST: dict[str, Any] = {
    "operator": "clicks.count:run",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "clicks", "version": "1.4.2"},
    "checkpoint": {"root": "/checkpoints"},
}
PAUSE_S = 0.2
"""Between two looks at the whole journal, which take the time of the processes that write it."""
VERDICTS = frozenset({"JobConfigChanged", "JobConfigRejected", "JobDeleted"})


def new_id(valid_s: float = 300.0) -> str:
    return change_id(int((time.time() + valid_s) * 1000), uuid.uuid4().hex)


def proposal(job: str, **fields: Any) -> ConfigChangeProposed:
    """A change that creates the job, or as much of another one as is given."""
    return ConfigChangeProposed(
        **(
            {
                "change_id": new_id(),
                "job": job,
                "expected_version": None,
                "set_json": json.dumps(SMALLEST),
                "clear": (),
                "author": "author",
                "reason": "",
                "expires_ms": None,
                "traceparent": None,
            }
            | fields
        )
    )


def job_in(partition: int, prefix: str = "job") -> str:
    """A job's id whose partition is that one."""
    names = (f"{prefix}-{n}" for n in range(10_000))
    return next(name for name in names if partition_of(name, PARTITIONS) == partition)


class Author:
    """Sends changes as any foreign producer would: a key and a value, no headers."""

    def __init__(self, settings: Settings, **more: object) -> None:
        self.producer: Producer = producer(settings, **more)
        self.taken: dict[str, str] = {}  # change id: job, of all that the broker acknowledged
        self.refused: list[str] = []

    def ask(self, body: ConfigChangeProposed, layer: str = "base") -> str:
        """Sends it; the change id. `settle` waits for the acknowledgements."""

        def told(error: Any, _: Any) -> None:
            if error is None:
                self.taken[body.change_id] = body.job
            else:
                self.refused.append(body.change_id)

        self.producer.produce(
            BY_SHORT[CHANGES[layer]].name,
            key=body.job.encode(),
            value=encode(body),
            on_delivery=told,
        )
        self.producer.poll(0)
        return body.change_id

    def settle(self, wait_s: float = 60.0) -> None:
        assert self.producer.flush(wait_s) == 0, "the broker did not acknowledge in time"


class Load:
    """Changes in the background, at a pace, over jobs in all partitions."""

    def __init__(self, settings: Settings, prefix: str, *, every_s: float = 0.005) -> None:
        self.author = Author(settings)
        self.jobs = [job_in(p, f"{prefix}-{n}") for n in range(2) for p in range(PARTITIONS)]
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        for job in self.jobs:
            self.author.ask(proposal(job))
        number = 0
        while not self._stop.wait(self._every_s):
            number += 1
            job = self.jobs[number % len(self.jobs)]
            self.author.ask(proposal(job, set_json=json.dumps({"tasks": 1 + number % 30})))

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.author.settle()

    @property
    def sent(self) -> int:
        return len(self.author.taken)


def decisions(settings: Settings) -> list[Standing]:
    return Log(settings).decisions()


def verdicts(settings: Settings, asked: Iterable[str]) -> Counter[str]:
    """Change id to the number of standing verdicts on it, of those asked."""
    wanted = set(asked)
    found: Counter[str] = Counter()
    for one in decisions(settings):
        name = getattr(one.read.record.body, "change_id", None)
        if one.stands and one.read.record.kind in VERDICTS and name in wanted:
            found[name] += 1
    return found


def verdict(settings: Settings, asked: str, wait_s: float = 60.0) -> Any:
    """The one standing verdict on a change; waits for it."""
    found: list[Any] = []

    def seen() -> bool:
        found[:] = [
            one.read.record.body
            for one in decisions(settings)
            if one.stands and getattr(one.read.record.body, "change_id", None) == asked
        ]
        return bool(found)

    until(seen, f"a verdict on {asked}", wait_s, PAUSE_S)
    assert len(found) == 1
    return found[0]


def all_answered(
    settings: Settings,
    asked: Iterable[str],
    wait_s: float = 60.0,
    between: Callable[[], object] = lambda: None,
) -> float:
    """Waits until every change has a verdict, and sees that none has two; the seconds it took."""
    wanted = set(asked)
    assert wanted
    took = until(
        lambda: between() or verdicts(settings, wanted).keys() >= wanted,
        "a verdict on every change",
        wait_s,
        PAUSE_S,
    )
    assert set(verdicts(settings, wanted).values()) == {1}
    return took


def all_derive(settings: Settings) -> Counter[str]:
    """The audit's findings, by verdict; none of them is a difference."""
    findings = list(Log(settings).audit())
    assert [one for one in findings if one.verdict == "differs"] == []
    return Counter(one.verdict for one in findings)


def published(settings: Settings) -> dict[str, list[str]]:
    """What read-committed readers find on the outcomes topic: job to ids, in the log's order."""
    found: dict[str, list[str]] = defaultdict(list)
    spans: dict[str, tuple[int, int | None]] = {
        place(OUTCOMES, p): (0, None) for p in range(PARTITIONS)
    }
    for poll in read_span(settings, spans, **{"isolation.level": "read_committed"}):
        for message in poll:
            assert message.key is not None
            name = dict(message.headers or [])["ce_id"]
            assert name is not None
            found[message.key.decode()].append(name.decode())
    return dict(found)


def standing(settings: Settings) -> dict[str, list[str]]:
    """What stands in the journal and is for the world: job to ids, in the log's order."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in decisions(settings):
        record = one.read.record
        if one.stands and record.kind in BY_SHORT[OUTCOMES].records and record.body is not None:
            found[record.key].append(record.id)
    return dict(found)


def all_published(
    settings: Settings, wait_s: float = 60.0, between: Callable[[], object] = lambda: None
) -> None:
    """Waits until the world has been told all that stands: each once, in each job's order."""
    # Something may come to stand while one looks: both are read again each time.
    until(
        lambda: between() or published(settings) == standing(settings),
        "what is published is what stands, each once and in each job's order",
        wait_s,
        PAUSE_S,
    )
