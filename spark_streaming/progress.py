"""What a query has done, summed up from the words that Spark keeps of its last batches.

They are asked for, not listened to: Python's listener was seen to come half a minute late, and to
lose a query's end, where a busy task passed for an idle one.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from spark_streaming.source import At, read_counts

KEPT = 200
"""Batches whose times are known."""


class QueryProgress:
    """Of one query, which reads these topics. Used from one thread."""

    def __init__(self, topics: Iterable[str] = ()) -> None:
        self._topics, self._seen = tuple(topics), -1
        self.records = self.bytes = self.busy_ms = 0
        self.reads = Counter[At]()  # the records, by partition
        self._batches_ms = deque[int](maxlen=KEPT)
        self.state_rows: int | None = None
        self.state_bytes: int | None = None

    def take(self, query: StreamingQuery, read: str) -> None:
        """What is new since the last time. Spark keeps so many (`session`) that it is enough to
        ask once a minute."""
        news = []
        for one in reversed(list(query._jsq.recentProgress())):
            plain = json.loads(one.json())
            if plain["batchId"] <= self._seen:
                break
            news.append(plain)
        for plain in reversed(news):
            self.add(plain, read)

    def add(self, plain: Mapping[str, Any], read: str) -> None:
        """One batch. One without input has read nothing, and is told again under its number when
        there is some."""
        operators = plain.get("stateOperators") or ()
        if operators:
            self.state_rows = sum(one["numRowsTotal"] for one in operators)
            self.state_bytes = sum(one["memoryUsedBytes"] for one in operators)
        found = (plain.get("observedMetrics") or {}).get(read) or {}
        if not found.get("records"):
            return
        self._seen = plain["batchId"]
        self.records += found["records"]
        self.bytes += found.get("bytes") or 0
        self.reads.update(read_counts(found["of"], self._topics))
        took_ms = plain["durationMs"]["triggerExecution"]
        self.busy_ms += took_ms
        self._batches_ms.append(took_ms)

    def counts(self) -> dict[str, int | None]:
        """Under the names of a sample. Times of batches are those since the last call."""
        found = {
            "records_in": self.records,
            "bytes_in": self.bytes,
            "busy_us": self.busy_ms * 1000,
            "batch_ms_p50": self._batch_ms(0.5),
            "batch_ms_p95": self._batch_ms(0.95),
            "state_rows": self.state_rows,
            "state_bytes": self.state_bytes,
        }
        self._batches_ms.clear()
        return found

    def _batch_ms(self, share: float) -> int | None:
        """Below it that share of the last batches lies."""
        ordered = sorted(self._batches_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
