"""Which consumer groups are a component's, and how their positions are given up."""

from __future__ import annotations

import time  # noqa: TID251 - a session is over by real time
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError, KafkaException

from components.runtime.faust.shell import group_of
from turbine_client.clients import (
    admin,
    unreachable,
)
from turbine_client.settings import BadSettings, Settings

ASK_S = 10.0
SESSION_S = 60.0
"""A worker that has died is in its group until its session is over: 10 s, unless it is set."""
PAUSE_S = 0.5


def groups_of(settings: Settings, component: str) -> tuple[str, ...]:
    """Of workers that serve it, alone or with others."""
    client = admin(settings)  # it has to outlive its question
    answer = client.list_consumer_groups(request_timeout=ASK_S)
    try:
        found = [one.group_id for one in answer.result().valid]
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    ours = group_of(settings, [])
    served = {one: one.removeprefix(ours).split("+") for one in found if one.startswith(ours)}
    return tuple(sorted(name for name, components in served.items() if component in components))


def delete_groups(
    settings: Settings,
    component: str,
    groups: Sequence[str],
    tell: Callable[[str], None],
    wait_s: float = SESSION_S,
) -> None:
    """Gives their positions up; BadSettings where somebody works in one for all that time."""
    limit, told = time.monotonic() + wait_s, False
    while busy := _undeleted(settings, groups):
        if time.monotonic() > limit:
            raise BadSettings(
                f"a worker of {component} runs, in the group {busy[0]}; stop it first: it would"
                " keep again what it knows"
            )
        if not told:
            tell(
                f"the group {busy[0]} has a member: waiting until it has stopped, or the session of"
                f" one that ended by itself is over, for {wait_s:g} s at most"
            )
            told = True
        time.sleep(PAUSE_S)


def _undeleted(settings: Settings, groups: Sequence[str]) -> list[str]:
    """Those that somebody is still a member of; all others are gone."""
    if not groups:
        return []
    client, busy = admin(settings), []
    for group, answer in client.delete_consumer_groups([*groups], request_timeout=ASK_S).items():
        try:
            answer.result()
        except KafkaException as error:
            why = error.args[0]
            if why.code() == KafkaError.NON_EMPTY_GROUP:
                busy.append(group)
            elif why.code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise unreachable(settings, why) from None
    return busy
