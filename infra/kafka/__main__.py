"""`python -m infra.kafka start|stop|status|wipe --directory D [--port N] [--json]`.

How programs that must not import this room have a kept broker: the answer is one line of JSON (or
of text for people) on standard output, a failure is one sentence on standard error and exit code 1.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infra.kafka.errors import BrokerError, BrokerInUse
from infra.kafka.kept import keep_broker, kept_broker, kept_status, stop_kept, wipe

Answer = dict[str, Any]


def main(arguments: list[str] | None = None) -> int:
    """0 when it was done, or had been done before; 1 with a sentence otherwise."""
    parser = argparse.ArgumentParser(prog="python -m infra.kafka", description=__doc__)
    parser.add_argument("action", choices=sorted(ACTIONS))
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--port", type=int, help="by default the former one, or a free one")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    # As Ctrl-C: a broker whose start is cut short must not live on, and only an exception ends it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        answer = ACTIONS[given.action](given.directory.absolute(), given.port)
    except BrokerError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    text = json.dumps(answer) if given.json else ", ".join(f"{k}: {v}" for k, v in answer.items())
    sys.stdout.write(f"{text}\n")
    return 0


def _start(directory: Path, port: int | None) -> Answer:
    try:
        keep_broker(directory, port)
    except BrokerInUse:
        # One that answers is what was asked for; one that is just being started is refused.
        if kept_broker(directory) is None:
            raise
        return {"started": False} | _status(directory, None)
    return {"started": True} | _status(directory, None)


def _stop(directory: Path, _: int | None) -> Answer:
    return {"stopped": stop_kept(directory), "directory": str(directory)}


def _status(directory: Path, _: int | None) -> Answer:
    status = kept_status(directory)
    return {
        "directory": str(directory),
        "pid": status.pid,
        "bootstrap": status.bootstrap,
        "answers": status.answers,
        "data_bytes": status.data_bytes,
    }


def _wipe(directory: Path, _: int | None) -> Answer:
    return {"wiped": wipe(directory), "directory": str(directory)}


ACTIONS: dict[str, Callable[[Path, int | None], Answer]] = {
    "start": _start,
    "status": _status,
    "stop": _stop,
    "wipe": _wipe,
}


if __name__ == "__main__":
    sys.exit(main())
