"""The paper's arithmetic of conflict, in every order in which it can happen (Turbine III-A).

The auto scaler bumps ten tasks to fifteen, one oncall wants twenty and another thirty, and the
provisioner releases a package meanwhile. Then the override expires.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any

import pytest

from events.generated.records import Body, SyncCommitted
from simulation.casts import SYNCING
from simulation.crash_points import SCENE_MS, CrashStage, proposes, wants

Scene = Callable[[CrashStage], None]
OVERRIDE_MS = 20 * SCENE_MS
SCENES: dict[str, Scene] = {
    "scaler 15": partial(proposes, layer="scaler", author="scaler", tasks=15),
    "oncall 20": partial(proposes, layer="oncall", author="ann", for_ms=OVERRIDE_MS, tasks=20),
    "oncall 30": partial(proposes, layer="oncall", author="bob", for_ms=OVERRIDE_MS, tasks=30),
    "package": partial(
        proposes, layer="provisioner", author="release", package={"name": "counts", "version": "2"}
    ),
}


ORDERS = list(permutations(SCENES))


def running(said: list[Body]) -> list[tuple[int, str]]:
    """Tasks and package of each running config, one after the other."""
    configs = [json.loads(one.running_json) for one in said if isinstance(one, SyncCommitted)]
    return [(config["tasks"], config["package"]["version"]) for config in configs]


def by_the_layers(order: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """What should run after each word: the oncall's wish, else the scaler's, else the base's."""
    scaler: int | None = None
    oncall: int | None = None
    version = "1.0.0"
    yield 10, version
    for word in (*order, "expiry"):
        match word:
            case "scaler 15":
                scaler = 15
            case "package":
                version = "2"
            case "expiry":
                oncall = None
            case _:
                oncall = int(word.split()[1])
        yield oncall or scaler or 10, version


def idle_until_expiry(stage: CrashStage) -> None:
    """Nobody says anything until the override is over."""
    stage.clock.now_ms += OVERRIDE_MS


@pytest.mark.parametrize("order", ORDERS, ids=" then ".join)
def test_each_step_is_what_the_layers_imply(order: tuple[str, ...]) -> None:
    """What changes nothing is committed too: the scaler's fifteen below an oncall's twenty."""
    story: list[Scene] = [partial(wants, tasks=10), *(SCENES[one] for one in order)]
    said = CrashStage(SYNCING).play([*story, idle_until_expiry])
    assert running(said) == list(by_the_layers(order))


@pytest.mark.parametrize("order", ORDERS, ids=" and ".join)
def test_all_at_once_come_out_as_one_after_the_other(order: tuple[str, ...]) -> None:
    """All lie in the log before anybody has read one: topics have no order among themselves."""

    def all_at_once(stage: CrashStage) -> None:
        for one in order:
            SCENES[one](stage)

    said = CrashStage(SYNCING).play([partial(wants, tasks=10), all_at_once, idle_until_expiry])
    last_oncall = next(one for one in reversed(order) if one.startswith("oncall"))
    steps = running(said)
    assert steps[0] == (10, "1.0.0")
    assert steps[-1] == (15, "2"), "once nobody mitigates, the scaler's word holds"
    assert (int(last_oncall.split()[1]), "2") in steps[1:-1]
    assert {tasks for tasks, _ in steps} <= {10, 15, 20, 30}


def test_of_two_oncalls_who_saw_the_same_one_is_told_to_look_again() -> None:
    def both(stage: CrashStage) -> None:
        for author, tasks in (("ann", 20), ("bob", 30)):
            proposes(
                stage, "oncall", author=author, expected_version=0, for_ms=OVERRIDE_MS, tasks=tasks
            )

    said = CrashStage(SYNCING).play([partial(wants, tasks=10), both])
    refused: Any = next(body for body in said if type(body).__name__ == "JobConfigRejected")
    assert (refused.reason, refused.author) == ("stale", "bob")
    assert running(said) == [(10, "1.0.0"), (20, "1.0.0")]
