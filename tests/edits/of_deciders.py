"""Edits of the step that all share, and of those who decide."""

from __future__ import annotations

from tests.edits.edit import edit

RUNTIME = (
    edit(
        "what lies below the ends is passed one too far",
        "components/runtime/core/step.py",
        "self.pass_by(place, end - 1, 0)",
        "self.pass_by(place, end, 0)",
        test="runtime/test_evidence.py",
    ),
    edit(
        "what was said in the turn that came back is lost",
        "components/runtime/core/step.py",
        "return one.turn < self._turn_back",
        "return one.turn <= self._turn_back",
        test="runtime/test_step.py",
    ),
    edit(
        "of two that wait the later one says when to look",
        "components/runtime/core/step.py",
        "soonest_ms = min(queue[0].at_ms",
        "soonest_ms = max(queue[0].at_ms",
        test="runtime/test_evidence.py",
    ),
    edit(
        "a decision that can be read thaws a frozen key",
        "components/runtime/core/step.py",
        "one.frozen = one.frozen or (record.body is None and moves)",
        "one.frozen = record.body is None and moves",
        test="runtime/test_step.py",
    ),
    edit(
        "a rival takes what is owed along",
        "components/runtime/core/step.py",
        "one.unread = {i: t for i, t in one.unread.items() if t != chain}",
        "one.unread = {}",
        test="runtime/test_step.py",
    ),
    edit(
        "what waits longer for each record that comes",
        "components/runtime/core/step.py",
        "([], min(due_ms, read.at_ms + 2 * SKEW_MS))",
        "([], max(due_ms, read.at_ms + 2 * SKEW_MS))",
        test="runtime/test_evidence.py",
    ),
    edit(
        "a tick moves time back",
        "components/runtime/core/step.py",
        "self.now_ms = max(self.now_ms, at_ms)",
        "self.now_ms = at_ms",
        test="runtime/test_step.py",
    ),
    edit(
        "a commit that stood still for its time only fails",
        "components/runtime/kafka/transactions.py",
        "if not (still and error.args[0].retriable()):",
        "if not (still or error.args[0].retriable()):",
        test="runtime/test_transactions.py",
    ),
)
DECIDERS = (
    edit(
        "a success does not end the trouble",
        "projections/syncs.py",
        "running=running, plan=None, trouble=None, state=state",
        "running=running, plan=None, state=state",
        test="state_syncer/test_troubles.py",
    ),
    edit(
        "older news makes news older",
        "projections/fleet_folds.py",
        "news_ms=max(row.news_ms, read.at_ms)",
        "news_ms=read.at_ms",
        test="projections/test_fleet_folds.py",
    ),
    edit(
        "who asks again waits for the retry",
        "components/state_syncer/decide.py",
        "if streak is not None and now_ms < streak.retry_ms and change_id is None:",
        "if streak is not None and now_ms < streak.retry_ms:",
        test="state_syncer/test_troubles.py",
    ),
    edit(
        "a budget that is overdrawn is free too early",
        "components/auto_scaler/core/acting.py",
        'return "budget", said, spent[-most] + HOUR_MS',
        'return "budget", said, spent[0] + HOUR_MS',
        test="auto_scaler/test_limits.py",
    ),
    edit(
        "who wants less keeps its whole limit",
        "components/capacity_manager/core/sharing.py",
        "kept = min(row.limits.get(job, 0), wanted) - demand.tasks",
        "kept = row.limits.get(job, 0) - demand.tasks",
        test="capacity_manager/test_sharing.py",
    ),
    edit(
        "a first failure is a message's own",
        "components/webhooks/core/outbox.py",
        "own_fault = lane.failures > 1 and self._taken",
        "own_fault = self._taken",
        test="webhooks/test_outbox.py",
    ),
    edit(
        "an alert names the cause of its cause",
        "components/publisher/decide.py",
        "        cause=record.id,\n",
        "        cause=record.cause,\n",
        test="publisher/test_chain.py",
    ),
    edit(
        "a stale step moves the plan of now",
        "projections/syncs.py",
        "if plan is None or body.plan_id != plan.id:",
        "if plan is None:",
        test="state_syncer/test_troubles.py",
    ),
    edit(
        "a stale failure ends the plan of now",
        "projections/syncs.py",
        "if row.plan is None or body.plan_id != row.plan.id:",
        "if row.plan is None:",
        test="state_syncer/test_troubles.py",
    ),
    edit(
        "a head leaves its failures to the next one",
        "components/webhooks/core/outbox.py",
        "self.failures = self.counted = self.taken_before = self.first_ms = self.next_ms = 0",
        "self.failures = self.taken_before = self.first_ms = self.next_ms = 0",
        test="webhooks/test_outbox.py",
    ),
    edit(
        "a budget is free a change too late",
        "components/auto_scaler/core/acting.py",
        "if len(spent) >= most:",
        "if len(spent) > most:",
        test="auto_scaler/test_limits.py",
    ),
)
