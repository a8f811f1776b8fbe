"""From a message of the broker to a record that may be folded, or to a dead letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from events.codec import Read, read_message
from events.errors import Unreadable
from events.topics import BY_SHORT, DEAD_LETTERS, PREFIX

Headers = list[tuple[str, bytes | None]] | None


@dataclass(frozen=True, slots=True)
class Message:
    """What a client read, whichever client it was."""

    topic: str  # short name
    partition: int
    offset: int
    at_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def place(self) -> str:
        """Topic and partition."""
        return f"{self.topic}/{self.partition}"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What could not be read, as it was, with the reason."""

    message: Message
    reason: str
    sentence: str

    @property
    def id(self) -> str:
        """Named by its position: who finds it twice writes the same letter."""
        return f"{self.message.place}@{self.message.offset}"

    def headers(self) -> list[tuple[str, bytes | None]]:
        """The original headers, and where and why it was put aside."""
        message = self.message
        ours: list[tuple[str, bytes | None]] = [
            ("dead_letter_id", self.id.encode()),
            ("dead_letter_place", message.place.encode()),
            ("dead_letter_offset", str(message.offset).encode()),
            ("dead_letter_at_ms", str(message.at_ms).encode()),
            ("dead_letter_reason", self.reason.encode()),
            ("dead_letter_sentence", self.sentence.encode()),
        ]
        return [*(message.headers or []), *ours]


DEAD_LETTERS_NAME = BY_SHORT[DEAD_LETTERS].name


def of_confluent(message: Any) -> Message:
    """A message as confluent-kafka gives it."""
    return Message(
        message.topic().removeprefix(PREFIX),
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        message.key(),
        message.value(),
        message.headers(),
    )


def of_faust(message: Any) -> Message:
    """A message as Faust gives it: seconds instead of milliseconds, headers as they came."""
    headers = message.headers
    if isinstance(headers, dict):
        headers = list(headers.items())
    return Message(
        message.topic.removeprefix(PREFIX),
        message.partition,
        message.offset,
        round(message.timestamp * 1000),
        message.key,
        message.value,
        list(headers) if headers else None,
    )


def take_in(message: Message, partitions: int, folds: frozenset[str] | None) -> Read | DeadLetter:
    """The record of a message; a message that has none is a dead letter, never an error."""
    try:
        return read_message(
            message.topic,
            message.partition,
            message.offset,
            message.at_ms,
            message.key,
            message.value,
            message.headers,
            partitions,
            folds,
        )
    except Unreadable as bad:
        return DeadLetter(message, bad.reason, str(bad))
