"""Pages of lists: a cursor is the key of the last item seen, so that nothing is seen twice or
passed over when items come and go in between. Pure.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field

from turbine.api.problems import RequestRefused, invalid

T = TypeVar("T")
Key = tuple[Any, ...]
Next = Annotated[
    str | None, Field(description="The cursor of the next page; null on the last one.")
]


@dataclass(frozen=True, slots=True)
class Items(Generic[T]):
    """All items that there are, on one page."""

    items: tuple[T, ...]


@dataclass(frozen=True, slots=True)
class TierItems(Items[T]):
    """All there are of a tier."""

    tier: str


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list."""

    items: tuple[T, ...]
    next: Next
    total: int


@dataclass(frozen=True, slots=True)
class TierPage(Page[T]):
    """A page of a list about a tier."""

    tier: str


@dataclass(frozen=True, slots=True)
class JobPage(Page[T]):
    """A page of a list about a job."""

    job: str


def cursor_of(key: Key) -> str:
    """The text of a cursor, for a URL."""
    plain = json.dumps(key, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(plain).decode().rstrip("=")


def key_in(cursor: str, like: Key) -> Key:
    """The key that a cursor holds, which is of the form of another one."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        found = json.loads(base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        raise _foreign() from None
    fits = isinstance(found, list) and len(found) == len(like)
    if not fits or any(_kind(a) is not _kind(b) for a, b in zip(found, like, strict=True)):
        raise _foreign()
    return tuple(found)


def _kind(value: object) -> type:
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _foreign() -> RequestRefused:
    sentence = "cursor: this is no cursor of this list; take `next` of an answer as it is"
    return invalid(sentence, "query.cursor")


def position_of(cursor: str | None, knows: Callable[[str], bool]) -> str:
    """The position that a cursor of decisions is; "" for none."""
    if cursor and not knows(cursor):
        raise _foreign()
    return cursor or ""


def page(
    items: Iterable[T], key: Callable[[T], Key], like: Key, limit: int, cursor: str | None
) -> tuple[list[T], str | None]:
    """The items after the cursor, in the order of their keys, and the cursor of those that follow;
    `like` is any key of the list."""
    ordered = sorted(items, key=key)
    if cursor is not None:
        after = key_in(cursor, like)
        ordered = [one for one in ordered if key(one) > after]
    found = ordered[:limit]
    more = len(ordered) > limit
    return found, cursor_of(key(found[-1])) if found and more else None
