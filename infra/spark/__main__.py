"""`python -m infra.spark [--at-once] [--json]`: the jars by which Spark reads Kafka, fetched once,
and flags by which its Java starts sooner, once an archive of its classes is made.

How programs that must not import this room get them: one line on standard output, or one sentence
on standard error and exit code 1.
"""

import argparse
import json
import sys
from pathlib import Path

from infra.kafka.distribution import fetch_jars, find_java, locked
from infra.kafka.errors import BrokerError
from infra.spark.archive import spark_flags
from spark_streaming.jvm import JavaFailed

ROOM = Path(__file__).resolve().parent
POM = ROOM / "pom.xml"
TARGET = ROOM / "target"


def jars(pom: Path = POM, target: Path = TARGET) -> tuple[Path, ...]:
    """The jars, downloaded if they are not there; safe to call from many processes."""
    find_java()  # they are of no use without one, and the sentence about it comes first
    with locked(target):
        return fetch_jars(pom, target / "jars")


def main(arguments: list[str] | None = None) -> int:
    """0 and the jars, or 1 and a sentence."""
    parser = argparse.ArgumentParser(prog="python -m infra.spark", description=__doc__)
    parser.add_argument("--at-once", action="store_true", help="without what takes a minute")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        found = jars()
        flags = spark_flags(found, make=not given.at_once)
    except (BrokerError, JavaFailed) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    answer = {"jars": [str(one) for one in found], "flags": flags}
    text = json.dumps(answer) if given.json else "\n".join([*answer["jars"], *flags])
    sys.stdout.write(f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
