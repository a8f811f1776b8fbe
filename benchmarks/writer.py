"""Writes many messages fast, and knows afterwards that every one of them is in the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from turbine_client.clients import producer
from turbine_client.settings import Settings

SETTLE_S = 120.0


class Writer:
    """One producer; `settle` at the end. Used from one thread."""

    def __init__(self, settings: Settings, **more: object) -> None:
        self._client = producer(settings, **more)
        self._lost: list[str] = []

    def write(
        self,
        name: str,
        partition: int,
        key: str,
        value: bytes,
        *,
        headers: Sequence[tuple[str, bytes]],
        at_ms: int = 0,
    ) -> None:
        """Hands a message to the client, and waits where its queue is full."""
        told: Any = headers
        while True:
            try:
                self._client.produce(
                    name, value, key, partition, self._delivered, timestamp=at_ms, headers=told
                )
            except BufferError:
                self._client.poll(0.05)
            else:
                self._client.poll(0)
                return

    def _delivered(self, error: object, message: Any) -> None:
        # No error and no offset: the broker took the batch for a repeated one. Where the first
        # batches to a new partition overtook each other, it is in no log.
        if error is not None or message.offset() is None:
            why = error or "acknowledged without an offset"
            self._lost.append(f"{message.topic()}/{message.partition()}: {why}")

    def settle(self) -> None:
        """Returns when all is in the log."""
        left = self._client.flush(SETTLE_S)
        assert not left, f"{left} messages were not acknowledged in {SETTLE_S:g} s"
        assert not self._lost, f"{len(self._lost)} messages were not taken, first: {self._lost[0]}"
