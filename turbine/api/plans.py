"""Plans that were shown and may be applied by their ids: few, for a while, and as they were."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from turbine.api.problems import RequestRefused
from turbine.read.plain import JsonObject
from turbine.read.state.view import View
from turbine_client.verdicts import Verdict

PLANS_MAX = 200
PLAN_MS = 10 * 60_000
"""As long as a person may take to read one; after that the world has most likely moved on."""

Fingerprint = Callable[[View], object]
"""What a plan rests on, of what the log says: where that is another one, the plan is void."""
Act = Callable[[float], Verdict | JsonObject]
"""Makes the change, with so much patience for its verdict; of what needs none, the answer."""


@dataclass(frozen=True, slots=True)
class ShownChange:
    """One change that was shown and not made."""

    subject: str
    fingerprint: Fingerprint
    rests_on: object
    act: Act
    expires_ms: int


class Plans:
    """The plans of this server, by their ids. Used from any thread; time comes from outside."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._plans: OrderedDict[str, ShownChange] = OrderedDict()
        self._applied: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._plans)

    def keep(
        self,
        subject: str,
        view: View,
        fingerprint: Fingerprint,
        act: Act,
    ) -> tuple[str, int]:
        """Keeps a plan; its id, and when it is forgotten. The oldest makes room."""
        name, expires_ms = secrets.token_hex(8), self._now_ms() + PLAN_MS
        with self._lock:
            self._forget()
            while len(self._plans) >= PLANS_MAX:
                self._plans.popitem(last=False)
            self._plans[name] = ShownChange(
                subject, fingerprint, fingerprint(view), act, expires_ms
            )
        return name, expires_ms

    def take(self, name: str, view: View) -> ShownChange:
        """The plan, which is nobody else's from now on; a refusal where it cannot be applied."""
        with self._lock:
            self._forget()
            plan = self._plans.pop(name, None)
            if plan is not None:
                self._applied[name] = None
                while len(self._applied) > PLANS_MAX:
                    self._applied.popitem(last=False)
            elif name in self._applied:
                raise _conflict("plan-applied", "this plan was applied, or refused, before")
        if plan is None:
            raise RequestRefused(
                404,
                "no-such-plan",
                f"there is no such plan; one is kept for {PLAN_MS // 60_000} minutes, so plan"
                " again with dry_run",
                "path.id",
            )
        if plan.fingerprint(view) != plan.rests_on:
            raise _conflict("plan-stale", f"{plan.subject} has moved since this was planned")
        return plan

    def _forget(self) -> None:
        now_ms = self._now_ms()
        for name in [name for name, plan in self._plans.items() if plan.expires_ms <= now_ms]:
            del self._plans[name]


def _conflict(kind: str, sentence: str) -> RequestRefused:
    return RequestRefused(409, kind, f"{sentence}; look at it again and plan anew", "path.id")
