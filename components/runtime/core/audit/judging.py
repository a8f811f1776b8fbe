"""Whether a record is what its author's row calls for, and where it first differs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from components.runtime.core.component import Component
from components.runtime.core.step import KeyState
from events.wire.codec import SKIPPED, Read, Record
from events.wire.framing import decode
from turbine_client.errors import Unreadable

SHARED = frozenset({"AlertRaised", "AlertCleared"})
"""Kinds that any component may say on its journal: only their source tells whose they are."""
VERDICTS = ("same", "differs", "impossible", "not checkable")
VALUE_MOST = 200
"""Of a value that differs, in characters: a config has 64 KiB, and a sentence is read by people."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """What the audit has to say about one record."""

    verdict: str  # one of VERDICTS
    read: Read
    component: str
    sentence: str
    byte: int | None = None  # the first one of the value that differs
    field: str = ""  # the field of the record in which that is, or the header


def is_of(component: Component[Any], read: Read) -> bool:
    """Did the component say it, as far as its headers tell?"""
    record = read.record
    if read.topic != component.output or record.kind in SHARED:
        return record.source == component.name
    return record.kind in component.says


def judge_state(read: Read, held: KeyState[Any], name: str, *, ticked: bool) -> AuditFinding | None:
    """What is wrong with the evidence, or with the instant at which it was said; None: nothing.

    A tick of another partition's clock comes in through what was folded.
    """
    record = read.record
    if held.vector != record.evidence:
        sentence = f"its evidence is not closed: it adds up to {held.vector}"
        return AuditFinding("differs", read, name, sentence, field="evidence")
    if not ticked and record.tick_ms != held.tick_ms:
        sentence = f"said at {record.tick_ms}, which is no tick of the clock"
    elif record.tick_ms < held.tick_ms:
        sentence = f"said at {record.tick_ms}, before {held.tick_ms} which it had folded"
    else:
        return None
    return AuditFinding("differs", read, name, sentence, field="tick")


def judge_words(read: Read, again: Sequence[tuple[str, Record]], name: str) -> AuditFinding:
    """The record of that component beside all that its evidence calls for."""
    found = read.record
    for topic, record in again:
        if (
            record.id == found.id
            and topic == read.topic
            and record.value == found.value
            and record.parent == found.parent
            and record.tick_ms == found.tick_ms
        ):
            return AuditFinding("same", read, name, "")
    named = [record for _, record in again if record.kind == found.kind]
    if not named:
        told = ", ".join(record.kind for _, record in again) or "nothing"
        return AuditFinding("differs", read, name, f"its evidence calls for {told}", field="kind")
    # One of many of its kind: the one that it has most in common with is what it should have been.
    mine = max(named, key=lambda one: _likeness(one, found))
    sentence, byte, field = _first_difference(mine, found)
    return AuditFinding("differs", read, name, sentence, byte, field)


def _likeness(again: Record, found: Record) -> tuple[bool, bool, int]:
    return again.id == found.id, again.parent == found.parent, _common(again.value, found.value)


def _common(mine: bytes, theirs: bytes) -> int:
    """How many bytes are the same before the first that differs."""
    pairs = enumerate(zip(mine, theirs, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(mine), len(theirs)))


def _first_difference(again: Record, found: Record) -> tuple[str, int | None, str]:
    """In a sentence; the first byte of the value, and the field, where it is there."""
    for name in ("parent", "value", "id"):
        mine, theirs = getattr(again, name), getattr(found, name)
        if mine == theirs:
            continue
        if name != "value":
            return f"its {name} is {theirs}, derived again it is {mine}", None, name
        at = _common(mine, theirs)
        field, told = _field(again, found)
        return f"byte {at} of {found.kind} differs{told}", at, field
    return "a header differs", None, "header"


def _field(again: Record, found: Record) -> tuple[str, str]:
    """The first field whose values differ, and both in words."""
    theirs = found.body
    if theirs is SKIPPED:
        try:
            theirs = decode(found.value)
        except Unreadable:
            theirs = None
    if again.body is None or theirs is None:
        return "", ""
    ours, said = again.body.to_plain(), theirs.to_plain()
    name = next((name for name in ours if ours[name] != said.get(name)), None)
    if name is None:
        return "", ""
    return name, f": {name} is {_short(said.get(name))}, again it is {_short(ours[name])}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= VALUE_MOST else f"{text[:VALUE_MOST]}…"
