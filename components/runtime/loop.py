"""A process that is not a Faust worker: turns until a signal, and says with a code why it ended."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import structlog

from components.runtime.clients import BrokerUnreachable
from components.runtime.emitter import Refused
from components.runtime.reading import Unreadably

EXIT_REFUSED_WRITE = 71
EXIT_UNREADABLE = 74

log = structlog.get_logger(__name__)


class Stop:
    """Set by SIGTERM and SIGINT."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def listen(self) -> Stop:
        """From the main thread, once."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._event.set())
        return self

    @property
    def wanted(self) -> bool:
        """Was a signal received?"""
        return self._event.is_set()

    def set(self) -> None:
        """As a signal would."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Waits, but no longer than until the signal; True if it came."""
        return self._event.wait(seconds)


def turn_until_stopped(turn: Callable[[], None], stop: Stop) -> int:
    """Exit code 0 after a signal; another, with a sentence in the log, where it cannot go on."""
    try:
        while not stop.wanted:
            turn()
    except Refused as refused:
        log.critical("fail-stop", code=EXIT_REFUSED_WRITE, why=str(refused))
        return EXIT_REFUSED_WRITE
    except (Unreadably, BrokerUnreachable) as unreadable:
        log.critical("fail-stop", code=EXIT_UNREADABLE, why=str(unreadable))
        return EXIT_UNREADABLE
    return 0
