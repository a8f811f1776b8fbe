"""What a trace context is, by W3C's Trace Context. Pure."""

from __future__ import annotations

import re

TRACE_CHARS_MAX = 256
"""The first version has 55 characters; later ones may have more."""
_TRACE = re.compile(
    r"(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?",
    re.DOTALL,
)


def trace_of(text: str) -> str:
    """The trace context that a text is; "" where it is none. Of a later version it is the part that
    the first one has, as W3C asks for."""
    found = _TRACE.fullmatch(text) if len(text) <= TRACE_CHARS_MAX else None
    if found is None or (found[1] == "00" and found[4]):
        return ""
    return text if found[1] == "00" else f"00-{found[2]}-{int(found[3], 16) & 1:02x}"
