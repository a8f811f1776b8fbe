"""Has jobs tried by a process that may hang or die, and says of each what came of it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time  # noqa: TID251 - patience with a process is real time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from components.runtime.process.local import LocalFailed
from components.task_service.core.specs import SpecsProblem, head_of, specs_of
from events.generated.records import LayerVersions
from events.job_config.config import Invalid, JobConfig, validate_config
from events.job_config.reserved import reserved_topics
from tasks.process_tree import end_group

START_S = 900.0
"""The jars may have to be fetched first, and an archive of classes be made: each has a limit of its
own, and says itself what is the matter when it is over."""
CHUNK = 65_536
TEXT_CHARS = 500
COMMAND = (sys.executable, "-P", "-m", "turbine.ops.checking")


@dataclass(frozen=True, slots=True)
class FirstTask:
    """A job as its first task would be told to run it."""

    job: str
    operator: str
    argv: tuple[str, ...]
    inputs: tuple[tuple[str, tuple[int, ...]], ...]
    config_json: str


@dataclass(frozen=True, slots=True)
class ConfigMistake:
    """What is wrong: the path in the config, and a sentence."""

    path: str
    explanation: str


def trial_of(job: str, merged: Mapping[str, Any]) -> FirstTask | ConfigMistake:
    """What is to be tried, if the config is valid; partitions that nobody has counted yet are as
    many as tasks."""
    config = validate_config(merged)
    wrong = config if isinstance(config, Invalid) else next(reserved_topics(config), None)
    if wrong is not None:
        return ConfigMistake(wrong.path, str(wrong))
    assert isinstance(config, JobConfig)
    counted = tuple(
        one if one.partitions else one.model_copy(update={"partitions": config.tasks})
        for one in config.inputs
    )
    config = config.model_copy(update={"inputs": counted})
    head = head_of(job, config, LayerVersions(1, 0, 0, 0), 1)
    specs = specs_of(head, config)
    if isinstance(specs, SpecsProblem):
        return ConfigMistake(specs.path, specs.sentence)
    first = specs[0]
    inputs = tuple((one.topic, one.partitions) for one in first.inputs)
    return FirstTask(job, head.operator, first.argv, inputs, head.config_json)


def try_all(
    trials: Sequence[FirstTask],
    spark: Mapping[str, str],
    patience_s: float,
    command: Sequence[str] = COMMAND,
) -> Generator[Mapping[str, Any] | ConfigMistake, None, None]:
    """What came of each, in their order: what it writes, or what is wrong with it.

    A process that hangs or dies costs the job that it was at; the others are tried by another.
    """
    left = list(trials)
    while left:
        ask = {"spark": dict(spark), "jobs": [asdict(one) for one in left]}
        with _process(command, ask) as asked:
            _await_ready(asked)
            while left:
                try:
                    row = asked.hear(patience_s)
                except LocalFailed as lost:
                    yield ConfigMistake("operator", f"{lost} while it was tried")
                    del left[0]
                    break
                assert row["job"] == left.pop(0).job
                wrong = row.get("explanation")
                yield row if wrong is None else ConfigMistake("operator", wrong)


def _await_ready(asked: _Asked) -> None:
    try:
        asked.hear(START_S)
    except LocalFailed as lost:
        raise LocalFailed(f"no Spark started to try the jobs in: {lost}") from None


class _Asked:
    """The process, as far as it is listened to."""

    def __init__(self, child: subprocess.Popen[bytes], errors: Path) -> None:
        assert child.stdout is not None
        self._child, self._out, self._errors = child, child.stdout.fileno(), errors
        self._text = b""

    def hear(self, patience_s: float) -> Mapping[str, Any]:
        """Its next line; LocalFailed where none comes."""
        limit = time.monotonic() + patience_s
        while b"\n" not in self._text:
            left_s = max(0.0, limit - time.monotonic())
            if not select.select([self._out], [], [], left_s)[0]:
                raise LocalFailed(f"nothing came of it in {patience_s:g} s")
            found = os.read(self._out, CHUNK)
            if not found:
                raise LocalFailed(f"the process ended ({self._last_words()})")
            self._text += found
        line, _, self._text = self._text.partition(b"\n")
        row: Mapping[str, Any] = json.loads(line)
        return row

    def _last_words(self) -> str:
        said = self._errors.read_text(errors="replace").strip().splitlines()
        ours = [one.removeprefix("turbine: ") for one in said if one.startswith("turbine: ")]
        return " ".join((ours or said or ["it said nothing"])[-1].split())[:TEXT_CHARS]


@contextmanager
def _process(command: Sequence[str], ask: Mapping[str, object]) -> Iterator[_Asked]:
    """Started with the question, and ended with all that it has started."""
    with TemporaryDirectory(prefix="turbine-check-") as scratch:
        errors, question = Path(scratch) / "errors", Path(scratch) / "question"
        question.write_text(json.dumps(ask))
        # A file rather than a pipe: who hangs before it reads would make us wait as well.
        with question.open("rb") as told, errors.open("wb") as heard:
            child = subprocess.Popen(  # noqa: S603 - our own program, and there is no shell
                [*command, "--scratch", scratch, "--die-with", str(os.getpid())],
                stdin=told,
                stdout=subprocess.PIPE,
                stderr=heard,
                process_group=0,
            )
        try:
            yield _Asked(child, errors)
        finally:
            end_group(child.pid)
            child.returncode = 0  # it was reaped with its group
            assert child.stdout is not None
            child.stdout.close()
