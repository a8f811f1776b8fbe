"""What a Kafka client read, as all readers have it. Pure."""

from __future__ import annotations

from operator import methodcaller
from typing import Any, NamedTuple

from turbine_client.topics import place, short_of

Headers = list[tuple[str, bytes | None]] | None

SPOILT_BATCH = (
    "the batch that ends here cannot be inflated, or holds more than a reader takes; send fewer or"
    " smaller records at once"
)


class Message(NamedTuple):
    """What a client read, whichever client it was. A tuple: one is made for every record read,
    and a frozen dataclass takes three times as long to make."""

    topic: str  # short name
    partition: int
    offset: int
    at_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    spoilt: str = ""  # why it, or its headers, could not be read; "" where they could

    @property
    def place(self) -> str:
        """The message's place: its topic's short name and its partition."""
        return place(self.topic, self.partition)


# Called in this roundabout way, Python looks whether the call left an error behind. Called as usual
# it does not, once the loop is warm, and whatever is called next fails in its place.
_headers_of = methodcaller("headers")
_new = tuple.__new__


def of_confluent(message: Any) -> Message:
    """A message as confluent-kafka gives it."""
    headers, spoilt, topic = None, "", message.topic()
    try:
        headers = _headers_of(message)
    except (SystemError, UnicodeDecodeError):
        # One such message would end every process that reads its partition, at each start.
        spoilt = "the name of a header is not UTF-8; encode it so"
    # As `Message(...)` does, less a call: it is done for every record that is read.
    return _new(
        Message,
        (
            short_of(topic),
            message.partition(),
            message.offset(),
            message.timestamp()[1],
            message.key(),
            message.value(),
            headers,
            spoilt,
        ),
    )
