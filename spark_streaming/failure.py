"""What a person reads of a failed query: the lines that Python said, and few of Java's. Pure."""

from __future__ import annotations

import re
import traceback

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from spark_streaming.context import BadOperator, OperatorFailed

LINES_MOST = 60
"""The last ones: what went wrong stands at the end of a traceback, and at that of Java's causes."""
FRAMES_MOST = 3
"""Of Java, below each error: operators are in Python or SQL, and the rest is Spark's own."""
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"(?:\w+\.)*(?P<name>[A-Za-z_]\w*)(?:: .*)?")
_PLAN = "=== Streaming Query ==="
_FRAMES = ("\tat ", "\t... ")


def trace_of(error: BaseException) -> str:
    """Whole lines, the last of which is what went wrong; none where a sentence says it all."""
    if isinstance(error, BadOperator | OperatorFailed):  # that sentence is the run's verdict
        return trace_of(error.__cause__) if error.__cause__ is not None else ""
    if isinstance(error, PySparkException | Py4JError):
        # How Spark came to call the sink is ours and the same for all; what it says is the user's.
        text = str(error).partition(_PLAN)[0]
    else:
        text = "".join(traceback.format_exception(error))
    lines = _without_frames(text.splitlines())
    return "".join(f"{line}\n" for line in lines[-LINES_MOST:])


def deepest(text: str) -> tuple[str, str]:
    """The cause at the bottom of what Spark says, which a person looks for in a trace of hundreds
    of lines: the class of the error, "" where it is none of Python's, and a sentence."""
    lines = text.partition(_PLAN)[0].splitlines()
    at = max((at for at, one in enumerate(lines) if one.startswith("Caused by: ")), default=0)
    lines = lines[at:]
    begins = [at for at, one in enumerate(lines) if one.endswith(_TRACEBACK)]
    for one in lines[begins[-1] + 1 :] if begins else ():
        raised = _RAISED.fullmatch(one)
        if raised is not None:  # frames, and the lines that they show, are indented
            return raised["name"], one
    said = [one.strip() for one in lines if one.strip()]
    return "", said[0].removeprefix("Caused by: ") if said else ""


def _without_frames(lines: list[str]) -> list[str]:
    """Lines that say something, and of each of Java's traces its beginning."""
    found, frames = list[str](), 0
    for line in lines:
        if not line.strip():
            continue
        frames = frames + 1 if line.startswith(_FRAMES) else 0
        if frames <= FRAMES_MOST:
            found.append(line)
    return found
