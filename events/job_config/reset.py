"""From where a job is to read its inputs anew, as operators say it and records keep it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from events.job_config.strict_json import Json, Malformed, canonical_json, parse_json, shorten
from turbine_client.errors import BadRequest

EARLIEST, LATEST = "earliest", "latest"
MS_MAX = 253_402_300_799_999
"""The end of the year 9999, where times end as people write them."""
OFFSETS_MAX = 2_000
"""By one request: they are repeated in every part of a list of task specs."""
OFFSET_MAX = 2**63 - 1

At = tuple[str, int]
Goal = Literal["earliest", "latest"] | int | Mapping[At, int]
"""The begin or the end of each partition, an instant in milliseconds, or offsets by partition."""


class BadGoal(BadRequest):
    """A text that names no place to read from; the sentence says what does."""


class Reset(NamedTuple):
    """One that stands: a partition that was not moved by it yet is moved when it is next read."""

    id: str  # of the request
    to: str
    at_ms: int  # when it was decided

    def to_plain(self) -> dict[str, Json]:
        """The reset as a JSON object."""
        return {"id": self.id, "to": self.to, "at_ms": self.at_ms}

    def text(self) -> str:
        """The reset as the text that records keep."""
        return canonical_json(self.to_plain())


def reset_of(text: str) -> Reset | None:
    """What `Reset.text` made; None of the empty text."""
    match parse_json(text, what="a reset") if text else None:
        case {"id": str(name), "to": str(to), "at_ms": int(at_ms)}:
            return Reset(name, to, at_ms)
        case _:
            return None


def goal_of(to: str) -> Goal:
    """The place to read from that a request names."""
    plain = to.strip()
    if plain == EARLIEST:
        return "earliest"
    if plain == LATEST:
        return "latest"
    if plain.isascii() and plain.isdigit():
        if len(plain) > 15 or int(plain) > MS_MAX:
            raise BadGoal(f"{shorten(plain)} is no instant: write milliseconds since 1970 UTC")
        return int(plain)
    if plain.startswith("{"):
        return _offsets(plain)
    raise BadGoal(
        f"{shorten(plain)} is no place to read from: write earliest, latest, an instant, or"
        ' offsets such as {"orders":{"0":42}}'
    )


def _offsets(text: str) -> Mapping[At, int]:
    try:
        plain = parse_json(text, what="the offsets")
    except Malformed as bad:
        raise BadGoal(str(bad)) from None
    found: dict[At, int] = {}
    for topic, parts in plain.items() if isinstance(plain, dict) else ():
        if not isinstance(parts, dict):
            raise BadGoal(f'{shorten(topic)}: write its partitions and offsets, as in {{"0":42}}')
        for number, offset in parts.items():
            found[topic, _number(topic, number)] = _offset(topic, number, offset)
    if not 0 < len(found) <= OFFSETS_MAX:
        raise BadGoal(f"it names {len(found)} offsets; write from 1 to {OFFSETS_MAX}")
    return found


def _number(topic: str, number: str) -> int:
    if not (number.isascii() and number.isdigit() and len(number) < 7):
        raise BadGoal(f"{shorten(topic)}: {shorten(number)} is no number of a partition")
    return int(number)


def _offset(topic: str, number: str, offset: Json) -> int:
    if isinstance(offset, bool) or not isinstance(offset, int) or not 0 <= offset <= OFFSET_MAX:
        raise BadGoal(f"{shorten(topic)}/{number}: an offset is a whole number from 0")
    return offset


def stranger(goal: Goal, inputs: Iterable[tuple[str, int | None]]) -> str:
    """What it names and the job does not read: a sentence; "" for nothing. `inputs` are topics with
    the number of their partitions, where that is known."""
    if not isinstance(goal, Mapping):
        return ""
    counts = dict(inputs)
    for topic, number in goal:
        if topic not in counts:
            return f"the job reads no {shorten(topic)}; it reads {', '.join(counts)}"
        count = counts[topic]
        if count is not None and number >= count:
            return f"{topic} has partitions 0 to {count - 1}, and no {number}"
    return ""
