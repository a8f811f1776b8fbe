"""A job and the requests about it, by hand: what is asked, what is decided, what then stands."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from components.job_service.decide import decide
from events.generated.records import (
    Body,
    ConfigChangeProposed,
    JobConfigChanged,
    JobConfigRejected,
    JobDeleteRequested,
)
from events.job_config.strict_json import canonical_json
from events.topics import CHANGES, JOURNAL, OPERATOR
from events.wire.codec import Read, Record, encode
from projections.jobs import Job, apply, fold
from turbine_client.identity import change_id

NOW_MS = 1_000_000
SMALLEST: dict[str, Any] = {
    "operator": "examples.counts:count",
    "inputs": [{"topic": "clicks"}],
    "package": {"name": "counts", "version": "1.0.0"},
    "checkpoint": {"root": "/checkpoints"},
}


class Desk:
    """One job as the job service holds it; each question is followed by its answer."""

    def __init__(
        self, name: str = "orders", *, alive: bool = True, fold: Callable[..., Job] = fold
    ) -> None:
        self.name, self.now_ms, self._read = name, NOW_MS, fold
        self.row: Job | None = None
        self._numbers, self._offsets = count(), count()
        if alive:
            answer = self.ask("base", set_=SMALLEST)
            assert isinstance(answer, JobConfigChanged)

    @property
    def job(self) -> Job:
        return self.row if self.row is not None else Job(self.name)

    def put(self, layer: str, *, name: str = "", size: int | None = None, **said: Any) -> str:
        """A request lies on its topic; its id."""
        name = name or change_id(self.now_ms + 60_000, f"{layer}{next(self._numbers)}")
        wish = said.pop("set_", {})
        body = ConfigChangeProposed(
            change_id=name,
            job=self.name,
            author=said.pop("author", "ann"),
            set_json=wish if isinstance(wish, str) else canonical_json(wish),
            reason=said.pop("reason", "because"),
            clear=tuple(said.pop("clear", ())),
            **said,
        )
        self._fold(CHANGES[layer], name, body, size)
        return name

    def put_deletion(self, *, author: str = "ann", reason: str = "done") -> str:
        """A request to delete the job; its id."""
        name = change_id(self.now_ms + 60_000, f"delete{next(self._numbers)}")
        body = JobDeleteRequested(change_id=name, job=self.name, author=author, reason=reason)
        self._fold(OPERATOR, name, body, None)
        return name

    def hear(self, topic: str, body: Body) -> None:
        """What another component or a task says."""
        self._fold(topic, "?", body, None)

    def _fold(self, topic: str, name: str, body: Body, size: int | None) -> None:
        value = encode(body) if size is None else b"?" * size
        record = Record(self.name, name, type(body).__name__, value, body)
        read = Read(f"{topic}/0", topic, next(self._offsets), self.now_ms, record)
        self.row = self._read(self.row, read)

    def decide(self) -> list[Body]:
        """What there is to be said now; all of it stands."""
        said = list(decide(self.job, self.now_ms))
        for body in said:
            record = Record(self.name, "?", type(body).__name__, encode(body), body, parent="?")
            read = Read(f"{JOURNAL}/0", JOURNAL, next(self._offsets), self.now_ms, record)
            assert self._read(self.row, read) == apply(self.job, body)
            self.row = self._read(self.row, read)
        return said

    def ask(self, layer: str, **said: Any) -> Body:
        """A request, and the one thing that is said to it."""
        self.put(layer, **said)
        (answer,) = self.decide()
        return answer

    def delete(self) -> Body:
        """Asks for the deletion, and hears the answer."""
        self.put_deletion()
        (answer,) = self.decide()
        return answer

    def refusal(self, layer: str, **said: Any) -> tuple[str, str, str]:
        """Reason, path and sentence with which a request is refused; nothing else changes."""
        layers, expected = self.job.layers, self.job.expected_json
        answer = self.ask(layer, **said)
        assert isinstance(answer, JobConfigRejected), answer
        assert (self.job.layers, self.job.expected_json) == (layers, expected)
        assert answer.ingress == layer
        return answer.reason, answer.path, answer.explanation
