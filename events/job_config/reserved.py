"""Names that no job may have, read or write: they are Turbine's own, or the broker's. Pure.

A job that writes what components read would have the authority of all of them, and one whose group
is a component's own would move its offsets.
"""

from __future__ import annotations

from collections.abc import Iterator

from events.job_config.config import Invalid, JobConfig
from events.job_config.strict_json import shorten
from events.topics import USUAL_PREFIX, full_name

PREFIX = full_name(USUAL_PREFIX, "")
TOPICS = (PREFIX, "__")
"""Begin the topics of a log under the usual prefix, and those that the broker keeps for itself. The
topics of another prefix are refused where tasks start: no decision depends on a setting."""
JOBS = "turbine-"
"""Begins the groups of components, under the usual prefix, and the names of their processes."""

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
