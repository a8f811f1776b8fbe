"""Numbers as policies write them into sentences. Pure."""

from __future__ import annotations


def plain(value: float | None) -> str:
    """A number as a sentence holds it."""
    if value is None:
        return "unknown"
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) < 10 else f"{value:.0f}"
