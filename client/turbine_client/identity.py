"""How ids are made: all of them are hashes of content, so who says the same says it once."""

from __future__ import annotations

import base64
import hashlib
import re
import uuid

# Fixed for ever: another namespace would give every decision of the log another id.
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:turbine:decision").bytes

_VARIANT = {f"{digit:x}": f"{8 | digit & 3:x}" for digit in range(16)}

CHANGE_ID_LENGTH_MAX = 200
# 15 digits of milliseconds reach to the year 33658 and stay within 2^53.
_DIGITS_MAX = 15
VALID_MS = 600_000
"""How far ahead a request may say it is valid: it bounds how long an id has to be remembered."""
KNOWN = 1024
"""Requests known by id at one time; what comes beyond has no verdict, and its author can see so."""
SKEW_MS = 5_000
"""How far two brokers' clocks may differ; beyond it, evidence of the future is impossible."""
RUNBOOK = "docs/runbooks/log-replaced.md"
"""For whoever finds that the log is not the one that was read."""
ROOT = "root"
"""The parent of the first decision about a key."""


def _uuid5(content: bytes) -> str:
    # `uuid.uuid5` of this Python takes text only, and a framed value is bytes.
    text = hashlib.sha1(_NAMESPACE + content, usedforsecurity=False).hexdigest()
    # Version 5, and RFC 4122's variant in the two highest bits of the ninth byte: as `uuid.UUID`
    # would put them, without making one.
    variant = _VARIANT[text[16]]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def decision_id(parent: str, key: str, kind: str, value: bytes) -> str:
    """The id of a decision: of its parent, its key, its kind of record and its framed value."""
    said = key.encode()
    # The length of the key stands before it, so that no two contents run together to one text.
    return _uuid5(b"%b\0%b\0%d\0%b%b" % (parent.encode(), kind.encode(), len(said), said, value))


def effect_id(decision_id: str, what: str) -> str:
    """The id of what a standing decision owes another topic; `what` tells its effects apart."""
    return _uuid5(b"effect\0%b\0%b" % (decision_id.encode(), what.encode()))


def fact_id(key: str, kind: str, value: bytes, evidence: str) -> str:
    """The id of what is reported; said again, it is the same. Short, as there are many of them: of
    a million million of one source, two share an id with a chance of one to a hundred thousand."""
    said = b"fact\0%b\0%b\0%b\0%b" % (kind.encode(), key.encode(), evidence.encode(), value)
    digest = hashlib.sha1(_NAMESPACE + said, usedforsecurity=False).digest()
    return base64.urlsafe_b64encode(digest[:12]).decode()


def change_id(valid_until_ms: int, token: str) -> str:
    """The id of a request; it says until when it is valid, so that no copy can say otherwise."""
    made = f"{valid_until_ms}.{token}"
    written = made.isascii() and made.isprintable() and len(made) <= CHANGE_ID_LENGTH_MAX
    if not 0 < valid_until_ms < 10**_DIGITS_MAX or not token or not written:
        raise ValueError(
            f"{made[:CHANGE_ID_LENGTH_MAX]!r} is no change id: give an instant in milliseconds"
            f" since 1970 UTC and a token of printable ASCII, {CHANGE_ID_LENGTH_MAX} characters in"
            " all at most"
        )
    return made


def valid_until_ms(change_id: str) -> int:
    """Until when a request is valid; 0 when its id does not say so, and then it never is."""
    head, _, token = change_id.partition(".")
    if not token or len(head) > _DIGITS_MAX or len(change_id) > CHANGE_ID_LENGTH_MAX:
        return 0
    # A thousand ids are kept with a row, which is one message: four bytes a character are too many.
    if not change_id.isascii() or not change_id.isprintable():
        return 0
    return int(head) if head.isdigit() else 0


def request_named(body: object, cause: str) -> str:
    """The request that a record answers, or is about: as its body says, else as its header does,
    where that names a request; "" for none."""
    named: str | None = getattr(body, "change_id", None)
    return named or (cause if valid_until_ms(cause) else "")


_JOB_ID = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?")


def is_job_id(text: str) -> bool:
    """May a job have this name? It is a key, a path segment, a label and an argument as it is."""
    return _JOB_ID.fullmatch(text) is not None
