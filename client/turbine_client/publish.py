"""Asks for changes and waits for their verdicts: accepted, rejected, or unknown with an id."""

from __future__ import annotations

import json
import threading
import time  # noqa: TID251 - validity and patience of a client are real time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field, replace
from typing import Any

from turbine_client.bodies import Body
from turbine_client.clients import partitions_of, producer
from turbine_client.creating import makes_a_job, tier_of
from turbine_client.emitter import BytesEmitter, WriteRefused
from turbine_client.envelope import headers_of
from turbine_client.errors import NoTopic, Unavailable
from turbine_client.identity import VALID_MS, valid_until_ms
from turbine_client.identity import change_id as name_change
from turbine_client.known_jobs import KnownTiers, hinted, in_journal, never_answered, unmeant
from turbine_client.records import (
    ConfigChangeProposed,
    JobDeleteRequested,
    OffsetResetRequested,
    PauseRequested,
    ReleaseRequested,
    ResumeRequested,
)
from turbine_client.request_values import TooLarge, encoded
from turbine_client.settings import Settings, given_settings
from turbine_client.subscribe import Subscriber
from turbine_client.topics import CHANGES, OPERATOR, partition_of
from turbine_client.verdicts import (
    VERDICTS,
    Accepted,
    Rejected,
    Unknown,
    Verdict,
    heard_in,
    verdict_of,
)

Request = JobDeleteRequested | PauseRequested | ReleaseRequested | ResumeRequested
"""What operators ask for about one job."""

VALID_S = 60.0
EARLY_S = 3.0
"""After so long without a verdict the journal is looked into, as it may be only the publisher of
outcomes that does not run. Not sooner: it means to read a whole partition."""


class Unheard(Unavailable, RuntimeError):
    """No verdict can be heard any more: where and why, and what to do."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A change that was sent; `wait` returns its verdict."""

    change_id: str
    job: str
    _future: Future[Verdict]
    refused: str = ""  # why the broker did not acknowledge it; nobody waits for a verdict then
    since_s: float = field(default_factory=time.monotonic)

    @property
    def answered(self) -> bool:
        """Is the verdict there already?"""
        return self._future.done()

    def wait(self, timeout_s: float) -> Verdict:
        """The verdict as it is published, or Unknown after the timeout; Unheard where none can
        come any more. `Publisher.verdict` knows another way to it."""
        try:
            return self._future.result(timeout_s)
        except Late:
            return self.unanswered(timeout_s)

    def unanswered(self, waited_s: float) -> Unknown:
        """What is known after so long without a verdict."""
        said = f"; is the job service running? Ask again with this id: {self.change_id}"
        if valid_until_ms(self.change_id) < time.time() * 1000:
            said = f": the time that {self.change_id} names is over; send it again under a new id"
        return Unknown(self.change_id, self.job, f"no verdict in {waited_s:g} s{said}")


class Publisher:
    """Sends changes as one author. May be used from several threads.

    The same `change_id` twice is one change, so a caller that does not know what became of its
    request sends it again under the same id, or asks.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        author: str = "",
        bootstrap: str | None = None,
    ) -> None:
        self._settings = given_settings(settings, bootstrap)
        self._author, self._tiers = author, KnownTiers(self._settings)
        self._partitions = partitions_of(self._settings).get(CHANGES["base"], 0)
        if not self._partitions:
            raise NoTopic(
                f"the broker has no topic {self._settings.topic(CHANGES['base'])};"
                " create it with `turbine topics apply`"
            )
        self._lock = threading.Lock()  # of the emitter, for as long as the broker takes
        self._emitter = BytesEmitter(producer(self._settings), self._settings.prefix, deadline_s=30)
        self._hearing = threading.Lock()  # of the two below, for a moment
        self._waiting: dict[str, Future[Verdict]] = {}
        self._lost = ""  # why no verdict can be heard any more
        # Follow first, then ask: a verdict cannot be missed.
        self._follower = Subscriber(self._settings, kinds=VERDICTS)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    # --- asking

    def change(
        self,
        job: str,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - the word of the contract
        clear: Sequence[str] = (),
        *,
        layer: str = "base",
        wait_s: float = 30.0,
        **more: Any,
    ) -> Verdict:
        """Asks for a change of one layer and waits for the verdict; see `propose` for the rest."""
        return self.verdict(self.propose(job, set, clear, layer=layer, **more), wait_s)

    def propose(
        self,
        job: str,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - the word of the contract
        clear: Sequence[str] = (),
        *,
        layer: str = "base",
        create: bool = False,
        expected_version: int | None = None,
        reason: str = "",
        expires_ms: int | None = None,
        author: str | None = None,
        change_id: str | None = None,
        valid_s: float = VALID_S,
        traceparent: str | None = None,
    ) -> Pending:
        """Sends the change, and returns at once when the broker has it.

        A whole config in the base layer would make a job where there is none. Unless `create` says
        that this is meant, nothing is sent of a job that is not there; never of such a tier.
        """
        if layer not in CHANGES:
            raise ValueError(f"layer is one of {', '.join(CHANGES)}, not {layer!r}")
        name = change_id or _new_id(valid_s)
        whole = layer == "base" and not create and makes_a_job(set or {})
        refusal = unmeant(self._settings, job) if whole else None
        if refusal := refusal or self._tiers.refusal(job, tier_of(set or {})):
            return Pending(name, job, _answered(refusal))
        body = ConfigChangeProposed(
            change_id=name,
            job=job,
            expected_version=expected_version,
            set_json=json.dumps(dict(set or {}), allow_nan=False, ensure_ascii=False),
            clear=tuple(clear),
            author=self._author if author is None else author,
            reason=reason,
            expires_ms=expires_ms,
            traceparent=traceparent,
        )
        return self._send(CHANGES[layer], job, name, body)

    def delete(
        self,
        job: str,
        *,
        reason: str,
        wait_s: float = 30.0,
        change_id: str | None = None,
        author: str | None = None,
    ) -> Verdict:
        """Asks for the job to be deleted, and waits for the verdict."""
        return self._request(
            JobDeleteRequested, job, reason, wait_s=wait_s, change_id=change_id, author=author
        )

    def pause(
        self,
        job: str,
        *,
        reason: str,
        wait_s: float = 30.0,
        change_id: str | None = None,
        author: str | None = None,
    ) -> Verdict:
        """Asks for all tasks of the job to stop and to stay so, and waits for the verdict.

        Accepted means that it is planned, or in effect already: `Accepted.effect` says which.
        """
        return self._request(
            PauseRequested, job, reason, wait_s=wait_s, change_id=change_id, author=author
        )

    def resume(
        self,
        job: str,
        *,
        reason: str,
        wait_s: float = 30.0,
        change_id: str | None = None,
        author: str | None = None,
    ) -> Verdict:
        """Asks for a job that an operator paused to run again; see `pause`."""
        return self._request(
            ResumeRequested, job, reason, wait_s=wait_s, change_id=change_id, author=author
        )

    def release(
        self,
        job: str,
        *,
        reason: str,
        wait_s: float = 30.0,
        change_id: str | None = None,
        author: str | None = None,
    ) -> Verdict:
        """Asks for a quarantined job to be tried again, and waits for the verdict."""
        return self._request(
            ReleaseRequested, job, reason, wait_s=wait_s, change_id=change_id, author=author
        )

    def reset(
        self, job: str, *, to: str, reason: str, wait_s: float = 30.0, change_id: str | None = None
    ) -> Verdict:
        """Asks for all tasks of the job to read from elsewhere: earliest, latest, an instant in
        milliseconds, or offsets such as {"orders":{"0":42}}. State from before is left behind."""
        name = change_id or _new_id(VALID_S)
        body = OffsetResetRequested(
            change_id=name, job=job, to=to, author=self._author, reason=reason
        )
        return self.verdict(self._send(OPERATOR, job, name, body), wait_s)

    def _request(
        self,
        kind: type[Request],
        job: str,
        reason: str,
        *,
        wait_s: float,
        change_id: str | None,
        author: str | None,
    ) -> Verdict:
        name = change_id or _new_id(VALID_S)
        who = self._author if author is None else author
        body = kind(change_id=name, job=job, author=who, reason=reason)
        return self.verdict(self._send(OPERATOR, job, name, body), wait_s)

    def verdict(self, pending: Pending, wait_s: float = 30.0) -> Verdict:
        """The verdict as it is published, or as the journal has it where that fails to come."""
        now_s = time.monotonic()
        limit = now_s + wait_s
        for until_s in sorted({max(now_s, min(limit, pending.since_s + EARLY_S)), limit}):
            verdict = pending.wait(max(0.0, until_s - time.monotonic()))
            if pending.refused or not isinstance(verdict, Unknown):
                return hinted(self._settings, verdict)
            known = in_journal(self._settings, pending.change_id, pending.job)
            if known is not None:
                return hinted(self._settings, known)
        why = never_answered(self._settings, pending.change_id, pending.job)
        told = pending.unanswered(wait_s)
        return replace(told, explanation=why) if why else told

    def ask(self, change_id: str, *, wait_s: float = 10.0) -> Verdict:
        """What became of a change that was sent before, by this publisher or another."""
        since_ms = max(0, valid_until_ms(change_id) - 2 * VALID_MS)
        reader = Subscriber(self._settings, start=since_ms, kinds=VERDICTS)
        since_s = time.monotonic()
        try:
            for patience_s in sorted({min(wait_s, EARLY_S), wait_s}):
                verdict = _heard_of(change_id, reader, since_s + patience_s)
                if verdict := verdict or in_journal(self._settings, change_id):
                    return verdict
        finally:
            reader.close()
        return Unknown(change_id, "", f"no verdict on {change_id} was found")

    def _send(self, topic: str, job: str, name: str, body: Body) -> Pending:
        value, partition = encoded(job, body), partition_of(job, self._partitions)
        headers = headers_of(job, name, type(body).__name__, value)
        with self._lock:
            future = self._expect(name)
            try:
                self._emitter.write(topic, partition, job.encode(), value, headers)
                self._emitter.settle()
            except WriteRefused as refused:
                self._answer(name, Unknown(name, job, f"{refused}; nothing is known of it"))
                return Pending(name, job, future, str(refused))
        return Pending(name, job, future)

    # --- hearing

    def _expect(self, name: str) -> Future[Verdict]:
        with self._hearing:
            if self._lost:
                raise Unheard(
                    f"no verdict can be heard any more: {self._lost}; nothing was sent, make a new"
                    " Publisher when that is put right"
                )
            return self._waiting.setdefault(name, Future())

    def _answer(self, name: str, verdict: Verdict) -> None:
        with self._hearing:
            future = self._waiting.pop(name, None)
        if future is not None:
            future.set_result(verdict)

    def _follow(self) -> None:
        try:
            while not self._closed.is_set():
                for outcome in self._follower.poll(0.2):
                    verdict = heard_in(outcome)
                    if verdict is not None:
                        self._answer(outcome.change_id, verdict)
        except Exception as error:  # noqa: BLE001 - a thread has no caller: who waits is told
            self._end(str(error) or repr(error), error)

    def _end(self, why: str, error: Exception | None = None) -> None:
        """Whoever waits for a verdict is told at once that none can come, and who asks from now."""
        with self._hearing:
            self._lost = self._lost or why
            waiting, self._waiting = self._waiting, {}
        for name, future in waiting.items():
            lost = Unheard(
                f"no verdict can be heard any more: {why}; the change may yet stand, ask a new"
                f" Publisher for {name}"
            )
            lost.__cause__ = error
            future.set_exception(lost)

    def close(self) -> None:
        """Stops listening; verdicts that come later can be asked for."""
        self._closed.set()
        self._thread.join(5)
        self._end("this Publisher was closed")
        self._follower.close()

    def __enter__(self) -> Publisher:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _heard_of(change_id: str, reader: Subscriber, limit: float) -> Verdict | None:
    while time.monotonic() < limit:
        for outcome in reader.poll(0.5):
            if outcome.change_id == change_id and (verdict := heard_in(outcome)) is not None:
                return verdict
    return None


def _answered(verdict: Verdict) -> Future[Verdict]:
    future: Future[Verdict] = Future()
    future.set_result(verdict)
    return future


def _new_id(valid_s: float) -> str:
    if not 0 < valid_s * 1000 <= VALID_MS:
        raise ValueError(f"valid_s is above 0 and at most {VALID_MS // 1000}, not {valid_s:g}")
    until_ms = int((time.time() + valid_s) * 1000)
    return name_change(until_ms, uuid.uuid4().hex)  # noqa: TID251 - a client's own token


__all__ = [
    "VERDICTS",
    "Accepted",
    "Pending",
    "Publisher",
    "Rejected",
    "TooLarge",
    "Unheard",
    "Unknown",
    "Verdict",
    "encoded",
    "verdict_of",
]
