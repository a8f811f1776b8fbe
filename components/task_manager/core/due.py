"""What a container does again and again: when each of it was due last. Pure."""

from __future__ import annotations


class Due:
    """What comes again and again: when each of it was due last."""

    def __init__(self, now_ms: int) -> None:
        self._last: dict[str, int] = {}
        self._since_ms = now_ms

    def comes(self, what: str, every_ms: int, now_ms: int) -> bool:
        """Is it due? Then it is due again after that time. The first heartbeat is due at once."""
        last = self._last.get(what, self._since_ms if what != "beat" else now_ms - every_ms)
        if now_ms - last < every_ms:
            self._last.setdefault(what, last)
            return False
        self._last[what] = now_ms
        return True

    def now(self, what: str) -> None:
        """It is due at the next question."""
        self._last[what] = -(2**62)
