"""What decisions say, read from the log by their positions."""

from __future__ import annotations

from collections.abc import Iterable

from components.runtime.kafka.intake import DeadLetter, take_in
from events.topics import JOURNAL
from events.wire.codec import Read
from turbine.read.sources.held import polls_of
from turbine.read.sources.log import Log, Standing
from turbine.read.state.decisions import DecisionSpot

NEAR = 2_000
"""Records that are read along between two that are wanted, sooner than asking once more."""


def look_up(log: Log, spots: Iterable[DecisionSpot]) -> list[Standing]:
    """The decisions at these spots, in their order; one that has expired is left out."""
    wanted = list(spots)
    found: dict[tuple[str, int], Read] = {}
    left = {(one.place, one.offset) for one in wanted}
    while left:
        begin, end = dict[str, int](), dict[str, int]()
        for where, offset in sorted(left):
            if where not in begin:
                begin[where], end[where] = offset, offset + 1
            elif offset - end[where] <= NEAR:
                end[where] = offset + 1
        turn = {(at, offset) for at, offset in left if begin[at] <= offset < end[at]}
        for poll in polls_of(log, begin, end):
            for message in poll:
                if (message.place, message.offset) in turn:
                    read = take_in(message, log.counts[JOURNAL], None)
                    if not isinstance(read, DeadLetter):
                        found[read.place, read.offset] = read
        left -= turn
    there = [(one, found.get((one.place, one.offset))) for one in wanted]
    return [Standing(read, one.stands) for one, read in there if read is not None]
