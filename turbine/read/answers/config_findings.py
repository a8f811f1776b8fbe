"""All that is the matter with a config, in the order in which its author puts it right. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from events.job_config.config import EXPLAINER, JobConfig
from events.job_config.invalid import Invalid
from events.job_config.reserved import reserved_topics

_STAND_INS: Mapping[str, Any] = MappingProxyType(
    {
        "operator": "module:function",
        "inputs": [{"topic": "topic"}],
        "package": {"name": "package", "version": "1"},
        "checkpoint": {"root": "/checkpoints"},
    }
)
"""For what has to be there and is not, or is wrong: so that the others are looked at together."""
_HELD_AGAINST = MappingProxyType(
    {"tasks": "limits", "resources": "isolation", "output": "guarantee", "assignment": "inputs"}
)


@dataclass(frozen=True, slots=True)
class ConfigFinding:
    """One thing that is the matter with a config, and what to do about it."""

    path: str
    sentence: str

    def to_plain(self) -> dict[str, str]:
        """The finding as a JSON object."""
        return {"path": self.path, "sentence": self.sentence}


def findings_in(merged: Mapping[str, Any]) -> list[ConfigFinding]:
    """Keys that nobody knows first, each with the one that may be meant; none where all is well."""
    found = _problems(merged)
    wrong = {one.path.partition(".")[0] for one in found}
    if wrong:  # what does not fit together is not looked at before each field is right
        right = {name: value for name, value in merged.items() if name not in wrong}
        found += [
            one for one in _problems({**_STAND_INS, **right}) if not _hangs_on(one.path, wrong)
        ]
    return [ConfigFinding(one.path, _sentence(one)) for one in found]


def _problems(config: Mapping[str, Any]) -> list[Invalid]:
    try:
        return list(reserved_topics(JobConfig.model_validate(dict(config))))
    except ValidationError as error:
        return EXPLAINER.problems(error)


def _hangs_on(path: str, wrong: Set[str]) -> bool:
    """Is it about a field that is wrong itself, or was it held against one?"""
    name = path.partition(".")[0]
    return name in wrong or _HELD_AGAINST.get(name) in wrong


def _sentence(one: Invalid) -> str:
    if not one.unknown:
        return str(one)
    if one.meant:
        return f"{one.path}: did you mean {one.meant}?"
    return f"{one.path}: there is no such key; expected {one.expected}"
