"""Structured logs: one JSON object a line on standard error, for people and machines alike."""

from __future__ import annotations

import logging
import sys
import time  # noqa: TID251 - a pace is a matter of real time

import structlog
from structlog.typing import Processor


class LineRate:
    """So many a second and no more, of lines that say the same over and over."""

    def __init__(self, most: int) -> None:
        self._most, self._second, self._count = most, 0, 0

    def fits(self, second: int | None = None) -> bool:
        """May one more be written in that second, by default in this one?"""
        now = int(time.monotonic()) if second is None else second
        if now != self._second:
            self._second, self._count = now, 0
        self._count += 1
        return self._count <= self._most


class _Limit(logging.Filter):
    """A broker that is down makes its clients log 80 lines a second: five a second are enough."""

    def __init__(self) -> None:
        super().__init__()
        self._pace = LineRate(5)

    def filter(self, record: logging.LogRecord) -> bool:
        theirs = record.name.partition(".")[0] in ("aiokafka", "faust", "mode")
        return not theirs or self._pace.fits(int(record.created))


def configure_logs(level: int = logging.INFO) -> None:
    """For a process of ours; libraries' own loggers come out in the same form."""
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Limit())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for noisy in ("aiokafka", "faust", "mode", "py4j", "components.runtime.faust.app"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
