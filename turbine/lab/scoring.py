"""Plays cases for a scoreboard, as a process: reads a question a line, answers each with a line.

An answer is `{"answer": …}`, or `{"failed": …}` with a sentence where the machine did not let it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.auto_scaler.core.catalogue import policy_of
from components.auto_scaler.core.policy import ScalingPolicy
from tasks.process_tree import die_with
from turbine.lab.backtest import PlayedCase, case_of_trace, per_second, picture_of
from turbine.lab.plant.backtest import DAY_MINUTES, BacktestRun, Case, back_test
from turbine.lab.plant.cases import SCENARIOS, case_of
from turbine.lab.plant.scoreboard import TRACE, Still, least, rows_of, to_plain
from turbine.lab.plant.storm import storm_case, weathered
from turbine.lab.plot import draw
from turbine.ops.generate import open_trace
from turbine_client.errors import BadRequest

Question = Mapping[str, Any]


def case(asked: Question) -> Case:
    """The scenario of that name, or a trace: all of it, its first days, or its last ones with
    those before as history."""
    if asked["kind"] != TRACE:
        return SCENARIOS[asked["case"]]()
    path, days = Path(asked["path"]), asked["days"]
    if asked.get("last"):
        found = case_of_trace(path, days)
        return replace(found, job=found.job._replace(name=asked["case"]))
    rates = per_second(open_trace(path), str(path))
    return case_of(asked["case"], rates if days is None else rates[: days * DAY_MINUTES])


def policy(name: str) -> ScalingPolicy[Any]:
    """The policy of that name, with its defaults."""
    return Still.made({}) if name == Still.name else policy_of(name, {})


def play(asked: Question) -> Any:
    """A case under a policy: its rows, and its picture where one is wanted."""
    played, name = case(asked), asked["policy"]
    run = back_test(played, policy(name))
    if asked.get("plot"):
        _draw(Path(asked["plot"]), played, run, f"{asked['case']} under {name}")
    head = (asked["kind"], asked["case"], name)
    return [to_plain(one) for one in rows_of(head, played, run)]


def _draw(path: Path, played: Case, run: BacktestRun, title: str) -> None:
    path.write_text(draw(picture_of(PlayedCase(played, run), title)), encoding="utf-8")


def bound(asked: Question) -> Any:
    """The least of each part of a case."""
    return {part: list(one) for part, one in least(case(asked)).items()}


def weather(asked: Question) -> Any:
    """How one job comes through the storm."""
    found = weathered(back_test(storm_case(asked["job"]), policy(asked["policy"])))
    return list(found)


ANSWERS: Mapping[str, Callable[[Question], Any]] = {
    "play": play,
    "bound": bound,
    "weather": weather,
}


def answer(asked: Question) -> Mapping[str, Any]:
    """What came of a question."""
    try:
        return {"answer": ANSWERS[asked["do"]](asked)}
    except OSError as error:
        sentence = f"{error.filename} cannot be written ({error.strerror}); name another directory"
        return {"failed": sentence}
    except BadRequest as bad:  # it was well when this was asked for
        return {"failed": str(bad)}


def main(arguments: list[str] | None = None) -> int:
    """0 when nobody asks any more."""
    parser = argparse.ArgumentParser(prog="python -m turbine.lab.scoring", description=__doc__)
    parser.add_argument("--die-with", type=int, metavar="PID", help="the parent that must live")
    given = parser.parse_args(arguments)
    if given.die_with is not None:
        die_with(given.die_with)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201 - who asked reads it
    return 0


if __name__ == "__main__":
    sys.exit(main())
