"""Commits as the broker keeps them, in both forms that it has."""

from __future__ import annotations

import struct

from benchmarks.exclusivity_offsets import commit_of
from tasks.core.claims import Claim

CLAIM = Claim(2, 3, 7, "a", 4)


def text(value: str) -> bytes:
    return struct.pack(">h", len(value.encode())) + value.encode()


def key(version: int = 1) -> bytes:
    return struct.pack(">h", version) + text("job") + text("in") + struct.pack(">i", 5)


def value(metadata: str, version: int = 3) -> bytes:
    head = struct.pack(">hq", version, 42)
    head += struct.pack(">i", -1) if version >= 3 else b""
    if version < 4:
        return head + text(metadata) + struct.pack(">q", 1)
    length = len(metadata) + 1
    compact = bytes([length & 0x7F | 0x80, length >> 7]) if length > 127 else bytes([length])
    return head + compact + metadata.encode() + struct.pack(">q", 1) + b"\0"


def test_a_commit_with_a_claim() -> None:
    for version in (1, 3, 4):
        found = commit_of(key(), value(CLAIM.text() + "\0", version), 9)
        assert found == ("job", "in", 5, 42, CLAIM, 9)


def test_a_long_claim_in_the_compact_form() -> None:
    claim = CLAIM._replace(container="c" * 200)
    found = commit_of(key(), value(claim.text(), 4), 9)
    assert found is not None
    assert found.claim == claim


def test_a_commit_of_somebody_else_has_no_claim() -> None:
    found = commit_of(key(), value(""), 9)
    assert found is not None
    assert found.claim is None


def test_what_is_about_the_group_or_deletes_is_no_commit() -> None:
    assert commit_of(struct.pack(">h", 2) + text("job"), b"\0\3", 9) is None
    assert commit_of(key(), None, 9) is None
    assert commit_of(None, b"", 9) is None
