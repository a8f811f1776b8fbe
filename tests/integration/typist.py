"""Types command lines into a process that has loaded all of Turbine, each in a fork of its own.

So a line costs what it does, and not the start of a Python as well. From standard input comes what
to type, as chains of lines; one line of JSON tells how each of them ended.
"""

from __future__ import annotations

import json
import os
import pkgutil
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, NoReturn

import turbine.cli
from infra.waiting import within
from turbine.cli import main

AT_ONCE = 3
PATIENCE_S = round(within(90))
LOADED = (
    "turbine.lab.backtest",
    "turbine.lab.whatif",
    "turbine.ops.exporting",
    "turbine.read.answers.digest",
    "turbine.read.sources.log",
    "turbine.read.state.replaying",
    "turbine_client.publish",
    "turbine_client.subscribe",
)


class Typing(NamedTuple):
    """A line that is being typed, since when, what gets its output, what comes after it."""

    line: str
    since_s: float
    output: Path
    rest: deque[str]


def type_all(chains: Sequence[Sequence[str]]) -> None:
    """Lines of one chain one after the other, chains beside each other."""
    waiting = deque(deque(chain) for chain in chains)
    running = dict[int, Typing]()
    count = 0
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            rest, count = waiting.popleft(), count + 1
            one = Typing(rest.popleft(), time.monotonic(), Path(f"output-{count}"), rest)
            running[start(one.line, one.output)] = one
        process, status = os.wait()
        one = running.pop(process)
        tell(one, os.waitstatus_to_exitcode(status))
        if one.rest:
            waiting.appendleft(one.rest)


def tell(one: Typing, code: int) -> None:
    """How a line has ended."""
    took_s = round(time.monotonic() - one.since_s, 2)
    told = {"line": one.line, "code": code, "took_s": took_s, "text": text_of(one.output)}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def text_of(output: Path) -> str:
    """What a line has printed."""
    text = output.read_text(errors="replace")
    output.unlink()
    return text


def start(line: str, output: Path) -> int:
    """A process that types the line. Where `^C` stands behind it, it is interrupted."""
    process = os.fork()
    if not process:
        begin(line, output)
    return process


def begin(line: str, output: Path) -> NoReturn:
    """In the fork."""
    signal.alarm(PATIENCE_S)
    with output.open("wb") as file, Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    line, ended, beside = line.partition(" ^C")
    if ended:
        threading.Thread(target=interrupt, args=(output, beside), daemon=True).start()
    end(line)


def interrupt(output: Path, beside: str) -> None:
    """As soon as it has said something, or what is typed beside it goes well: it has begun then."""
    pause = threading.Event()
    while in_shell(beside) if beside else not output.stat().st_size:
        pause.wait(0.1)
    os.kill(os.getpid(), signal.SIGINT)


def in_shell(line: str) -> int:
    """As it is typed, redirections and all."""
    return subprocess.call(["bash", "-c", line])


def end(line: str) -> NoReturn:
    """Types it, and is over with its code."""
    words = shlex.split(line)
    alone = words[0] == "turbine" and not {"&&", ">"} & set(words)
    code = main(words[1:]) if alone else in_shell(line)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    for module in pkgutil.iter_modules(turbine.cli.__path__):
        import_module(f"turbine.cli.{module.name}")
    for name in LOADED:
        import_module(name)
    type_all(json.load(sys.stdin))
