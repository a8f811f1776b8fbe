"""Every change gets exactly one verdict, although authors race and each worker is killed once.

The benchmark `verdicts` in small, with a broker of its own: topics have fixed names, and the audit
reads all that lies on them.
"""

from collections.abc import Callable

import pytest

from benchmarks.installation import install
from benchmarks.verdicts import Size, play
from infra.kafka.broker import Broker

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.slow]


def test_every_change_gets_one_verdict_while_workers_are_killed(
    fresh_broker: Callable[..., Broker],
) -> None:
    size = Size(changes=320, per_s=50, jobs=40, authors=2)
    with install(workers=2, bootstrap=fresh_broker().bootstrap) as site:
        found, _ = play(site, size)
    assert {
        name: found[name]
        for name in ("verdicts_missing", "verdicts_doubled", "version_gaps", "audit_mismatches")
    } == {
        "verdicts_missing": 0,
        "verdicts_doubled": 0,
        "version_gaps": 0,
        "audit_mismatches": 0,
    }
    assert (found["changes"], found["workers_killed"], found["workers_fell"]) == (320, 2, 0)
    # What would show that nothing was tried: all accepted, none repeated, none audited.
    assert min(found["accepted"], found["rejected"], found["asked_again"]) > 0
    assert found["audited"] >= found["decisions"] >= 320
