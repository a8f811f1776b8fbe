"""A process turns until a signal, and ends with a code and a sentence where it cannot go on."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from components.runtime.process.loop import StopSignal, turn_until_stopped
from turbine_client.emitter import WriteRefused
from turbine_client.errors import BrokerUnreachable
from turbine_client.reading import LogUnreadable
from turbine_client.settings import BadSettings

ROOT = Path(__file__).resolve().parents[3]


class Turner:
    """Turns three times, then is told to stop, or fails."""

    def __init__(self, stop: StopSignal, error: Exception | None = None) -> None:
        self.stop, self.error = stop, error
        self.turns, self.closed = 0, False

    def turn(self) -> None:
        self.turns += 1
        if self.turns == 3:
            if self.error is not None:
                raise self.error
            self.stop.set()

    def close(self) -> None:
        self.closed = True


def test_it_turns_until_it_is_told_to_stop_and_closes() -> None:
    stop = StopSignal()
    turner = Turner(stop)
    assert turn_until_stopped(lambda: turner, stop) == 0
    assert (turner.turns, turner.closed) == (3, True)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (WriteRefused("refused"), 71),
        (LogUnreadable("unreadable"), 74),
        (BrokerUnreachable("unreachable"), 74),
        (KafkaException(KafkaError(KafkaError._FATAL, "lost")), 74),
    ],
)
def test_what_it_cannot_go_on_from_ends_it_with_a_code(error: Exception, code: int) -> None:
    stop = StopSignal()
    turner = Turner(stop, error)
    assert turn_until_stopped(lambda: turner, stop) == code
    assert not turner.closed


def test_a_refused_write_at_the_beginning_ends_it_with_a_code() -> None:
    def begin() -> Any:
        raise WriteRefused("fenced")

    assert turn_until_stopped(begin, StopSignal()) == 71


@pytest.mark.parametrize("error", [BadSettings("no topic"), BrokerUnreachable("no broker")])
def test_what_a_person_has_to_correct_comes_out_of_it(error: Exception) -> None:
    def begin() -> Any:
        raise error

    with pytest.raises(type(error)):
        turn_until_stopped(begin, StopSignal())


def run(code: str) -> subprocess.Popen[str]:
    head = "from components.runtime.process.loop import *\nimport sys, time, threading, ctypes\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(code)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_heard_while_the_main_thread_is_in_a_clients_c_code(
    number: signal.Signals,
) -> None:
    """A handler of Python's runs only when the C code returns: here after a minute."""
    child = run("""
        class Blocked:
            def turn(self):
                print("in", flush=True)
                ctypes.CDLL(None).pause() and ctypes.CDLL(None).sleep(60)
                while True:
                    ctypes.CDLL(None).sleep(60)
            def close(self): ...
        stop = StopSignal().listen()
        sys.exit(turn_until_stopped(Blocked, stop, deadline_s=0.2))
        """)
    assert child.stdout is not None
    assert child.stdout.readline() == "in\n"
    child.send_signal(number)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 75
    assert "could not stop in 0.2 s, the broker did not answer" in said


def test_a_call_that_does_not_return_ends_the_process() -> None:
    child = run("""
        patience = Patience(look_s=0.05)
        with patience.within(5, "quick"):
            pass
        time.sleep(0.2)
        print("went on", flush=True)
        with patience.within(0.1, "commit"):
            ctypes.CDLL(None).sleep(60)
        """)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 73
    assert said.startswith("went on\n")
    assert "commit did not return in 0.1 s" in said
