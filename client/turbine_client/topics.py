"""The topics that a client knows by name, and where a key's records lie. Pure.

A topic's *short* name is its name without the prefix of its installation and the dot behind it,
a *place* is "<short>/<partition>".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

USUAL_PREFIX = "turbine"
LAYERS = ("base", "provisioner", "scaler", "oncall")

CHANGES_BASE = "changes.base.v1"
CHANGES_PROVISIONER = "changes.provisioner.v1"
CHANGES_SCALER = "changes.scaler.v1"
CHANGES_ONCALL = "changes.oncall.v1"
OPERATOR = "operator.v1"
JOURNAL = "journal.v1"
TIERS = "tiers.v1"
OUTCOMES = "outcomes.v1"
ALERTS = "alerts.v1"

# Which ingress topic is the authority for which layer.
CHANGES: Mapping[str, str] = MappingProxyType(
    {
        "base": CHANGES_BASE,
        "provisioner": CHANGES_PROVISIONER,
        "scaler": CHANGES_SCALER,
        "oncall": CHANGES_ONCALL,
    }
)

REQUEST_BYTES = 72 * 1024
"""Of a batch of requests, as the broker has it: those come from anybody. A batch is inflated as a
whole by whoever reads it, gzip a thousandfold, and this is what bounds it. The largest change that
can be granted, of 64 KiB, fits uncompressed."""

ALERT_KINDS = ("AlertRaised", "AlertCleared")
OUTCOME_KINDS = (
    "JobConfigChanged",
    "JobConfigRejected",
    "OverrideExpired",
    "JobDeleted",
    "SyncPlanned",
    "SyncCommitted",
    "SyncFailed",
    "JobQuarantined",
    "JobReleased",
    "ScalingDecided",
    "ScalingDeclined",
    "ScalingVerified",
    "ScalingReverted",
)
REQUEST_KINDS = (
    "ConfigChangeProposed",
    "JobDeleteRequested",
    "OffsetResetRequested",
    "PauseRequested",
    "ReleaseRequested",
    "ResumeRequested",
)
"""What the client asks for."""
CLIENT_KINDS = (*REQUEST_KINDS, *OUTCOME_KINDS, *ALERT_KINDS, "TierDefined")
"""The records that the client speaks or hears: those of its own module of records."""
REQUEST_TOPICS = frozenset({*CHANGES.values(), OPERATOR})
"""What is asked lies there, written by anybody whom the broker lets in."""


def full_name(prefix: str, short: str) -> str:
    """A topic's name at the broker, in the installation that has this prefix."""
    return f"{prefix}.{short}"


@lru_cache(maxsize=1024)  # few topics, many records
def short_of(name: str) -> str:
    """The short name of a topic of ours, whatever its installation: no prefix has a dot in it."""
    return name.partition(".")[2] or name


@lru_cache(maxsize=65_536)  # one text for each place, whose hash is known wherever it is looked up
def place(short: str, partition: int) -> str:
    """Where something lies in the log, such as "journal.v1/3"."""
    return f"{short}/{partition}"


def partition_of(key: str | bytes, partitions: int) -> int:
    """The partition that the Java client gives a key: murmur2, made positive, modulo."""
    return (_murmur2(key.encode() if isinstance(key, str) else key) & 0x7FFFFFFF) % partitions


@lru_cache(maxsize=65_536)  # few keys, many records: the hash in Python costs 3 us, a hit 0.1 us
def _murmur2(key: bytes) -> int:
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(key)
    whole = len(key) & ~3
    for at in range(0, whole, 4):
        k = int.from_bytes(key[at : at + 4], "little") * m & mask
        k = (k ^ (k >> 24)) * m & mask
        h = h * m & mask ^ k
    if whole < len(key):
        h = (h ^ int.from_bytes(key[whole:], "little")) * m & mask
    h = (h ^ (h >> 13)) * m & mask
    return h ^ (h >> 15)
