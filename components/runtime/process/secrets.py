"""Which settings nobody may read, by their names, and what stands where one was. Pure."""

from __future__ import annotations

from collections.abc import Mapping

WORDS = ("password", "secret", "token", "pem", "key", "jaas", "credential", "url")
"""A URL may hold a password, and the path of a webhook's is a secret to many receivers."""
HIDDEN = "(not shown)"
CHARS_LEAST = 4
"""What is shorter stands in half of all words."""


def is_secret(name: str) -> bool:
    """Is what is set under this name for nobody's eyes?"""
    return any(word in name.lower() for word in WORDS)


def secrets_of(settings: Mapping[str, str]) -> tuple[str, ...]:
    """The values that nobody may read, the longest first: one may hold another."""
    found = {
        value for name, value in settings.items() if is_secret(name) and len(value) >= CHARS_LEAST
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))
