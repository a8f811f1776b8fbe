"""How many partitions the inputs in a file have: what the broker knows, nobody has to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from events.strict_json import printable

if TYPE_CHECKING:
    from components.runtime.settings import Settings
    from turbine.cli.documents import Wish

NAMED = 3
"""Jobs that a note names; more of them are counted."""


@dataclass(frozen=True, slots=True)
class Gap:
    """An input of a job that does not say how many partitions its topic has."""

    job: str
    at: int
    topic: str


def ask_partitions(wishes: Sequence[Wish], layer: str, settings: Settings) -> list[Wish]:
    """The wishes with what the broker tells of their inputs, which is asked once for all; a note
    on standard error for each topic that is not there.

    In the base layer only: a higher one would hide what base learns of its topics later.
    """
    from components.runtime.clients import counts_of
    from turbine.cli.output import tell

    if layer != "base" or not any(True for wish in wishes for _ in gaps(wish)):
        return list(wishes)
    counts = counts_of(settings)
    for note in notes(wishes, counts, settings.bootstrap):
        tell(note)
    return [fill(wish, counts) for wish in wishes]


def gaps(wish: Wish) -> Iterator[Gap]:
    """What could be filled in. The file may hold anything: what is no input has no gap."""
    inputs = wish.set.get("inputs")
    for at, one in enumerate(inputs if isinstance(inputs, list) else ()):
        if isinstance(one, dict) and "partitions" not in one:
            topic = one.get("topic")
            if isinstance(topic, str):
                yield Gap(wish.job, at, topic)


def fill(wish: Wish, counts: Mapping[str, int]) -> Wish:
    """The wish with the partitions of each topic that is there."""
    found = {gap.at: counts[gap.topic] for gap in gaps(wish) if gap.topic in counts}
    if not found:
        return wish
    inputs: list[Any] = [
        {**one, "partitions": found[at]} if at in found else one
        for at, one in enumerate(wish.set["inputs"])
    ]
    return replace(wish, set={**wish.set, "inputs": inputs})


def notes(wishes: Iterable[Wish], counts: Mapping[str, int], bootstrap: str) -> Iterator[str]:
    """A sentence for each topic that is not there."""
    missing: dict[str, list[Gap]] = {}
    for wish in wishes:
        for gap in gaps(wish):
            if gap.topic not in counts:
                missing.setdefault(gap.topic, []).append(gap)
    for topic, found in missing.items():
        named = ", ".join(f"inputs.{gap.at}.partitions of {gap.job}" for gap in found[:NAMED])
        more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        yield printable(
            f"the broker at {bootstrap} shows no topic {topic}, which leaves {named}{more} unset;"
            " say it, or apply again when the topic is there"
        )
