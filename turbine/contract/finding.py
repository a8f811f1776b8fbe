"""A message as somebody would send it, and one thing that is the matter with it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Part = Literal["framing", "schema", "value", "key", "partition", "headers"]
Weight = Literal["refused", "remark"]


@dataclass(frozen=True, slots=True)
class SampleMessage:
    """A message as somebody would send it; `partition` None: where its key belongs."""

    topic: str  # short name
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class MessageFinding:
    """One thing that is the matter; what is refused becomes a dead letter."""

    weight: Weight
    part: Part
    reason: str
    sentence: str

    def to_plain(self) -> dict[str, str]:
        """As JSON."""
        return {
            "weight": self.weight,
            "part": self.part,
            "reason": self.reason,
            "sentence": self.sentence,
        }


def refused(part: Part, reason: str, sentence: str) -> MessageFinding:
    """What makes a dead letter of it."""
    return MessageFinding("refused", part, reason, sentence)


def remark(part: Part, reason: str, sentence: str) -> MessageFinding:
    """What is read all the same."""
    return MessageFinding("remark", part, reason, sentence)
