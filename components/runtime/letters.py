"""Puts what cannot be read aside, with its bytes, its place and the reason."""

from __future__ import annotations

import structlog

from components.runtime import metrics
from components.runtime.emitter import Emitter
from components.runtime.intake import DEAD_LETTERS_NAME, DeadLetter
from components.runtime.logs import Pace

log = structlog.get_logger(__name__)


class Letters:
    """Written by one emitter, with whatever else it says."""

    def __init__(self, emitter: Emitter) -> None:
        self._emitter, self._told = emitter, Pace(5)

    def bury(self, letter: DeadLetter) -> None:
        """One dead letter; who finds the same message writes the same letter."""
        message = letter.message
        self._emitter.write(
            DEAD_LETTERS_NAME, 0, message.place.encode(), letter.value(), letter.headers()
        )
        metrics.DEAD_LETTERS.labels(letter.reason).inc()
        # A flood of them must not fill the disk that the log lies on; the letters have it all.
        if self._told.fits():
            log.warning("dead letter", id=letter.id, reason=letter.reason, sentence=letter.sentence)
