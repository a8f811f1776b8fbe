"""DS2's model: how many instances each operator of a dataflow needs for given sources. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from math import ceil, inf, isnan
from typing import NamedTuple

INSTANCES_MAX = 2**32 - 1
"""What the source's whole numbers hold: an infinite need becomes this, and no number 0."""


class Rates(NamedTuple):
    """Of an operator in one epoch, summed over its instances; true: of the time that was useful."""

    processed: float
    output: float
    output_seen: float = 0.0  # of all the time; only a source's counts


class DataflowOperator(NamedTuple):
    """A node of the dataflow."""

    name: str
    instances: int
    rates: Rates


class Dataflow(NamedTuple):
    """A dataflow: operators, and edges without a cycle."""

    operators: tuple[DataflowOperator, ...]
    edges: tuple[tuple[str, str], ...]  # from, to

    def sources(self) -> set[str]:
        """Operators that nothing flows into."""
        return {one.name for one in self.operators} - {to for _, to in self.edges}


class Need(NamedTuple):
    """The instances that an operator needs, before and after rounding."""

    exact: float
    instances: int


def true_rate(rate: float, useful: float) -> float:
    """Records a second of useful time. Nothing in no time is no number, as in the source."""
    if useful > 0:
        return rate / useful
    return inf if rate > 0 else float("nan")


def exact(target: float, processed: float, instances: int) -> float:
    """Instances that carry the target, if each goes on as it does now."""
    one = processed / instances if instances else float("nan")
    if one == 0:
        return inf if target > 0 else float("nan")
    return target / one


def counted(need: float, factor: float = 0.0) -> int:
    """Whole instances, with a share on top; the cast of the source at its ends."""
    more = need * (1 + factor)
    if isnan(more):
        return 0
    return INSTANCES_MAX if more >= INSTANCES_MAX else max(0, ceil(more))


def needs(flow: Dataflow, factor: float = 0.0) -> dict[str, Need]:
    """Of every operator but the sources: they are never changed. In the order of the flow."""
    operators, sources = {one.name: one for one in flow.operators}, flow.sources()
    found: dict[str, Need] = {}
    inputs: dict[str, float] = {}
    for name in _ordered(flow):
        operator = operators[name]
        output = operator.rates.output
        if name not in sources:
            need = exact(inputs[name], operator.rates.processed, operator.instances)
            found[name] = Need(need, counted(need, factor))
            output *= need / operator.instances if operator.instances else float("nan")
        for start, to in flow.edges:
            if start == name:
                inputs[to] = inputs.get(to, 0.0) + output
    return found


def configuration(flow: Dataflow, factor: float = 0.0) -> dict[str, int]:
    """Instances of all operators, sources as they are."""
    found = needs(flow, factor)
    return {
        one.name: found[one.name].instances if one.name in found else one.instances
        for one in flow.operators
    }


def adjusted(flow: Dataflow, wanted: Mapping[str, Need], ratio_max: float = inf) -> dict[str, int]:
    """The offline evaluation's last step: where nothing grows and a source is still too slow.

    Its online path never takes it: the documented option is read under another name there, and
    handed to a function that does not use it.
    """
    now = {one.name: one.instances for one in flow.operators}
    plain = {name: need.instances for name, need in wanted.items()}
    ratio = source_ratio(flow)
    if ratio <= ratio_max or any(count > now[name] for name, count in plain.items()):
        return plain
    return {name: counted(ratio * count) for name, count in plain.items()}


def source_ratio(flow: Dataflow) -> float:
    """The greatest true rate of a source by its rate that was seen; 0 without a number."""
    ratios = [
        true_rate(one.rates.output, one.rates.output_seen)
        for one in flow.operators
        if one.name in flow.sources()
    ]
    return max((ratio for ratio in ratios if not isnan(ratio)), default=0.0)


def considered(before: Sequence[int], after: Sequence[int]) -> bool:
    """Is it worth a new configuration? Any growth is; of shrinking, two instances or more."""
    pairs = zip(before, after, strict=True)
    return any(old < new or old - 1 > new for old, new in pairs)


def _ordered(flow: Dataflow) -> list[str]:
    graph: dict[str, list[str]] = {one.name: [] for one in flow.operators}
    for start, to in flow.edges:
        graph[to].append(start)
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise ValueError(f"the dataflow has a cycle, {cycle}: DS2 needs one without") from error
