"""A job's minutes, put together once more with the reports that each is made of."""

from __future__ import annotations

import pytest

from benchmarks.recorded_job import Recorded
from components.auto_scaler.decide import component
from events.generated.records import ScalingDecided, TaskLoadReported
from events.wire.codec import Read, encode
from projections.scaling import ring
from tests.unit.turbine.recordings import JOB, recorded, words
from turbine.cli.reasons import lines_of
from turbine.read.answers.evaluation import is_verdict, rebuild, verdict_of
from turbine.read.answers.evidence import MINUTES, Node, tree_of
from turbine.read.answers.journal import body_of
from turbine.read.answers.load_minutes import LoadMinute, Minutes, row_at
from turbine.read.answers.scaling import consequences
from turbine.read.sources.log import Standing


def minutes_of(log: Recorded) -> list[LoadMinute]:
    """All its minutes, the oldest first."""
    told, found = Minutes(), list[LoadMinute]()

    def observe(read: Read, stands: bool) -> None:
        if stands and isinstance(read.record.body, TaskLoadReported):
            found.extend(told.take(read, read.record.body))

    log.heard(component, JOB, observe)
    return found


@pytest.mark.parametrize(("scenario", "disturbed"), [("spike", False), ("step", True)])
def test_every_report_is_in_one_minute_and_the_minutes_are_the_scalers(
    scenario: str, disturbed: bool
) -> None:
    log = recorded(scenario, disturbed=disturbed)
    heard = minutes_of(log)
    row = row_at(log, JOB, log.at(10**15, ["loads.v1", "journal.v1"]))
    assert row is not None
    kept = list(ring.minutes(row.learnt.ring))
    newest = [one.minute for one in heard[-len(kept) :]]
    assert [one.at_ms for one in newest] == [one.at_ms for one in kept]
    assert [one.rate for one in newest] == pytest.approx([one.rate for one in kept], rel=1e-6)
    reports = [report for one in heard for report in one.reports]
    assert len(set(reports)) == len(reports)
    loads = [read for read in log.reads if isinstance(read.record.body, TaskLoadReported)]
    assert len(loads) - len(reports) < 10, "but for the round that is open, or was given up"
    for one in heard:
        assert len(one.reports) == round(one.minute.heard * one.minute.tasks)


def test_every_verdict_is_made_again_on_what_it_was_made_on() -> None:
    for policy in ("turbine", "reactive"):
        log = recorded("spike", policy, disturbed=True)
        verdicts = [one for one in words(log) if is_verdict(body_of(one))]
        assert len(verdicts) > 3
        for one in verdicts:
            found = rebuild(log, one)
            assert found is not None
            assert found.same
            assert verdict_of(found.evaluation).action == found.verdict.action
            body = body_of(one)
            if isinstance(body, ScalingDecided):
                assert found.verdict.action == body.action


def test_nothing_is_rebuilt_of_a_log_that_has_expired() -> None:
    log = recorded("spike", disturbed=True)
    last = words(log)[-1]
    assert rebuild(Recorded([]), last) is None


# --- the tree


def tree(log: Recorded, decision: Standing) -> Node:
    chain = log.decisions(job=JOB)
    return tree_of(log, chain, decision, None, became=consequences(chain, decision))


def find(node: Node, name: str) -> list[Node]:
    return [one for _, one in lines_of(node) if one.name.startswith(name)]


def test_a_tree_goes_from_the_number_back_to_the_reports() -> None:
    log = recorded("step", disturbed=True)
    decision = [one for one in words(log) if isinstance(body_of(one), ScalingDecided)][-1]
    body = body_of(decision)
    assert isinstance(body, ScalingDecided)
    root = tree(log, decision)
    [decided], [raw] = find(root, "decided"), find(root, "raw number")
    assert decided.value["tasks"] == body.final_tasks
    assert raw.value == {"tasks": body.raw_tasks}
    chain, names = decided, list[str]()
    while chain.nodes and not chain.name.startswith("raw"):
        chain = chain.nodes[0]
        names.append(chain.name)
    assert names == [
        *[f"constraint: {one.name}" for one in reversed(body.constraints)], "raw number"
    ]  # fmt: skip
    newest = find(root, "minute")[0]
    by_position = {f"{one.place}:{one.offset}": one.record.body for one in log.reads}
    reports = [by_position[at] for leaf in newest.nodes for at in leaf.positions]
    assert all(isinstance(one, TaskLoadReported) for one in reports)
    rate = sum(one.records_in_per_s for one in reports if isinstance(one, TaskLoadReported))
    assert newest.value["rate"] == pytest.approx(rate)
    assert len([one for one in find(root, "minute") if one.name == "minute"]) == MINUTES
    assert {one.name for one in find(root, "then: ")} >= {"then: SyncCommitted"}
    assert all(at in by_position for _, one in lines_of(root) for at in one.positions)


def test_nothing_in_a_tree_is_later_than_the_evidence() -> None:
    log = recorded("step", disturbed=True)
    for decision in words(log)[:12]:
        end = decision.read.record.evidence
        for _, node in lines_of(tree(log, decision)):
            if node.name.startswith(("task ", "minute", "config", "running", "usual")):
                for at in node.positions:
                    place, _, offset = at.partition(":")
                    assert int(offset) < end[place]


def test_of_other_components_it_is_what_they_had_read_since_they_spoke_last() -> None:
    log = recorded("step", disturbed=True)
    decisions = log.decisions(job=JOB)
    accepted = [one for one in decisions if one.read.record.kind == "JobConfigChanged"][-1]
    root = tree(log, accepted)
    kinds = {node.value for node in root.nodes if node.name == "read"}
    assert kinds == {"ConfigChangeProposed", "SyncPlanned", "SyncCommitted"}
    [previous] = find(root, "previous decision")
    assert previous.value == "ScalingDecided"
    by_position = {f"{one.place}:{one.offset}": one.record for one in log.reads}
    assert by_position[previous.positions[0]].id == accepted.read.record.parent
    assert encode(by_position[root.positions[0]].body) == accepted.read.record.value  # type: ignore[arg-type]  # it has a body
