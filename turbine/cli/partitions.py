"""How many partitions the inputs in a file have: what the broker knows, nobody has to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from events.job_config.strict_json import printable
from turbine.cli.documents import LayerWish

NAMED = 3
"""Jobs that a note names; more of them are counted."""


@dataclass(frozen=True, slots=True)
class UnknownPartitions:
    """An input of a job that does not say how many partitions its topic has."""

    job: str
    at: int
    topic: str


@dataclass(frozen=True, slots=True)
class Named:
    """A topic that a job reads or writes, and where its config says so."""

    job: str
    path: str
    topic: str
    partitions: int | None = None


def named_topics(wish: LayerWish) -> Iterator[Named]:
    """What the job names. The file may hold anything: what is no input names no topic."""
    inputs, output = wish.set.get("inputs"), wish.set.get("output")
    for at, one in enumerate(inputs if isinstance(inputs, list) else ()):
        if isinstance(one, dict) and isinstance(one.get("topic"), str):
            count = one.get("partitions")
            said = count if isinstance(count, int) and count > 0 else None
            yield Named(wish.job, f"inputs.{at}", one["topic"], said)
    if isinstance(output, dict) and isinstance(output.get("topic"), str):
        yield Named(wish.job, "output", output["topic"])


def gaps(wish: LayerWish) -> Iterator[UnknownPartitions]:
    """Inputs that do not say how many partitions they have, which could be filled in."""
    inputs = wish.set.get("inputs")
    for at, one in enumerate(inputs if isinstance(inputs, list) else ()):
        if isinstance(one, dict) and "partitions" not in one:
            topic = one.get("topic")
            if isinstance(topic, str):
                yield UnknownPartitions(wish.job, at, topic)


def fill(wish: LayerWish, counts: Mapping[str, int]) -> LayerWish:
    """The wish with the partitions of each topic that is there."""
    found = {gap.at: counts[gap.topic] for gap in gaps(wish) if gap.topic in counts}
    if not found:
        return wish
    inputs: list[Any] = [
        {**one, "partitions": found[at]} if at in found else one
        for at, one in enumerate(wish.set["inputs"])
    ]
    return replace(wish, set={**wish.set, "inputs": inputs})


def notes(wishes: Iterable[LayerWish], counts: Mapping[str, int], bootstrap: str) -> Iterator[str]:
    """A sentence for each topic that is not there."""
    missing: dict[str, list[Named]] = {}
    for wish in wishes:
        for one in named_topics(wish):
            if one.topic not in counts:
                missing.setdefault(one.topic, []).append(one)
    for topic, found in missing.items():
        named = ", ".join(f"{one.path} of {one.job}" for one in found[:NAMED])
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        yield printable(
            f"the broker at {bootstrap} shows no topic {topic}, named by {named}{more};"
            " make it with --create-topics, or apply again when it is there"
        )
