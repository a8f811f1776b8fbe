"""What of a traceback is said in the log: its end, whole lines, and no password."""

from __future__ import annotations

import json

import pytest

from components.runtime.process.secrets import HIDDEN, secrets_of
from events.generated.records import Generation, TaskFailed
from events.wire.codec import encode
from tasks.core.protocol import Ended, event_of, line
from tasks.core.traces import TRACE_BYTES, last_lines

SETTINGS = {
    "sasl.username": "turbine",
    "sasl.password": "hunter2!",
    "sasl.jaas.config": 'required password="hunter2!";',
    "ssl.key.password": "abc",
    "security.protocol": "SASL_SSL",
}


def test_a_short_one_is_said_as_it_is() -> None:
    assert (
        last_lines("Traceback\n  File x\nValueError: é\n") == "Traceback\n  File x\nValueError: é"
    )
    assert last_lines("") == ""


def test_of_a_long_one_the_end_by_whole_lines() -> None:
    lines = [f"  File {number}, ünd" for number in range(1000)]
    said = last_lines("\n".join([*lines, "ValueError: it broke"])).split("\n")
    assert said[-1] == "ValueError: it broke"
    assert said[:-1] == lines[-(len(said) - 1) :]
    size = len("\n".join(said).encode())
    assert TRACE_BYTES - len(lines[0].encode()) - 8 < size <= TRACE_BYTES


@pytest.mark.parametrize("letter", ["x", "é", "\U0001f525"])
def test_of_one_endless_line_the_beginning(letter: str) -> None:
    said = last_lines("frames\nValueError: " + letter * 9000)
    assert said.startswith("ValueError: " + letter * 900)
    assert TRACE_BYTES - 8 < len(said.encode()) <= TRACE_BYTES


def test_what_is_no_text_can_be_said_all_the_same() -> None:
    """An error may quote bytes of a foreign message."""
    ended = Ended(1, "failed", explanation="c\udc80d", traceback="a\udc80b")
    event = event_of(json.loads(line("ended", **ended._asdict())))
    assert isinstance(event, Ended)
    assert (event.explanation, event.traceback) == ("c?d", "a?b")
    said, trace = event.explanation, event.traceback
    assert encode(TaskFailed("j", 0, Generation(1, 1), "c", 1, "x", said, traceback=trace))


def test_no_value_that_is_a_secret_by_its_name() -> None:
    assert secrets_of(SETTINGS) == ('required password="hunter2!";', "hunter2!")
    said = last_lines(
        "connect(turbine, hunter2!)\nError: hunter2! of SASL_SSL", secrets_of(SETTINGS)
    )
    assert said == f"connect(turbine, {HIDDEN})\nError: {HIDDEN} of SASL_SSL"
