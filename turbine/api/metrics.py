"""`/metrics`: the families of the fleet, by the view that pages are made of, and this process's."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from turbine.api.asking import Desk
from turbine.exporter.catalogue import OF_PROCESS
from turbine.exporter.families import Beside, MetricOptions, families

BUILD = OF_PROCESS[0]


class FleetCollector(Collector):
    """The fleet as it is when somebody looks."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def collect(self) -> Iterator[Metric]:
        """As the exporter tells it, and who follows."""
        reading = self._desk.reading
        beside = Beside(version("turbine"), sse_clients=self._desk.feed.readers)
        for one in families(reading.view(None), reading.views.tally(), beside, MetricOptions()):
            if one.name != BUILD.name:  # the process says that itself
                yield one


def exposition(desk: Desk) -> bytes:
    """What the fleet and this process say of themselves."""
    of_fleet = CollectorRegistry(auto_describe=False)
    of_fleet.register(FleetCollector(desk))
    return generate_latest(of_fleet) + generate_latest(REGISTRY)
