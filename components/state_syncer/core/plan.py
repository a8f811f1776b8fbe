"""What it takes to bring a job from its running config to its expected one (III-B). Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from events.generated.records import ConfigDifference
from events.job_config.config import COMPLEX_FIELDS, Invalid, validate_config
from events.job_config.strict_json import canonical_json
from projections.syncs import DELETED, PAUSED, RUNNING, START, STOP, Sync
from projections.waits import settled, standing

Plain = Mapping[str, Any]
FIRST_COPIED = frozenset({"tier", "allowed_regions"})
"""What the first logic took to be only copied."""
COPIED = "is only copied: tasks take it up when their specs say so"
_PAUSED_TEXT = '"paused":true'
"""In canonical JSON; a config without it need not be read to know that it does not pause."""


@dataclass(frozen=True, slots=True)
class Way:
    """How to get there: without steps what is wanted is only copied, at once."""

    intent: str  # start, change, pause, resume, restart or delete
    state: str  # what the job does afterwards
    steps: tuple[str, ...]
    differences: tuple[ConfigDifference, ...]
    tasks: int

    def signature(self, row: Sync) -> str:
        """What plans that do the same share, whichever steps are needed by then."""
        said = canonical_json([self.intent, self.state, row.expected_json, row.reset])
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def wanted_state(row: Sync) -> str:
    """What the job is to do, by its expected config and by its operators."""
    if not row.alive:
        return DELETED
    return PAUSED if row.held or _pauses(row.expected_json) else RUNNING


def plan_for(row: Sync, *, first: bool = False) -> Way | None:
    """How the job gets to where it should be; None when it is there. It runs what its commit says
    for as long as its tasks are told the same. `first` is as the first logic judged."""
    state, running = wanted_state(row), row.running
    was = running.state if running is not None else DELETED
    # A deletion ends what was wished and takes nothing back.
    wishes = running is not None and was != DELETED and running.reset != row.reset
    resets = wishes and (first or bool(row.reset))
    fits = state == was and not resets and (first or settled(row))
    if fits and (state == DELETED or _at(row)):
        return None
    if state == DELETED:
        return Way("delete", state, _stop(row), (), 0)
    wanted = json.loads(row.expected_json)
    tasks = int(wanted.get("tasks", 1))
    before = running.config_json if running is not None and was != DELETED else "{}"
    reasons = _reasons(first=first)
    differences = tuple(_differences(json.loads(before), wanted, reasons))
    reshaped = was != DELETED and any(one.path in reasons for one in differences)
    steps: tuple[str, ...] = ()
    if fits and state == RUNNING and not reshaped:
        return Way("change", state, (), differences, tasks)
    if was != PAUSED or state == RUNNING or not first:
        steps += _stop(row)
    if state == RUNNING:
        steps += (START,)
    intent = "reset" if resets and state == was else _intent(was, state)
    if intent == "change" and not fits and not reshaped:
        intent = "restart" if state == RUNNING else "pause"  # what a plan left, half told
    return Way(intent, state, steps, differences, tasks)


def _at(row: Sync) -> bool:
    return row.running is not None and row.running.versions == row.versions


def _intent(was: str, state: str) -> str:
    if state == was:
        return "change"
    if state == PAUSED:
        return "pause"
    return "resume" if was == PAUSED else "start"


def _stop(row: Sync) -> tuple[str, ...]:
    """Nothing is waited for where all tasks are known to stand still."""
    return (STOP,) if next(standing(row), None) is not None else ()


def _pauses(config_json: str) -> bool:
    return _PAUSED_TEXT in config_json and json.loads(config_json).get("paused") is True


def _reasons(*, first: bool) -> Mapping[str, str]:
    """Of each field that is more than copied, why."""
    if not first:
        return COMPLEX_FIELDS
    return {name: why for name, why in COMPLEX_FIELDS.items() if name not in FIRST_COPIED}


def _differences(old: Plain, new: Plain, reasons: Mapping[str, str]) -> Iterator[ConfigDifference]:
    """By field, with the reason why it is copied or not."""
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) == new.get(name) and (name in old) == (name in new):
            continue
        why = reasons.get(name)
        # Most changes are only copied: what a config says in full is looked at for the others.
        if why is not None and old and _same(name, old, new):
            continue
        yield ConfigDifference(name, _text(old, name), _text(new, name), why or COPIED)


def _same(name: str, old: Plain, new: Plain) -> bool:
    """Is it said in other words, such as a default that is spelled out?"""
    before, after = validate_config(old, stood=True), validate_config(new, stood=True)
    if isinstance(before, Invalid) or isinstance(after, Invalid):
        return False  # no build would run it; whoever accepted it had other rules
    return bool(getattr(before, name) == getattr(after, name))


def _text(plain: Plain, name: str) -> str | None:
    return canonical_json(plain[name]) if name in plain else None
