"""The publisher of asyncio: each call reaches the one below it, off the loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from turbine_client import AsyncPublisher, Publisher, asynchronous

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("change", ("clicks", {"tasks": 2}), {"wait_s": 1.0}),
    ("propose", ("clicks", {"tasks": 2}), {"create": True}),
    ("verdict", ("pending", 2.0), {}),
    ("ask", ("1.a",), {"wait_s": 3.0}),
    ("delete", ("clicks",), {"reason": "old"}),
    ("pause", ("clicks",), {"reason": "now"}),
    ("resume", ("clicks",), {"reason": "now"}),
    ("release", ("clicks",), {"reason": "now"}),
    ("reset", ("clicks",), {"to": "latest", "reason": "now"}),
]


class Desk:
    """Stands in for a Publisher, and notes by which thread it was asked for what."""

    def __init__(self, *given: Any, **more: Any) -> None:
        self.heard: list[Any] = [("made", given, more)]
        self.threads = {threading.get_ident()}

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any, **more: Any) -> str:
            self.threads.add(threading.get_ident())
            self.heard.append((name, given, more))
            return name

        return call


def test_each_call_reaches_the_publisher_off_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asynchronous, "Publisher", Desk)

    async def ask() -> tuple[Any, list[Any]]:
        async with AsyncPublisher(author="ana", bootstrap="b:1") as ana:
            said = [await getattr(ana, name)(*given, **more) for name, given, more in CALLS]
        return ana.publisher, said

    desk, said = asyncio.run(ask())
    assert said == [name for name, _, _ in CALLS]
    made = ("made", (None,), {"author": "ana", "bootstrap": "b:1"})
    assert desk.heard == [made, *CALLS, ("close", (), {})]
    assert threading.get_ident() not in desk.threads


def test_it_begins_with_async_with() -> None:
    with pytest.raises(RuntimeError, match="begins with `async with`"):
        _ = AsyncPublisher().publisher


def test_it_has_what_the_publisher_has() -> None:
    both = (AsyncPublisher, Publisher)
    public, twin = ({one for one in vars(cls) if not one.startswith("_")} for cls in both)
    assert public - {"publisher"} == twin
