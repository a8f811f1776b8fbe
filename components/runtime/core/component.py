"""The one shape of a component: four pure functions and a table entry. Nothing else decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from events.generated.records import Body
from events.topics import BY_SHORT, CLOCK
from events.wire.codec import Read, Record

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Effect:
    """What a standing decision owes to another topic; its id is made from the decision's id."""

    topic: str
    id: str
    body: Body
    key: str = ""  # where it is not the row's
    cause: str = ""  # the decision that owes it, where the row knows

    @property
    def about(self) -> tuple[str, str]:
        """Under which key it is said, and what it follows from."""
        return self.key, self.cause


@dataclass(frozen=True, slots=True)
class Component(Generic[R]):
    """Four pure functions and a table entry: all that tells one component from another."""

    name: str
    logic: str  # the version of fold, decide and policy; a header of every decision
    output: str  # the journal of its decisions, shared by all who decide about the same keys
    inputs: frozenset[str]  # all it reads: its output and the topics of its effects too
    folds: frozenset[str]  # kinds that move its row; others move the chain and positions
    says: frozenset[str]  # the kinds it decides: how an auditor knows whose decision it reads
    fold: Callable[[R | None, Read], R]  # total; never forgets a key
    decide: Callable[[R, int], Iterable[Body]]  # urgent first
    effects: Callable[[R], Iterable[Effect]]  # what standing decisions owe and nobody has read yet
    wake_ms: Callable[[R, int], int | None]  # later than now
    dump: Callable[[R], object]  # the row as plain JSON, for keeping; `load` is its inverse
    load: Callable[[object], R]
    key_of: Callable[[Read], str | None] | None = None
    """Whose row a record moves, where that is not its own key; None: nobody's."""
    apart: bool = False
    """Rows are kept apart from their chains: large ones that seldom change, while the id of the
    last standing decision does with each. What a fold does not change must be the same object, and
    a chain and its row are kept in one transaction."""
    doubt: Callable[[R | None, Read, Sequence[Record]], str] = lambda *_: ""
    """Why a decision that comes out otherwise again is no difference: beside the log it rested on
    what was installed where it was made. "" for no such reason."""


def onlooker(
    name: str,
    *,
    logic: str = "",
    output: str = "",
    inputs: frozenset[str] = frozenset(),
    folds: frozenset[str] = frozenset(),
) -> Component[None]:
    """A component that has no row and says nothing: for who wants to know what stands, or only has
    to do with its topic of rows."""
    return Component(
        name=name,
        logic=logic,
        output=output,
        inputs=inputs,
        folds=folds,
        says=frozenset(),
        fold=lambda *_: None,
        decide=lambda *_: (),
        effects=lambda _: (),
        wake_ms=lambda *_: None,
        dump=lambda _: None,
        load=lambda _: None,
    )


@cache
def passed_by(inputs: frozenset[str], folds: frozenset[str]) -> frozenset[str]:
    """Known kinds that do not move the row, decoded or not: another reader may want them."""
    return frozenset(kind for topic in inputs for kind in BY_SHORT[topic].records) - folds


def places_of(component: Component[R], partitions: Iterable[int]) -> frozenset[str]:
    """The places a job-keyed owner of these partitions reads, the clock among them."""
    topics = component.inputs | {CLOCK}
    return frozenset(f"{topic}/{partition}" for partition in partitions for topic in topics)
