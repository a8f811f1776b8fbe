"""Asks Kafka's own lag tool, `kafka-consumer-groups.sh` of a distribution, how far a group is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from infra.kafka.distribution import TARGET, fetch_jars, kafka_version, locked, obtain
from infra.waiting import within
from turbine_client.settings import Settings

POM = Path(__file__).with_name("kafka_tools.xml")
TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
TOOL_S = within(120.0)
ANSWER_MS = 60_000
"""The tool itself gives up after five seconds, of which a busy machine needs some for its Java."""


class Spot(NamedTuple):
    """A partition, as the tool tells it."""

    committed: int
    end: int
    lag: int


def describe_group(settings: Settings, job: str) -> dict[tuple[str, int], Spot]:
    """All partitions that the job's group has committed, by topic and number."""
    group = settings.job_group(job)
    broker = obtain()
    assert kafka_version(POM) == kafka_version(), "the tool is the broker's own"
    with locked(TARGET):
        jars = (*fetch_jars(POM, TARGET / "jars"), *broker.jars)
    command = [str(broker.java), *QUICK, "-cp", os.pathsep.join(map(str, jars)), TOOL]
    command += ["--bootstrap-server", settings.bootstrap, "--describe", "--group", group]
    command += ["--timeout", str(ANSWER_MS)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=TOOL_S, check=False)
    lines = [line.split() for line in ran.stdout.splitlines()]
    at = next((at for at, line in enumerate(lines) if line[:1] == ["GROUP"]), None)
    assert at is not None, f"the tool said {ran.stdout!r} and {ran.stderr!r}"
    rows = [dict(zip(lines[at], line, strict=False)) for line in lines[at + 1 :] if line]
    return {
        (row["TOPIC"], int(row["PARTITION"])): Spot(
            int(row["CURRENT-OFFSET"]), int(row["LOG-END-OFFSET"]), int(row["LAG"])
        )
        for row in rows
    }
