"""What a person reads of a failed query: Python's lines, and few of Java's."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from spark_streaming.context import BadOperator, OperatorFailed
from spark_streaming.engine import judged
from spark_streaming.failure import FRAMES_MOST, LINES_MOST, deepest, trace_of

JAVA = "\n".join(f"\tat org.apache.spark.Frame.call(Frame.scala:{n})" for n in range(40))
SAID = f"""[STREAM_FAILED] Query [id = 1] terminated with exception: it failed
  File "/jobs/talks.py", line 17, in divide
ZeroDivisionError: division by zero

{JAVA}
Caused by: org.apache.spark.SparkException: it failed
{JAVA}
\t... 31 more
=== Streaming Query ===
Identifier: talks/1 [id = 1]
"""


def fail(error: BaseException) -> BaseException:
    """As it is caught: with a traceback."""
    try:
        raise error
    except type(error) as caught:
        return caught


def test_of_spark_what_it_says_and_few_frames_of_each_of_its_causes() -> None:
    lines = trace_of(PySparkException(SAID)).splitlines()
    assert lines[1:3] == [
        '  File "/jobs/talks.py", line 17, in divide',
        "ZeroDivisionError: division by zero",
    ]
    assert sum(line.startswith("\tat ") for line in lines) == 2 * FRAMES_MOST
    assert "\t... 31 more" not in lines, "it goes on with the frames that are left out"
    assert not any("Streaming Query" in line for line in lines)
    assert all(line.strip() for line in lines)


def test_of_python_its_traceback_with_the_causes() -> None:
    error = fail(ValueError("no number"))
    error.__cause__ = fail(KeyError("k"))
    lines = trace_of(error).splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert any(line.startswith("KeyError") for line in lines)
    assert lines[-1] == "ValueError: no number"


def test_an_operator_that_failed_is_told_by_what_it_raised() -> None:
    error = OperatorFailed("operator talks:run failed with KeyError: 'k'")
    error.__cause__ = fail(KeyError("k"))
    assert trace_of(error).endswith("KeyError: 'k'\n")
    assert "OperatorFailed" not in trace_of(error)


def test_what_a_sentence_says_needs_no_trace() -> None:
    assert trace_of(fail(BadOperator("operator a:b: there is no module a"))) == ""


def test_the_last_lines_are_kept() -> None:
    said = "\n".join(f"line {n}" for n in range(LINES_MOST + 1))
    lines = trace_of(PySparkException(said)).splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("line 1", f"line {LINES_MOST}", LINES_MOST)
    assert trace_of(PySparkException(said.partition("\n")[2])).splitlines()[0] == "line 1"


WORKER = """[STREAM_FAILED] Query [id = 1] ended: Traceback (most recent call last):
  File "/jobs/talks.py", line 3, in sink
    df.collect()
pyspark.errors.exceptions.captured.PythonException: An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/jobs/talks.py", line 17, in divide
    return str(1 // 0)
           ~~~^^~~~
ZeroDivisionError: division by zero

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/jobs/talks.py", line 19, in divide
store.errors.NoNumber: not
a number
 SQLSTATE: 39000
\tat org.apache.spark.Frame.call(Frame.scala:1)
=== Streaming Query ===
Traceback (most recent call last):
Nothing: this is the plan
"""


TRACE = "Traceback (most recent call last):"


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("top\n\tat x\nCaused by: a.B: middle\n\tat y\nCaused by: c.D: it\n\tat z", "", "c.D: it"),
        ("\n only this\nand more", "", "only this"),
        ("", "", ""),
        (WORKER, "NoNumber", "store.errors.NoNumber: not"),
        (f"{WORKER[:WORKER.index(' SQLSTATE')]}Caused by: j.IO: disk", "", "j.IO: disk"),
        (f"x\n{TRACE}\n  File\nKeyError", "KeyError", "KeyError"),
        (f"Caused by: p.E: {TRACE}\n  File\nOSError: a", "OSError", "OSError: a"),
        (f"{TRACE}\n  cut here", "", TRACE),
    ],
)  # fmt: skip
def test_the_cause_is_at_the_bottom_of_a_trace(text: str, name: str, said: str) -> None:
    assert deepest(text) == (name, said)


def test_a_verdict_names_the_class_and_the_message() -> None:
    verdict = judged(PySparkException(WORKER))
    assert (verdict.how, verdict.cause, verdict.error_class, verdict.explanation) == (
        "failed",
        "operator-error",
        "NoNumber",
        "store.errors.NoNumber: not",
    )
