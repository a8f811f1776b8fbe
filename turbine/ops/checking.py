"""Tries operators on an empty stream, as a process: `python -m turbine.ops.checking`.

What it imports is anybody's, and may hang, end the program or bring Java down: so it is a process,
and who asked has a deadline. It reads one JSON object, the settings of Spark and the jobs, and says
`ready` and then a line for each job, in their order.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from spark_streaming.context import (
    COLUMNS,
    BadOperator,
    OperatorFailed,
    TaskContext,
    sources_of,
    spark_said,
)
from spark_streaming.main import options_of
from spark_streaming.operator import SQL, call_operator, is_stateful, write_records
from spark_streaming.session import start_session
from tasks.process_tree import die_with, name_process
from turbine_client.errors import Unavailable

EXIT_NO_SPARK = 3
HEAP_MB = 512
"""Nothing is read, so that only plans are in memory."""
FLAGS = ("-XX:TieredStopAtLevel=1",)
"""It lives for seconds: what is compiled any better than at once never pays."""


def try_job(spark: SparkSession, job: Mapping[str, Any], scratch: Path) -> Mapping[str, object]:
    """What the operator would write and whether it keeps state, or what is wrong with it."""
    config = json.loads(job["config_json"])
    sources = sources_of([(topic, numbers) for topic, numbers in job["inputs"]], config)
    session = spark.newSession() if job["operator"] == SQL else spark
    raw = session.readStream.schema(COLUMNS).parquet(str(empty_input(spark, scratch)))
    context = TaskContext(job["job"], 0, tuple(job["argv"]), sources, raw)
    query = str(config.get("sql", ""))
    try:
        found = call_operator(job["operator"], query, context)
        _start(write_records(job["operator"], found), scratch / job["job"])
    except (BadOperator, OperatorFailed) as bad:
        return {"explanation": str(bad)}
    except PySparkException as error:
        return {"explanation": f"no stream can run this: {spark_said(error)}"}
    columns = [{"name": name, "type": kind.upper()} for name, kind in found.dtypes]
    return {"stateful": is_stateful(found), "columns": columns}


def empty_input(spark: SparkSession, scratch: Path) -> Path:
    """A directory with one file of no rows: so a batch is planned to its end, and nothing is run of
    what the operator does with a row."""
    folder = scratch / "input"
    if not folder.is_dir():
        spark.createDataFrame([], COLUMNS).coalesce(1).write.parquet(str(folder))
    return folder


def _start(rows: DataFrame, scratch: Path) -> None:
    """As a task would, in append mode: what no stream can do is found at its start."""
    stream = rows.writeStream.format("noop").outputMode("append")
    query = stream.option("checkpointLocation", str(scratch)).trigger(availableNow=True).start()
    query.awaitTermination()


def serve(
    ask: Mapping[str, Any], scratch: Path, say: Callable[[Mapping[str, object]], None]
) -> None:
    """Answers for all jobs of one question."""
    options = options_of(ask["spark"], scratch)
    options = replace(options, master="local[1]", heap_mb=HEAP_MB, flags=(*options.flags, *FLAGS))
    spark, java = start_session(options, partial(die_with, os.getpid()))
    threading.Thread(target=_follow, args=(java.wait,), daemon=True).start()
    say({"what": "ready"})
    for job in ask["jobs"]:
        say({"what": "tried", "job": job["job"], **try_job(spark, job, scratch)})


def _follow(wait: Callable[[], int]) -> None:
    code = wait()
    sys.stderr.write(f"turbine: Spark's Java process ended with code {code}\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)  # whatever is under way waits for Java


def main(arguments: list[str] | None = None) -> int:
    """0 when all jobs are tried, whatever came of it."""
    parser = argparse.ArgumentParser(prog="python -m turbine.ops.checking", description=__doc__)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--die-with", type=int, required=True, metavar="PID")
    given = parser.parse_args(arguments)
    die_with(given.die_with)
    name_process("checking")
    # Where the user stands there may be the operators' module; behind all that is installed, as a
    # folder there must not be taken for ours.
    sys.path.append(str(Path.cwd()))
    voice = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what operators print is none of our answers

    def say(row: Mapping[str, object]) -> None:
        voice.write(json.dumps(row) + "\n")
        voice.flush()

    try:
        serve(json.load(sys.stdin), given.scratch, say)
    except Unavailable as failed:
        sys.stderr.write(f"turbine: {failed}\n")
        return EXIT_NO_SPARK
    voice.close()
    sys.stdout.flush()
    os._exit(0)  # threads that an operator left behind need not end first


if __name__ == "__main__":
    sys.exit(main())
