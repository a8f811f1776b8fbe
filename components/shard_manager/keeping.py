"""A tier's row as plain JSON, for keeping. Pure."""

from __future__ import annotations

from typing import Any

from immutables import Map

from projections.fleet import Fleet, Grant, Request, Told
from projections.lives import Life, Ticks
from projections.timing import Timing


def dump(row: Fleet) -> object:
    """Plain JSON of the row."""
    return {
        "tier": row.tier,
        "defined": row.defined,
        "shards": row.shards,
        "regions": list(row.regions),
        "timing": list(row.timing),
        "ticks": {at: list(ticks) for at, ticks in row.ticks.items()},
        "lives": {name: list(life) for name, life in row.lives.items()},
        "grants": {str(shard): list(grant) for shard, grant in row.grants.items()},
        "told": {str(shard): list(told) for shard, told in row.told.items()},
        "holdings": {name: sorted(held) for name, held in row.holdings.items()},
        "open": sorted(row.open),
        "requests": {name: list(one) for name, one in row.requests.items()},
        "plans": row.plans,
    }


def load(plain: Any) -> Fleet:
    """What `dump` wrote."""
    return Fleet(
        tier=plain["tier"],
        defined=plain["defined"],
        shards=plain["shards"],
        regions=tuple(plain["regions"]),
        timing=Timing(*plain["timing"]),
        ticks=Map({at: Ticks(*one) for at, one in plain["ticks"].items()}),
        lives=Map({name: _life(one) for name, one in plain["lives"].items()}),
        grants=Map({int(shard): Grant(*one) for shard, one in plain["grants"].items()}),
        told=Map({int(shard): Told(*one) for shard, one in plain["told"].items()}),
        holdings=Map({name: Map(dict.fromkeys(held)) for name, held in plain["holdings"].items()}),
        open=Map(dict.fromkeys(plain["open"])),
        requests=Map({name: Request(*one) for name, one in plain["requests"].items()}),
        plans=plain["plans"],
    )


def _life(plain: Any) -> Life:
    capacity = tuple((resource, amount) for resource, amount in plain[-1])
    return Life(*plain[:-1])._replace(capacity=capacity)
