"""Which consumer groups are a component's, and how their positions are given up."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException

from components.runtime.clients import admin, unreachable
from components.runtime.settings import BadSettings, Settings
from components.runtime.shell import group_of

ASK_S = 10.0
_PREFIX = group_of([])


def groups_of(settings: Settings, component: str) -> tuple[str, ...]:
    """Of workers that serve it, alone or with others."""
    client = admin(settings)  # it has to outlive its question
    answer = client.list_consumer_groups(request_timeout=ASK_S)
    try:
        found = [one.group_id for one in answer.result().valid]
    except KafkaException as error:
        raise unreachable(settings, error.args[0]) from None
    served = {name: name.removeprefix(_PREFIX).split("+") for name in found if _ours(name)}
    return tuple(sorted(name for name, components in served.items() if component in components))


def _ours(name: str) -> bool:
    return name.startswith(_PREFIX)


def delete_groups(settings: Settings, component: str, groups: Sequence[str]) -> None:
    """Gives their positions up; BadSettings where somebody still works in one."""
    if not groups:
        return
    client = admin(settings)
    answers = client.delete_consumer_groups([*groups], request_timeout=ASK_S)
    for group, answer in answers.items():
        try:
            answer.result()
        except KafkaException as error:
            why = error.args[0]
            if why.code() == KafkaError.NON_EMPTY_GROUP:
                raise BadSettings(
                    f"a worker of {component} runs, in the group {group}; stop it first, or wait"
                    " until its session is over: it would keep again what it knows"
                ) from None
            if why.code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise unreachable(settings, why) from None
