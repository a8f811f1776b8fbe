"""All that is the matter with a config, in the order in which its author puts it right. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from events.config import EXPLAINER, JobConfig
from events.invalid import Invalid


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is the matter with a config, and what to do about it."""

    path: str
    sentence: str

    def to_plain(self) -> dict[str, str]:
        """As JSON."""
        return {"path": self.path, "sentence": self.sentence}


def findings_in(merged: Mapping[str, Any]) -> list[Finding]:
    """Keys that nobody knows first, each with the one that may be meant; none where all is well."""
    try:
        JobConfig.model_validate(dict(merged))
    except ValidationError as error:
        return [Finding(one.path, _sentence(one)) for one in EXPLAINER.problems(error)]
    return []


def _sentence(one: Invalid) -> str:
    if not one.unknown:
        return str(one)
    if one.meant:
        return f"{one.path}: did you mean {one.meant}?"
    return f"{one.path}: there is no such key; expected {one.expected}"
