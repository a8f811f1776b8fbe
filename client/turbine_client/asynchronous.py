"""The same for asyncio: each call waits in a thread of the pool, and the loop goes on.

`Subscriber` needs no twin: `async for outcome in subscriber` waits in a thread as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from turbine_client.api import Api
from turbine_client.publish import Pending, Publisher
from turbine_client.settings import Settings
from turbine_client.verdicts import Verdict


class AsyncPublisher:
    """A Publisher of which each call is awaited: `async with AsyncPublisher(author="ana") as ana`.

    The broker is asked for its topics on entry, so it is not made by its constructor alone. A call
    that is cancelled goes on in its thread: what it asks for may yet stand.
    """

    def __init__(
        self, settings: Settings | None = None, *, author: str = "", bootstrap: str | None = None
    ) -> None:
        self._settings, self._author, self._bootstrap = settings, author, bootstrap
        self._publisher: Publisher | None = None

    async def __aenter__(self) -> AsyncPublisher:
        self._publisher = await asyncio.to_thread(
            Publisher, self._settings, author=self._author, bootstrap=self._bootstrap
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def publisher(self) -> Publisher:
        """The publisher that does the work; RuntimeError before `async with` made it."""
        if self._publisher is None:
            raise RuntimeError("an AsyncPublisher begins with `async with`; enter it first")
        return self._publisher

    async def change(self, job: str, *given: Any, **more: Any) -> Verdict:
        """Asks for a change of one layer and waits for the verdict; see `Publisher.change`."""
        return await asyncio.to_thread(self.publisher.change, job, *given, **more)

    async def propose(self, job: str, *given: Any, **more: Any) -> Pending:
        """Sends the change, and returns when the broker has it; see `Publisher.propose`."""
        return await asyncio.to_thread(self.publisher.propose, job, *given, **more)

    async def verdict(self, pending: Pending, wait_s: float = 30.0) -> Verdict:
        """The verdict on a change that was proposed; see `Publisher.verdict`."""
        return await asyncio.to_thread(self.publisher.verdict, pending, wait_s)

    async def ask(self, change_id: str, *, wait_s: float = 10.0) -> Verdict:
        """What became of a change that was sent before; see `Publisher.ask`."""
        return await asyncio.to_thread(self.publisher.ask, change_id, wait_s=wait_s)

    async def delete(self, job: str, *, reason: str, **more: Any) -> Verdict:
        """Asks for the job to be deleted, and waits for the verdict."""
        return await asyncio.to_thread(self.publisher.delete, job, reason=reason, **more)

    async def pause(self, job: str, *, reason: str, **more: Any) -> Verdict:
        """Asks for all tasks of the job to stop and to stay so; see `Publisher.pause`."""
        return await asyncio.to_thread(self.publisher.pause, job, reason=reason, **more)

    async def resume(self, job: str, *, reason: str, **more: Any) -> Verdict:
        """Asks for a job that an operator paused to run again."""
        return await asyncio.to_thread(self.publisher.resume, job, reason=reason, **more)

    async def release(self, job: str, *, reason: str, **more: Any) -> Verdict:
        """Asks for a quarantined job to be tried again, and waits for the verdict."""
        return await asyncio.to_thread(self.publisher.release, job, reason=reason, **more)

    async def reset(self, job: str, *, to: str, reason: str, **more: Any) -> Verdict:
        """Asks for all tasks of the job to read from elsewhere; see `Publisher.reset`."""
        return await asyncio.to_thread(self.publisher.reset, job, to=to, reason=reason, **more)

    async def close(self) -> None:
        """Stops listening; verdicts that come later can be asked for."""
        if self._publisher is not None:
            await asyncio.to_thread(self._publisher.close)


class AsyncApi:
    """An Api of which each question is awaited."""

    def __init__(self, address: str | None = None, *, settings: Settings | None = None) -> None:
        self.api = Api(address, settings=settings)

    async def jobs(self, **query: str | int) -> Mapping[str, Any]:
        """A page of the jobs; see `Api.jobs`."""
        return await asyncio.to_thread(self.api.jobs, **query)

    async def job(self, name: str) -> Mapping[str, Any]:
        """The answer about one job: all that GET /jobs/NAME tells."""
        return await asyncio.to_thread(self.api.job, name)

    async def decision(self, name: str) -> Mapping[str, Any]:
        """One decision with its evidence."""
        return await asyncio.to_thread(self.api.decision, name)

    async def lag(self, job: str) -> Mapping[str, Any]:
        """How far a job is behind."""
        return await asyncio.to_thread(self.api.lag, job)

    async def platform(self) -> Mapping[str, Any]:
        """How the control plane itself does."""
        return await asyncio.to_thread(self.api.platform)
