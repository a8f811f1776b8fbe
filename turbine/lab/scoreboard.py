"""Policies against each other: what is played, by which processes, and what their rows come to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any, NamedTuple

from components.auto_scaler.core.catalogue import BASELINES, POLICIES
from components.auto_scaler.core.policies.turbine.policy import Turbine
from components.runtime.process.local import LocalFailed
from events.job_config.strict_json import shorten
from turbine.lab.backtest import BadBackTest, case_of_trace
from turbine.lab.plant.cases import SCENARIOS
from turbine.lab.plant.optimum import Optimum
from turbine.lab.plant.scoreboard import (
    FIRST,
    LAST,
    SCENARIO,
    TRACE,
    WHOLE,
    ScoreRow,
    Still,
    dominated,
    mean_over,
    of_plain,
    sums,
    worst,
)

OWN = Turbine.name
PLAYED = (OWN, *BASELINES, Still.name)
"""What is played where nobody says otherwise: the last one leaves the job as it is."""
PARTS = {WHOLE: "", FIRST: "_first_two_thirds", LAST: "_last_third"}
"""Of the time, with what the names of their figures end in."""
COMMAND = (sys.executable, "-m", "turbine.lab.scoring")
ROOT = Path(__file__).resolve().parents[2]
STOP_S = 5.0

Question = dict[str, Any]
Heed = Callable[[Question, int, int], None]
"""Is told of each question that is answered, which one of how many."""


# --- what is played


def files_in(directory: Path) -> list[Path]:
    """The traces of a directory, the largest first: no core is left with one of them at the end."""
    found = sorted(directory.glob("*.csv")) + sorted(directory.glob("*.csv.gz"))
    return sorted(found, key=lambda path: -path.stat().st_size)


def traces_of(files: Sequence[Path], days: int | None = None, *, last: bool) -> list[Question]:
    """A case for each file: its first days, or its last ones after a history of the others."""
    names = case_names(files)
    return [
        {"kind": TRACE, "case": name, "path": str(path.resolve()), "days": days, "last": last}
        for path, name in zip(files, names, strict=True)
    ]


def case_names(files: Sequence[Path]) -> list[str]:
    """A name for each: without what it ends in, where that is no other's and no scenario's."""
    short = [path.name.partition(".csv")[0] for path in files]
    taken = Counter((*short, *SCENARIOS))
    names = [
        path.name if taken[name] > 1 else name for path, name in zip(files, short, strict=True)
    ]
    for name, count in Counter(names).items():
        if count > 1:
            raise BadBackTest(
                f"--trace: {count} files are named {name}, and their rows could not be told apart;"
                " name one, or rename them"
            )
    return names


def scenarios_of(names: Iterable[str]) -> list[Question]:
    """A case for each of the scenarios."""
    return [{"kind": SCENARIO, "case": name} for name in names]


def questions(
    cases: Sequence[Question], policies: Sequence[str], *, bounds: bool = True
) -> list[Question]:
    """All that is asked about cases: what takes longest comes first."""
    least = [{"do": "bound", **one} for one in cases] if bounds else []
    return least + [{"do": "play", "policy": name, **one} for one in cases for name in policies]


def check_policies(names: Sequence[str]) -> tuple[str, ...]:
    """The policies to play, in their order; all where none is named."""
    known = (*POLICIES, Still.name)
    for name in names:
        if name not in known:
            raise BadBackTest(
                f"--policy: there is no policy {shorten(name)}; use one of {', '.join(known)}"
            )
    return tuple(dict.fromkeys(names)) or PLAYED


def check_scenarios(names: Sequence[str]) -> tuple[str, ...]:
    """The scenarios that are named."""
    for name in names:
        if name not in SCENARIOS:
            raise BadBackTest(
                f"--scenario: there is no {shorten(name)}; use one of {', '.join(SCENARIOS)}"
            )
    return tuple(dict.fromkeys(names))


def check_traces(files: Sequence[Path], days: int | None) -> None:
    """Whoever is wrong is told before anything is played."""
    for path in files:
        case_of_trace(path, days)


# --- processes


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    at: list[int]  # the question that it has; one number, or none


def _nothing(asked: Question, done: int, count: int) -> None:
    """Nobody wants to be told."""


def answered(
    asked: Sequence[Question], progress: Heed = _nothing, command: Sequence[str] = COMMAND
) -> list[Any]:
    """The answer to each question, in their order, by a process for each core."""
    found: list[Any] = [None] * len(asked)
    left, done = iter(range(len(asked))), 0
    with _children(min(os.cpu_count() or 1, len(asked)), command) as children:
        busy = [child for child in children if _hand(child, asked, left)]
        with DefaultSelector() as heard:
            for child in busy:
                heard.register(_pipe(child.process.stdout), EVENT_READ, child)
            while done < len(asked):
                for key, _ in heard.select():
                    child, at = key.data, key.data.at[0]
                    found[at], done = _hear(child.process, asked[at]), done + 1
                    progress(asked[at], done, len(asked))
                    if not _hand(child, asked, left):
                        heard.unregister(key.fileobj)
    return found


def _hand(child: _Child, asked: Sequence[Question], left: Iterator[int]) -> bool:
    """The next question; False where there is none."""
    at = next(left, None)
    child.at[:] = [] if at is None else [at]
    if at is None:
        return False
    pipe = _pipe(child.process.stdin)
    try:
        pipe.write(json.dumps(asked[at]).encode() + b"\n")
        pipe.flush()
    except BrokenPipeError:
        raise LocalFailed(_ended(child.process, asked[at])) from None
    return True


def _hear(process: subprocess.Popen[bytes], asked: Question) -> Any:
    """One line: a question has one answer, so nothing more of it is left in the pipe."""
    line = _pipe(process.stdout).readline()
    if not line.endswith(b"\n"):
        raise LocalFailed(_ended(process, asked))
    told = json.loads(line)
    if "failed" in told:
        raise LocalFailed(f"{what(asked)}: {told['failed']}")
    return told["answer"]


def _ended(process: subprocess.Popen[bytes], asked: Question) -> str:
    return f"the process that was at {what(asked)} ended with code {process.wait(STOP_S)}"


def what(asked: Question) -> str:
    """A question in a few words."""
    match asked["do"]:
        case "play":
            return f"{asked['case']} under {asked['policy']}"
        case "bound":
            return f"the least cost of {asked['case']}"
        case _:
            return f"{asked['do']} {asked['job']}"


@contextmanager
def _children(count: int, command: Sequence[str]) -> Iterator[list[_Child]]:
    children = list[_Child]()
    try:
        for _ in range(count):
            children.append(_Child(_start(command), []))
        yield children
    finally:
        for child in children:
            _end(child.process)


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own program, and there is no shell
        [*command, "--die-with", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,  # so that it imports what we did: another tree may be installed
        process_group=0,  # Ctrl-C is for us, who end it
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()  # it keeps nothing that it could lose
    for pipe in (process.stdin, process.stdout):
        try:
            _pipe(pipe).close()
        except BrokenPipeError:
            continue  # what was in it is for nobody any more
    process.wait()


def _pipe(one: Any) -> Any:
    assert one is not None, "it was started with pipes"
    return one


# --- what rows come to


def rows_of(asked: Sequence[Question], answers: Sequence[Any]) -> list[ScoreRow]:
    """Each with the least of its case and part, where that was asked for."""
    told = list(zip(asked, answers, strict=True))
    bounds = {one["case"]: answer for one, answer in told if one["do"] == "bound"}
    found = (row for one, answer in told if one["do"] == "play" for row in map(of_plain, answer))
    return [
        row._replace(least=Optimum(*bounds[row.case][row.part])) if row.case in bounds else row
        for row in found
    ]


def judged(found: Iterable[ScoreRow], own: str) -> list[ScoreRow]:
    """Without the job that is left as it is: it is no policy to be better than."""
    return [one for one in found if one.policy in (own, *POLICIES)]


def totals(found: Sequence[ScoreRow]) -> Iterator[ScoreRow]:
    """A row for each policy and part, as if all traces were one."""
    for part in PARTS:
        yield from sums([one for one in found if one.kind == TRACE and one.part == part])


def figures_of(found: Sequence[ScoreRow], own: str) -> dict[str, float]:
    """How one policy stands against the others, in each part."""
    figures: dict[str, float] = {"traces": len({one.case for one in found if one.kind == TRACE})}
    for part, suffix in PARTS.items():
        rows = [one for one in judged(found, own) if one.part == part]
        if not rows:
            continue
        traces = [one for one in rows if one.kind == TRACE]
        figures[f"columns_worst{suffix}"] = len(worst(rows, own))
        if not traces:
            continue
        figures[f"traces_dominated{suffix}"] = count_empty(dominated(traces, own))
        figures[f"columns_worst_of_traces{suffix}"] = len(worst(traces, own))
        figures[f"columns_worst_of_sums{suffix}"] = len(worst(sums(traces), own))
        over = mean_over(traces, own)
        figures |= {} if over is None else {f"cost_over_optimum{suffix}": over}
    return figures


def count_empty(told: Mapping[str, Sequence[str]]) -> int:
    """Cases in which nobody is left that ours is not better than."""
    return sum(not others for others in told.values())


class PolicyStanding(NamedTuple):
    """How one policy stands in one case and part."""

    case: str
    kind: str
    part: str
    better_than: tuple[str, ...]
    not_better_than: tuple[str, ...]
    worst_in: tuple[str, ...]  # columns


def standings(found: Sequence[ScoreRow], own: str) -> Iterator[PolicyStanding]:
    """One policy against the others, in each part of each case."""
    for part in PARTS:
        rows = [one for one in judged(found, own) if one.part == part]
        kinds = {one.case: one.kind for one in rows}
        lasts = worst(rows, own)
        for case, not_better in dominated(rows, own).items():
            others = [one.policy for one in rows if one.case == case and one.policy != own]
            yield PolicyStanding(
                case,
                kinds[case],
                part,
                tuple(one for one in others if one not in not_better),
                tuple(not_better),
                tuple(column for at, column in lasts if at == case),
            )
