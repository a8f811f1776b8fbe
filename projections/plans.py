"""A plan of moves as the log has it, and how far it has been carried out. Pure.

A plan stands in the log whole, before any of its moves: whoever decides next carries on with it,
and it can be shown, held and confirmed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from immutables import Map

from events.job_config.strict_json import NUMBER_MAX, Malformed, parse_json
from turbine_client.framing import VALUE_BYTES_MAX

PART_BYTES = 120_000
"""Of the moves of one record: with all else that it says, less than an event may be."""
SHARD_MOST, FAR_MOST = 2**24, 10**6
NAME_MOST = 200
"""Characters of a name; more than a container's, a resource's or a reason's may have."""


class Planned(NamedTuple):
    """One move that is to be made."""

    shard: int
    generation: int  # of the shard when it was planned; a shard that moved since is left alone
    to: str
    reason: str = ""  # why it moves; "" where nothing holds it
    resource: str = ""  # in which the container that called for it was furthest out of band
    beyond: int = 0  # by how much, in thousandths of the tier's mean
    next_best: str = ""  # where it would have gone else


class PlanCourse(NamedTuple):
    """The plan that is being carried out."""

    plan_id: str
    parts: int
    moves: tuple[Planned, ...] = ()
    read: int = 0  # parts
    started: Map[int, None] = Map()  # shards whose moves were begun
    first: int = 0  # of the moves that were not

    @property
    def whole(self) -> bool:
        """Are all of its parts there? Another's decision may have come between them."""
        return self.read >= self.parts

    def left(self) -> Iterator[Planned]:
        """Moves that were not begun, the urgent ones first."""
        if not self.whole:
            return
        for move in self.moves[self.first :]:
            if move.shard not in self.started:
                yield move

    def begun(self, shard: int) -> PlanCourse:
        """After the first record of the shard's move."""
        started, first = self.started.set(shard, None), self.first
        while first < len(self.moves) and self.moves[first].shard in started:
            first += 1
        return self._replace(started=started, first=first)


def write_moves(moves: Sequence[Planned]) -> str:
    """The text of a part; rows leave out what is not said."""
    names = sorted({move.to for move in moves} | {move.next_best for move in moves} - {""})
    at = {name: index for index, name in enumerate(names)}
    rows: list[list[Any]] = []
    for move in moves:
        row: list[Any] = [move.shard, move.generation, at[move.to]]
        if move.reason:
            row += [move.reason, move.resource, move.beyond, at.get(move.next_best, -1)]
        rows.append(row)
    return json.dumps({"to": names, "moves": rows}, separators=(",", ":"))


def read_moves(text: str) -> tuple[Planned, ...]:
    """The moves of a part that a decision holds."""
    return _moves(json.loads(text))


def read_request(text: str) -> tuple[Planned, ...]:
    """The moves that somebody asks for; Malformed, with a sentence, where they cannot be any."""
    return _moves(
        parse_json(text, what="moves_json", max_bytes=VALUE_BYTES_MAX, max_values=VALUE_BYTES_MAX)
    )


def _moves(plain: Any) -> tuple[Planned, ...]:
    names = plain.get("to", []) if isinstance(plain, dict) else None
    rows = plain.get("moves", []) if isinstance(plain, dict) else None
    if not isinstance(names, list) or not isinstance(rows, list):
        raise Malformed("no-moves", 'moves_json has to hold the lists "to" and "moves"')
    if not all(isinstance(name, str) and 0 < len(name) <= NAME_MOST for name in names):
        raise Malformed("no-moves", '"to" has to hold names of containers')
    return tuple(_move(number, row, names) for number, row in enumerate(rows))


def _move(number: int, row: Any, names: list[str]) -> Planned:
    if isinstance(row, list) and not any(isinstance(value, bool) for value in row):
        match row:
            case [int(shard), int(generation), int(at)]:
                why, resource, far, after = "", "", 0, -1
            case [int(shard), int(generation), int(at), str(why), str(resource), int(far), int()]:
                after = row[6]
            case _:
                raise _no_move(number)
        within = (
            0 <= shard < SHARD_MOST
            and 0 <= generation < NUMBER_MAX
            and 0 <= at < len(names)
            and -1 <= after < len(names)
            and abs(far) <= FAR_MOST
            and max(len(why), len(resource)) <= NAME_MOST
        )
        if within:
            after_name = names[after] if after >= 0 else ""
            return Planned(shard, generation, names[at], why, resource, far, after_name)
    raise _no_move(number)


def _no_move(number: int) -> Malformed:
    said = "is not [shard, generation, index of a container] with nothing, or a reason, after it"
    return Malformed("no-moves", f"move {number} of moves_json {said}")


def in_parts(moves: Sequence[Planned]) -> list[Sequence[Planned]]:
    """As many moves to a record as it may hold; one part if there is nothing to move."""
    parts: list[Sequence[Planned]] = []
    size, first, named = 0, 0, set[str]()
    for at, move in enumerate(moves):
        new = {move.to, move.next_best} - named
        # JSON writes a character with six bytes, or with twelve.
        more = 64 + len(move.reason) + len(move.resource) + sum(12 * len(name) + 3 for name in new)
        if size + more > PART_BYTES:
            parts.append(moves[first:at])
            size, first, named, new = 0, at, set(), {move.to, move.next_best}
        size, named = size + more, named | new
    return [*parts, moves[first:]]
