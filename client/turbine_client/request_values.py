"""The value of a request's message, where one can hold it. Pure."""

from __future__ import annotations

from turbine_client.bodies import Body
from turbine_client.errors import BadRequest, Unreadable
from turbine_client.schemas import FRAMING
from turbine_client.topics import REQUEST_BYTES

VALUE_MOST = REQUEST_BYTES - 2 * 1024
"""Of a request, in bytes: key and headers go with it."""


class TooLarge(BadRequest, ValueError):
    """A request that no message can hold; nothing was sent."""


def encoded(job: str, body: Body) -> bytes:
    """The value of a request's message; TooLarge where none can hold it."""
    try:
        value = FRAMING.encode(body)
    except Unreadable as bad:
        raise TooLarge(f"{job}: {bad.sentence}; nothing was sent") from None
    if len(value) > VALUE_MOST:
        raise TooLarge(
            f"{job}: the value has {len(value)} bytes, and {VALUE_MOST} of a request fit into a"
            " message; say less in one request; nothing was sent"
        )
    return value
