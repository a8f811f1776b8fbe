"""How what is asked here reaches the log: as any author's change, by the same publisher."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from events.generated.records import DrainRequested, UndrainRequested
from turbine.ops.tiers import ask, new_id
from turbine.read.sources.log import Log
from turbine_client.publish import Publisher, Unheard
from turbine_client.settings import Settings
from turbine_client.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class LayerChange:
    """What is asked of one layer."""

    job: str
    layer: str
    set: Mapping[str, Any]
    clear: Sequence[str]
    reason: str
    author: str
    expected_version: int | None
    expires_ms: int | None
    create: bool = False


@dataclass(frozen=True, slots=True)
class OperatorWish:
    """What an operator asks for: of a job to pause, resume or release, of a container to drain or
    undrain."""

    verb: str
    subject: str
    reason: str
    author: str


class LogWriter:
    """Writes requests to the log of an installation, and waits for what becomes of them.

    The publisher is made when it is needed first. There is no installation behind a file: the guard
    lets no request come so far there.
    """

    def __init__(self, settings: Settings | None) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._publisher: Publisher | None = None

    def change(self, change: LayerChange, wait_s: float) -> Verdict:
        """Asks for a change of a layer."""
        with self._publishing() as publisher:
            return publisher.change(
                change.job,
                change.set,
                change.clear,
                layer=change.layer,
                create=change.create,
                expected_version=change.expected_version,
                reason=change.reason,
                expires_ms=change.expires_ms,
                author=change.author,
                wait_s=wait_s,
                valid_s=min(max(60.0, wait_s), 600.0),
            )

    def ask(self, wish: OperatorWish, wait_s: float) -> Verdict:
        """Asks for something about a job."""
        with self._publishing() as publisher:
            verbs = {
                "pause": publisher.pause,
                "resume": publisher.resume,
                "release": publisher.release,
            }
            return verbs[wish.verb](
                wish.subject, reason=wish.reason, author=wish.author, wait_s=wait_s
            )

    def tell(self, wish: OperatorWish) -> str:
        """Writes a wish about a container, which needs no verdict; its id."""
        kind = DrainRequested if wish.verb == "drain" else UndrainRequested
        name = new_id()
        ask(
            Log(self._installation()),
            wish.subject,
            kind(name, wish.subject, wish.author, wish.reason),
        )
        return name

    def _installation(self) -> Settings:
        assert self._settings is not None, "nothing can be asked of a log in a file"
        return self._settings

    @contextmanager
    def _publishing(self) -> Iterator[Publisher]:
        """The publisher; one that hears nothing more is left, and the next one is another."""
        with self._lock:
            if self._publisher is None:
                self._publisher = Publisher(self._installation())
            publisher = self._publisher
        try:
            yield publisher
        except Unheard:
            with self._lock:
                if self._publisher is publisher:
                    self._publisher = None
            publisher.close()
            raise

    def close(self) -> None:
        """Leaves the broker with all its clients."""
        with self._lock:
            publisher, self._publisher = self._publisher, None
        if publisher is not None:
            publisher.close()
