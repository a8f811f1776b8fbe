"""Runs the component with the shell that Turbine's own components have."""

from __future__ import annotations

import argparse

from components.runtime.faust.agents import run
from components.runtime.process.logs import configure_logs
from events.topics import JOURNAL, rows_topic, topics_under
from examples.component.changed_often import component
from infra.topics import apply_topics
from turbine_client.clients import partitions_of
from turbine_client.settings import settings_by, take_flags


def main() -> None:
    """Runs until a signal. The component keeps its rows in a topic of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    take_flags(parser)
    settings = settings_by(parser.parse_args())
    configure_logs()
    client = {"bootstrap.servers": settings.bootstrap, **settings.kafka}
    rows = topics_under(settings.prefix, [rows_topic(component.name)])
    apply_topics(client, rows, partitions_of(settings)[JOURNAL])
    run([component], settings, None)


if __name__ == "__main__":
    main()
