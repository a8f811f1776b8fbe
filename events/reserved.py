"""Names that no job may have, read or write: they are Turbine's own, or the broker's. Pure.

A job that writes what components read would have the authority of all of them, and one whose group
is a component's own would move its offsets.
"""

from __future__ import annotations

from collections.abc import Iterator

from events.config import Invalid, JobConfig
from events.strict_json import shorten
from events.topics import PREFIX

TOPICS = (PREFIX, "__")
"""Begin the topics of the log, and those that the broker keeps for itself."""
JOBS = "turbine-"
"""Begins the groups of components and the names of their processes."""
GROUPS = "turbine-job."
"""Begins the consumer group of each job, so that no other team's reader is in it."""

NO_TOPIC = f'a topic of your own, which begins with neither "{PREFIX}" nor "__"'
NO_JOB = f'a name that does not begin with "{JOBS}", as those of Turbine\'s own groups do'


def reserved_topics(config: JobConfig) -> Iterator[Invalid]:
    """Topics that the job would read or write and may not, by path."""
    named = [(f"inputs.{at}.topic", one.topic) for at, one in enumerate(config.inputs)]
    if config.output is not None and config.output.topic is not None:
        named.append(("output.topic", config.output.topic))
    for path, topic in named:
        if is_reserved_topic(topic):
            yield Invalid(path, NO_TOPIC, shorten(topic))


def is_reserved_topic(topic: str) -> bool:
    """Is it one of the log's topics, or of the broker's?"""
    return topic.startswith(TOPICS)


def is_reserved_job(name: str) -> bool:
    """Is it a name of Turbine's own?"""
    return name.startswith(JOBS)


def group_of(job: str) -> str:
    """The consumer group in which the offsets of the job's tasks stand."""
    return GROUPS + job
