"""Audits a whole log on a broker, in a process of its own.

Arguments: bootstrap address, partitions, and the way: "audit", or "profile" for the same under
cProfile. One JSON line tells records, decisions by verdict, seconds, CPU seconds and peak memory.
"""

from __future__ import annotations

import cProfile
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from benchmarks.figures import peak_mb
from benchmarks.replay_reader import hottest
from components.auditor.bulk import LogAudit
from components.runtime.kafka.intake import Message
from components.runtime.kafka.origin import BrokerOrigin
from components.runtime.process.garbage import collect_seldom
from turbine.read.logics import AUDITED
from turbine_client.settings import Settings


class Counted(LogAudit):
    """Counts what is read."""

    records = 0

    def slices(self, ends: Any = None) -> Iterator[list[Message]]:
        for messages in super().slices(ends):
            self.records += len(messages)
            yield messages


def main(bootstrap: str, partitions: int, way: str) -> None:
    collect_seldom()
    settings = Settings(bootstrap=bootstrap, partitions=partitions)
    audit = Counted(BrokerOrigin(settings), AUDITED, partitions)
    profile = cProfile.Profile() if way == "profile" else None
    since, cpu = time.perf_counter(), time.process_time()

    def run() -> Counter[str]:
        return Counter(one.verdict for one in audit.run())

    found = profile.runcall(run) if profile else run()
    said = {
        "records": audit.records,
        "decisions": found.total(),
        "verdicts": found,
        "seconds": time.perf_counter() - since,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": peak_mb(),
        "top": hottest(profile) if profile else [],
    }
    audit.close()
    print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
