"""The audit as the log is read: late decisions, windows, older logics, what expired and is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.audit_planted import PLANTED, found_of
from components.auditor.kept import Misfit, keep, open_kept
from components.job_service.decide import component as job_service
from components.runtime.core.audit import auditing
from components.runtime.core.audit.audit import Audit
from components.runtime.core.audit.judging import AuditFinding
from components.runtime.core.audit.progress import TICKS_MOST, AuditProgress
from components.runtime.core.component import Component
from components.state_syncer.decide import component as state_syncer
from components.task_service.decide import component as task_service
from events.topics import CHANGES, CLOCK, JOURNAL
from events.wire.codec import Read
from simulation.process import TICKS
from tests.unit.runtime.audits import interleaved, told
from tests.unit.runtime.test_replay import reads, world

FAMILIES = ((job_service,), (state_syncer,), (task_service,))
AUTHOR = "state-syncer"


def log(author: str = AUTHOR) -> list[Read | tuple[str, int, int]]:
    ticks = {TICKS: [line.at_ms for line in world(author).log.lines[TICKS]]}
    return list(interleaved(reads(author), ticks, None))


def hearing(author: str = AUTHOR, **more: Any) -> AuditProgress:
    times = {line.at_ms for line in world(author).log.lines[TICKS]}
    return AuditProgress(world(author).log.possible, lambda _, at_ms: at_ms in times, **more)


def fed(audit: Audit, lines: Iterable[Read | tuple[str, int, int]]) -> Iterator[AuditFinding]:
    for number, one in enumerate(lines):
        if not isinstance(one, Read):
            audit.hearing.tick(*one)
        elif one.place in audit.places:
            audit.read(one)
        if not number % 5:
            yield from audit.findings()


def ended(audit: Audit, author: str = AUTHOR) -> list[AuditFinding]:
    return [*audit.findings(whole=True), *caught_up(audit, author)]


def caught_up(audit: Audit, author: str = AUTHOR) -> list[AuditFinding]:
    """As the auditor does before it keeps what it holds."""

    def again(places: Iterable[str], ends: Mapping[str, int]) -> Iterator[Read]:
        wanted = set(places)
        return (r for r in reads(author) if r.place in wanted and r.offset < ends[r.place])

    return list(audit.read_late(again))


def whole(families: Any = FAMILIES, lines: Any = None) -> list[AuditFinding]:
    audit = Audit(families, 1, hearing())
    return [*fed(audit, log() if lines is None else lines), *ended(audit)]


def test_what_lies_before_the_window_is_made_again_by_reading_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a window of next to nothing, most decisions come too late."""
    usual = told(whole())
    monkeypatch.setattr(auditing, "WINDOW_MOST", 2)
    monkeypatch.setattr(auditing, "WINDOW_KEPT", 1)
    audit = Audit(FAMILIES, 1, hearing())
    # All that was asked comes before all that was decided on it.
    lines = sorted(log(), key=lambda one: isinstance(one, Read) and one.topic == JOURNAL)
    found = list(fed(audit, lines))
    late = sum(len(desk.late) for desk in audit.desks.values())
    found += ended(audit)
    assert late > 10
    assert told(found) == usual


def test_what_waits_for_a_decision_that_never_comes_is_folded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A component that says nothing holds no more of a key than its window."""
    mute = replace(task_service, says=frozenset())
    audit = Audit([[mute]], 1, hearing())
    monkeypatch.setattr(auditing, "WINDOW_MOST", 16)
    monkeypatch.setattr(auditing, "WINDOW_KEPT", 8)
    most = 0
    for one in log():
        list(fed(audit, [one]))
        [desk] = audit.desks.values()
        most = max(most, *(desk.windows.values() or [0]))
    assert 8 < most <= 64


def test_a_decision_of_an_older_logic_is_made_again_by_the_old_code() -> None:
    """A fix changed what is said; what was said before it is judged by the functions of then."""
    fixed: Component[Any] = replace(job_service, logic="job-service/3", decide=lambda *_: iter(()))
    alone = Counter(one.verdict for one in whole([[fixed]]))
    both = Counter(one.verdict for one in whole([[fixed, job_service]]))
    assert set(alone) == {"not checkable"}
    assert both["same"] > 10
    # Forgeries of no logic at all are told once, by the newest.
    assert both["same"] + both["not checkable"] == alone["not checkable"]


def test_what_rests_on_expired_records_is_not_checkable_and_nothing_else() -> None:
    audit = Audit(FAMILIES, 1, hearing())
    audit.seal({"changes.base.v1": "rests on turbine.changes.base.v1, of which a part expired"})
    found = [*fed(audit, log()), *ended(audit)]
    verdicts = {(one.component, one.verdict) for one in found if one.sentence.startswith("rests")}
    assert verdicts == {("job-service", "not checkable")}
    assert ("state-syncer", "same") in {(one.component, one.verdict) for one in found}


def test_decisions_before_a_position_get_no_verdict() -> None:
    middle = {"journal.v1/0": world(AUTHOR).log.end("journal.v1/0") // 2}
    audit = Audit(FAMILIES, 1, hearing(), since=middle)
    found = told([*fed(audit, log()), *ended(audit)])
    assert found == {
        one for one in told(whole()) if one[1] != "journal.v1/0" or one[2] >= middle[one[1]]
    }


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.83])
def test_it_goes_on_from_what_was_kept(tmp_path: Path, share: float) -> None:
    """Every decision has its verdict once, before or after."""
    path, lines = tmp_path / "audit", log()
    cut = int(len(lines) * share)
    first = Audit(FAMILIES, 1, hearing())
    found = [*fed(first, lines[:cut]), *caught_up(first)]
    keep(path, first, {"job-service": Counter(same=3)})
    kept = open_kept(path, FAMILIES, 1)
    assert kept is not None
    assert kept.counts == {"job-service": {"same": 3}}
    heard = hearing(seen=kept.seen, high_ms=kept.high_ms)
    second = Audit(FAMILIES, 1, heard, held=kept.held)
    for name, unjudged in kept.unjudged.items():
        second.desks[name].wait_for(unjudged)
    found += [*fed(second, lines[cut:]), *ended(second)]
    assert len(found) == len(told(found))
    assert told(found) == told(whole())


def kept_file(tmp_path: Path) -> Path:
    path = tmp_path / "audit"
    audit = Audit(FAMILIES, 1, hearing())
    list(fed(audit, log()[:400]))
    keep(path, audit, {})
    return path


def test_no_file_is_a_beginning_and_another_logic_is_none_to_go_on_from(tmp_path: Path) -> None:
    assert open_kept(tmp_path / "none", FAMILIES, 1) is None
    path = kept_file(tmp_path)
    other = ((replace(job_service, logic="job-service/9"),), *FAMILIES[1:])
    for families, partitions, cluster in ((other, 1, ""), (FAMILIES, 2, ""), (FAMILIES, 1, "b")):
        with pytest.raises(Misfit, match="remove it, and the log is audited from its beginning"):
            open_kept(path, families, partitions, cluster)


@pytest.mark.parametrize("harm", ["cut", "changed", "no audit", "no text", "a directory"])
def test_a_file_that_is_spoilt_is_told_with_the_remedy(tmp_path: Path, harm: str) -> None:
    path = kept_file(tmp_path)
    text = path.read_text()
    match harm:
        case "cut":
            path.write_text(text[: len(text) // 2])
        case "changed":
            at = text.index('"packed": "') + 40
            path.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])
        case "no audit":
            path.write_text("[]\n")
        case "no text":
            path.write_bytes(b"\xff\xfe")
        case _:
            path = tmp_path
    with pytest.raises(Misfit, match=r"remove it|name another file"):
        open_kept(path, FAMILIES, 1)


def test_a_tick_is_known_asked_for_or_still_to_come() -> None:
    asked: list[int] = []

    def ticked(_: str, at_ms: int) -> bool:
        asked.append(at_ms)
        return at_ms == 1_000

    heard, at = AuditProgress(lambda *_: True, ticked), f"{CLOCK}/0"
    assert heard.ticked([at], 1_000, whole=False) is None
    for number in range(2 * TICKS_MOST + 1):
        heard.tick(at, number, 1_000 * (number + 1))
    newest = heard.now_ms
    assert heard.ticked([at], newest, whole=False) is True
    assert heard.ticked([at], newest - 1, whole=False) is False
    assert heard.ticked([at], newest + 1, whole=False) is None
    assert heard.ticked([at], newest + 1, whole=True) is False
    assert asked == []
    assert heard.ticked([at], 1_000, whole=False) is True
    assert heard.ticked([at], 1_001, whole=False) is False
    assert asked == [1_000, 1_001]


def test_records_that_were_read_before_are_passed_over() -> None:
    """A start from kept positions may read some of them again."""
    audit = Audit(FAMILIES, 1, hearing())
    lines = log()
    found = list(fed(audit, lines))
    ingress = [one for one in lines if isinstance(one, Read) and one.topic in CHANGES.values()]
    found += [*fed(audit, ingress[:20]), *ended(audit)]
    assert told(found) == told(whole())


def test_each_planted_way_to_be_no_function_of_the_log_is_found() -> None:
    """By another process than the one that decided, as in a fleet."""
    assert len(PLANTED) == 10
    assert [name for name, found in found_of().items() if not found] == []
