"""A start that failed is told by its innermost cause, out of two logs."""

from pathlib import Path

import pytest

from infra.kafka.readiness import find_cause, lines_from

NESTED = """\
2026-11-18T14:39:13,098 INFO BrokerServer starting
2026-11-18T14:39:13,099 ERROR KafkaRaftServer Exiting Kafka due to fatal exception
java.lang.RuntimeException: Unable to start
\tat kafka.Kafka.main(Kafka.scala)
Caused by: java.net.BindException: Address already in use.
\tat java.base/sun.nio.ch.Net.bind0(Native Method)
"""
ERROR_ONLY = """\
2026-11-18T14:39:13,098 ERROR LogManager Disk is full
2026-11-18T14:39:13,099 INFO KafkaRaftServer shut down
"""
CRASH = """\
#
# A fatal error has been detected by the Java Runtime Environment:
#
#  SIGBUS (0x7) at pc=0x00007f, pid=4711, tid=4712
#
"""


@pytest.mark.parametrize(
    ("log", "out", "cause"),
    [
        (NESTED, "", "java.net.BindException: Address already in use"),
        (ERROR_ONLY, "", "Disk is full"),
        ("", CRASH, "SIGBUS (0x7) at pc=0x00007f, pid=4711, tid=4712"),
        ("", "Error: Could not find or load main class kafka.Kafka\n", None),
        ("", "Unrecognized VM option 'X'\n", "Unrecognized VM option 'X'"),
        ("", "\n\n", "it said nothing"),
    ],
)
def test_the_cause_is_found(tmp_path: Path, log: str, out: str, cause: str | None) -> None:
    (tmp_path / "broker.log").write_text(log)
    (tmp_path / "out.txt").write_text(out)
    assert find_cause(tmp_path, 0) == (out.strip() if cause is None else cause)


def test_an_earlier_life_is_not_blamed(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    log.write_text(NESTED)
    start = log.stat().st_size
    log.write_text(NESTED + "2026-11-18T15:00:00,000 ERROR LogManager Disk is full\n")
    assert find_cause(tmp_path, start) == "Disk is full"


def test_a_log_that_was_rolled_over_is_read_from_its_beginning(tmp_path: Path) -> None:
    (tmp_path / "broker.log").write_text(ERROR_ONLY)
    assert find_cause(tmp_path, 10_000_000) == "Disk is full"


def test_without_any_log_that_is_said(tmp_path: Path) -> None:
    assert find_cause(tmp_path, 0) == "it said nothing"


def test_only_this_start_is_looked_at(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    assert lines_from(log, 0) == []
    log.write_text("a former life\nthis one\n")
    assert lines_from(log, 14) == ["this one"]
    assert lines_from(log, 1_000) == ["a former life", "this one"]
