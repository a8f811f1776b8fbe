"""What this machine needs for a log of its own: a broker, and topics.

`infra` may import everything and is imported by nobody, so it is asked as a program: what it
answers is JSON on standard output, what went wrong one sentence on standard error.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turbine_client.errors import Unavailable
from turbine_client.settings import Settings

HERE = ("127.0.0.1", "localhost")
"""Where a local broker listens; whoever has another bootstrap does not mean it."""


class LocalFailed(Unavailable):
    """The program did not do as asked; the sentence is its own."""


@dataclass(frozen=True, slots=True)
class Flags:
    """The settings flags of a command, as they are handed on to a program it starts."""

    bootstrap: str | None = None
    config: Path | None = None
    fleet: Path | None = None

    def arguments(self) -> list[str]:
        """As they stand on a command line."""
        paths = (("--config", self.config), ("--fleet", self.fleet))
        given = (("--bootstrap", self.bootstrap), *paths)
        return [part for name, value in given if value is not None for part in (name, str(value))]


def broker_directory(settings: Settings) -> Path:
    """Where the kept broker of an installation lives."""
    return settings.directory / "broker"


def ask_broker(action: str, directory: Path, port: int | None = None) -> dict[str, Any]:
    """Starts, stops, wipes or looks at the broker that is kept in the directory."""
    more = [] if port is None else ["--port", str(port)]
    [answer] = _ask("infra.kafka", action, "--directory", str(directory), *more)
    return answer


def ask_topics(action: str, flags: Flags) -> list[dict[str, Any]]:
    """Plans or applies the table of topics; what is missing, was created, or differs."""
    return _ask("infra.topics", action, *flags.arguments())


def ask_spark(*, at_once: bool) -> tuple[list[str], list[str]]:
    """The jars by which Spark reads Kafka, fetched if they are not there; and Java's flags, without
    those that it takes a minute to make ready."""
    [answer] = _ask("infra.spark", *(["--at-once"] if at_once else []))
    return answer["jars"], answer["flags"]


def port_here(settings: Settings) -> int | None:
    """The port on which a local broker has to listen for the bootstrap; None: it is elsewhere."""
    host, _, port = settings.bootstrap.rpartition(":")
    return int(port) if host in HERE and port.isdigit() else None


def _ask(program: str, *arguments: str) -> list[dict[str, Any]]:
    # -P: a folder named infra where the user stands must not be taken for ours.
    done = subprocess.run(  # noqa: S603 - our own program, and there is no shell
        [sys.executable, "-P", "-m", program, *arguments, "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"{program} ended with {done.returncode}"]
        raise LocalFailed(said[-1])
    return [json.loads(line) for line in done.stdout.splitlines()]
