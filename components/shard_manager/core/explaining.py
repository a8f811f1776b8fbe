"""Why a shard is where it is and not elsewhere: every container judged for it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from components.shard_manager.core.solver.board import Board
from components.shard_manager.core.solver.problem import Flags, PlacementProblem
from components.shard_manager.core.solver.scale import ONE


class PlacementVerdict(StrEnum):
    """What there is to say of one container for one shard."""

    HOME = "home"  # it is there
    POSSIBLE = "possible"
    DEAD = "dead"
    DRAINING = "draining"
    REGION = "region"  # the shard may not be in its region
    CEILING = "ceiling"  # it would have more of a hard resource than it can use


@dataclass(frozen=True, slots=True)
class ContainerRating:
    """One container for one shard."""

    container: int
    verdict: PlacementVerdict
    resource: int  # whose ceiling refuses it; -1 for none
    rank: int  # 1 for the best of those that are possible; 0 for the others
    score: float  # the lower the better; of the home, as if the shard were not there yet
    ratios: tuple[float, ...]  # of its load with the shard on it to the tier's mean, by resource
    in_band: bool  # whether that is inside its window


def explain(problem: PlacementProblem, shard: int, seed: int = 0) -> tuple[ContainerRating, ...]:
    """Every container for the shard: the home first, then the possible by rank, then the others."""
    if not 0 <= shard < problem.shards:
        raise ValueError(f"there is no shard {shard}; the tier has 0 to {problem.shards - 1}")
    home = int(problem.home[shard])
    board = Board(problem, seed, problem.home)
    if home >= 0:
        board.put(shard, -1)
    scores = board.scores(np.array([shard]))[0][board.columns]
    ratios = board.scale.ratios(board.loads + board.scale.x[shard])
    inside: Flags = np.all(board.scale.violations(ratios) <= 0, axis=1)
    verdicts = [_judge(board, shard, container) for container in range(problem.containers)]
    for container, (verdict, _) in enumerate(verdicts):
        if verdict is not PlacementVerdict.POSSIBLE:
            scores[container] = np.inf
    order = np.argsort(scores, kind="stable").tolist()
    ranks = {container: rank for rank, container in enumerate(order, 1)}
    standings = [
        ContainerRating(
            container=container,
            verdict=PlacementVerdict.HOME if container == home else verdict,
            resource=resource,
            rank=ranks[container] if verdict is PlacementVerdict.POSSIBLE else 0,
            score=float(scores[container]) / ONE**2 * 2**6,
            ratios=tuple((ratios[container] / ONE).tolist()),
            in_band=bool(inside[container]),
        )
        for container, (verdict, resource) in enumerate(verdicts)
    ]
    return tuple(sorted(standings, key=lambda one: (one.container != home, one.rank or 2**31)))


def _judge(board: Board, shard: int, container: int) -> tuple[PlacementVerdict, int]:
    problem = board.problem
    if not problem.alive[container]:
        return PlacementVerdict.DEAD, -1
    if not board.may_hold(np.array([shard]), container)[0]:
        return PlacementVerdict.REGION, -1
    if problem.draining[container]:
        return PlacementVerdict.DRAINING, -1
    after = board.used[container] + board.scale.raw[shard]
    above = after > board.scale.usable[container]
    if above.any():
        return PlacementVerdict.CEILING, problem.settings.hard[int(above.argmax())]
    return PlacementVerdict.POSSIBLE, -1
