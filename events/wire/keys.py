"""What a key has to be: text, in its own partition, and the subject of the value. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

from events.generated.records import RECORDS, Body
from events.topics import partition_of
from turbine_client.errors import Unreadable

# A key is in every row, rejection and sentence about its subject; no id of ours is longer.
KEY_BYTES_MAX = 256
# Control characters and noncharacters: CloudEvents has none of them in a text, and a key becomes
# the subject of what is answered. Surrogates are no UTF-8.
_PLANES = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_NO_TEXT = re.compile(f"[\x00-\x1f\x7f-\x9f\ufdd0-\ufdef{_PLANES}]")


def _subject_field(cls: type[Body]) -> str:
    fields = cast("Any", cls).__dataclass_fields__
    return next((name for name in ("job", "container", "tier") if name in fields), "")


# Which field of a record its key repeats.
_SUBJECTS = {kind: _subject_field(cls) for kind, cls in RECORDS.items()}


def check_key(key: bytes | None, partition: int, partitions: int) -> str:
    """The key as text; it has to lie in the partition where everybody looks for it."""
    if not key:
        raise Unreadable("no-key", "the message has no key; the key is the id of its subject")
    if len(key) > KEY_BYTES_MAX:
        raise Unreadable(
            "key-too-long", f"the key has {len(key)} bytes, and {KEY_BYTES_MAX} are allowed"
        )
    text, home = _home_of(key, partitions)
    if home != partition:
        raise Unreadable(
            "foreign-partitioner",
            f"the key {text[:130]!r} belongs in partition {home} of {partitions}; set"
            " partitioner=murmur2_random in the producer",
        )
    return text


def check_clean(key: str) -> str:
    """The key of what strangers ask for: nothing in it may make an answer no CloudEvent."""
    if not key.isprintable() and (found := _NO_TEXT.search(key)):
        raise Unreadable(
            "key-not-text",
            f"the key {key[:40]!r} has the control character or noncharacter"
            f" U+{ord(found[0]):04X}; leave it out",
        )
    return key


@lru_cache(maxsize=65_536)
def _home_of(key: bytes, partitions: int) -> tuple[str, int]:
    try:
        return key.decode(), partition_of(key, partitions)
    except UnicodeDecodeError as error:
        raise Unreadable(
            "key-not-text", f"the key {key[:40]!r} is not UTF-8; encode it so"
        ) from error


def check_subject(key: str, kind: str, body: Body | None) -> None:
    """A message says its subject twice, in the key and in the value: they must agree."""
    name = _SUBJECTS[kind]
    if not name or body is None:
        return
    subject = getattr(body, name)
    if subject != key:
        raise Unreadable(
            "wrong-key",
            f"the key is {key[:130]!r} and the {kind} is about the {name} {subject[:130]!r};"
            f" use the {name}'s id as the key",
        )
