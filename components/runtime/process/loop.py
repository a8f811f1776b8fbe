"""A process that is not a Faust worker: turns until a signal, and says with a code why it ended."""

from __future__ import annotations

import signal
import socket
import threading
import time  # noqa: TID251 - patience with a client is real time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import structlog
from confluent_kafka import KafkaException

from components.runtime.kafka.surveying import last_look
from components.runtime.process.exits import (
    EXIT_REFUSED_WRITE,
    EXIT_STOP_DEADLINE,
    EXIT_STUCK,
    EXIT_UNREADABLE,
    STOP_DEADLINE_S,
    die,
    too_late,
)
from turbine_client.emitter import WriteRefused
from turbine_client.errors import BrokerUnreachable
from turbine_client.reading import LogUnreadable

log = structlog.get_logger(__name__)


class Turning(Protocol):
    """What a process does, a turn at a time."""

    def turn(self) -> None:
        """One turn: short, so that a signal is heeded soon."""

    def close(self) -> None:
        """After the signal: what is better done now than by the next start."""


class StopSignal:
    """Set by SIGTERM and SIGINT."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def listen(self) -> StopSignal:
        """From the main thread, once.

        Python runs a signal's handler between two steps of the main thread, and that may be waiting
        for a broker in a client's C code. The byte that the signal writes is read at once.
        """
        woken, wake = socket.socketpair()
        wake.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._event.set())
        # The thread keeps `wake` too: a socket that nobody holds is closed.
        threading.Thread(target=self._hear, args=(woken, wake), daemon=True).start()
        return self

    def _hear(self, woken: socket.socket, _wake: socket.socket) -> None:
        while woken.recv(1)[0] not in (signal.SIGTERM, signal.SIGINT):
            continue
        self._event.set()

    @property
    def wanted(self) -> bool:
        """Whether the process was told to end."""
        return self._event.is_set()

    def set(self) -> None:
        """Tells the process to end, as a signal would."""
        self._event.set()

    def wait(self, seconds: float | None) -> bool:
        """Waits, but no longer than until the signal; True if it came."""
        return self._event.wait(seconds)


class Patience:
    """Ends the process when a call into a client does not return, its own time-out passed by.

    Counted in looks, which is time awake: where the machine stood still, the clock has gone on, and
    the call has had no time.
    """

    def __init__(self, look_s: float = 1.0) -> None:
        self._look_s, self._looks = look_s, 0
        self._doing: tuple[float, str] | None = None
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def within(self, seconds: float, what: str) -> Iterator[None]:
        """What is done in here takes no longer, or is the last thing that is done."""
        self._looks, self._doing = 0, (seconds, what)
        try:
            yield
        finally:
            self._doing = None

    def _watch(self) -> None:
        while True:
            time.sleep(self._look_s)
            doing = self._doing
            if doing is None:
                continue
            seconds, what = doing
            self._looks += 1
            if self._looks * self._look_s > seconds:
                die(EXIT_STUCK, f"{what} did not return in {seconds:g} s")


def turn_until_stopped(
    begin: Callable[[], Turning], stop: StopSignal, deadline_s: float = STOP_DEADLINE_S
) -> int:
    """Begins, then turns; exit code 0 after a signal, another, with a sentence in the log, where it
    cannot go on. Settings that cannot be used and a broker that is not there come out of it."""

    ended = threading.Event()

    def watch() -> None:
        stop.wait(None)
        if not ended.wait(deadline_s):
            die(EXIT_STOP_DEADLINE, too_late(deadline_s))

    threading.Thread(target=watch, daemon=True).start()
    try:
        process = begin()
        try:
            while not stop.wanted:
                process.turn()
            process.close()
        except BrokerUnreachable as gone:
            raise LogUnreadable(str(gone)) from gone
        except KafkaException as error:  # a client that is lost says so in whichever call is next
            return _ended(stop, EXIT_UNREADABLE, error.args[0].str())
    except LogUnreadable as unreadable:
        return _ended(stop, EXIT_UNREADABLE, str(unreadable))
    except WriteRefused as refused:
        return _ended(stop, EXIT_REFUSED_WRITE, str(refused))
    finally:
        ended.set()
    return 0


def _ended(stop: StopSignal, code: int, sentence: str) -> int:
    if not stop.wanted:  # who is to stop has a deadline
        code, sentence = last_look(code, sentence)
    log.critical("fail-stop", code=code, why=sentence)
    return code
