"""How a webhook's body is signed and checked, as Standard Webhooks has it. Pure.

The signature is HMAC-SHA256 over `<id>.<timestamp>.<body>`: who replays a body under another id or
at another time has no signature for it. While a secret is exchanged for another, a request carries
the signatures of both.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence

from turbine_client.errors import BadRequest, Corrupt

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
PREFIX = "whsec_"
SECRET_BYTES_MIN, SECRET_BYTES_MAX = 24, 64
"""Of the key itself; the standard's own bounds."""
SECRETS_MAX = 4
TOLERANCE_S = 300
"""How far a receiver's clock may be from ours; beyond it a request may be a replayed one."""
_SCHEME = "v1,"


class BadSecret(BadRequest, ValueError):
    """A text that is no secret; it is never shown."""


class Tampered(Corrupt, ValueError):
    """A request that is not what was sent, or not by whom; the sentence says which."""


def read_secret(text: str) -> bytes:
    """The key that a secret's text stands for."""
    plain = text.strip()
    if not plain.startswith(PREFIX):
        raise BadSecret(f"a secret begins with {PREFIX}; `turbine webhooks secret` makes one")
    try:
        key = base64.b64decode(plain.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):  # the latter: a character that is not ASCII
        raise BadSecret(
            f"what follows {PREFIX} is not base64; `turbine webhooks secret` makes one"
        ) from None
    if not SECRET_BYTES_MIN <= len(key) <= SECRET_BYTES_MAX:
        raise BadSecret(
            f"a secret has {SECRET_BYTES_MIN} to {SECRET_BYTES_MAX} bytes and this one has"
            f" {len(key)}; `turbine webhooks secret` makes one"
        )
    return key


def show_secret(key: bytes) -> str:
    """A key as people copy it from one place to the other."""
    return PREFIX + base64.b64encode(key).decode()


def sign(keys: Sequence[bytes], name: str, at_s: int, body: bytes) -> str:
    """The value of the signature's header: one signature of each key."""
    return " ".join(_SCHEME + _mac(key, name, str(at_s), body) for key in keys)


def verify(
    keys: Sequence[bytes],
    headers: Mapping[str, str],
    body: bytes,
    now_s: float,
    tolerance_s: float = TOLERANCE_S,
) -> str:
    """The id of a request that is what we sent; Tampered where it is not, or is too old."""
    found = {name.lower(): value for name, value in headers.items()}
    for name in (ID, TIMESTAMP, SIGNATURE):
        if not found.get(name):
            raise Tampered(f"the header {name} is missing; only what Turbine signed is taken")
    at = found[TIMESTAMP]
    if not (at.isascii() and at.isdigit() and len(at) <= 12):
        raise Tampered(f"the header {TIMESTAMP} is no number of seconds since 1970")
    if abs(now_s - int(at)) > tolerance_s:
        raise Tampered(
            f"it was signed {abs(now_s - int(at)):.0f} s from now, and {tolerance_s:g} s are"
            " allowed; it is a replay, or one of the clocks is wrong"
        )
    given = [one.removeprefix(_SCHEME) for one in found[SIGNATURE].split() if _SCHEME in one[:3]]
    known = [_mac(key, found[ID], at, body) for key in keys]
    # All of them are compared, each in constant time: how long it takes tells nothing.
    if not sum(_same(one, other) for one in given for other in known):
        raise Tampered(
            "no signature fits: the body, the id or the time were changed, or the secret is another"
        )
    return found[ID]


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


def _mac(key: bytes, name: str, at: str, body: bytes) -> str:
    told = hmac.new(key, b".".join((name.encode(), at.encode(), body)), hashlib.sha256)
    return base64.b64encode(told.digest()).decode()
