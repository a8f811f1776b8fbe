"""A trace context in a header, where OpenTelemetry puts it, is passed on to the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from components.job_service.core import logic_1
from components.job_service.decide import component
from components.runtime.core.component import Component
from components.runtime.core.step import KeyState, Stepper
from components.runtime.core.store import _dump_read, _load_read
from events.generated.records import Body, ConfigChangeProposed, JobDeleteRequested
from events.job_config.strict_json import canonical_json
from events.topics import CHANGES_BASE, JOURNAL, OPERATOR
from events.wire.codec import Read, encode, headers_of
from events.wire.traces import TRACE_CHARS_MAX
from projections.jobs import Job
from tests.unit.events.messages import TRACE, read
from tests.unit.job_service.desk import SMALLEST

JOB = "orders"
VALID_MS = 1_763_476_000_000
OTHER = TRACE.replace("00-4", "00-5")
ASKED = ConfigChangeProposed(f"{VALID_MS}.a", JOB, "ann", None, canonical_json(SMALLEST))


def asked(trace: str | None, header: str | None) -> Read:
    """A change as its message is read: a trace context in its value, and one in its header."""
    headers = [] if header is None else [("traceparent", header.encode())]
    value = encode(replace(ASKED, traceparent=trace))
    return read(CHANGES_BASE, value, headers, JOB.encode())


def passed_on(found: Read, by: Component[Job] = component) -> str:
    """The header of the verdict on it."""
    owner: Stepper[Job] = Stepper(by, [], lambda *_: True, held={JOB: KeyState()})
    owner.now_ms = found.at_ms
    owner.fold(owner.held[JOB], found)
    ((topic, verdict),) = owner.would_emit(JOB, found.at_ms)
    assert (topic, verdict.kind) == (JOURNAL, "JobConfigChanged")
    return dict(headers_of(verdict, topic)).get("traceparent", b"").decode()


@pytest.mark.parametrize(
    ("trace", "header", "wanted"),
    [
        (None, TRACE, TRACE),
        (TRACE, None, TRACE),
        (OTHER, TRACE, TRACE),
        (TRACE, "t" * (TRACE_CHARS_MAX + 1), TRACE),
        (None, "t" * (TRACE_CHARS_MAX + 1), ""),
        (TRACE, "", TRACE),
        (TRACE, "garbage", TRACE),
        (TRACE, "00-\0", TRACE),
        ("gar\0bage\n", None, ""),
        (None, TRACE + "\n", ""),
        (None, TRACE.upper(), ""),
        (None, TRACE + "-more", ""),
        (None, f"00-{'0' * 32}-00f067aa0ba902b7-01", ""),
        (None, f"00-{'a' * 32}-{'0' * 16}-01", ""),
        (None, "ff" + TRACE[2:], ""),
        (None, "01" + TRACE[2:-2] + "03-\0", TRACE),
        (None, "cc" + TRACE[2:-2] + "02", TRACE[:-2] + "00"),
        (None, None, ""),
    ],
    ids=[
        *("header", "value", "both", "long beside", "long", "empty", "garbage beside"),
        *("zero beside", "garbage in the value", "line", "upper case", "more", "no trace"),
        *("no parent", "no version", "later and more", "later", "none"),
    ],
)
def test_the_header_counts_before_the_value(
    trace: str | None, header: str | None, wanted: str
) -> None:
    assert passed_on(asked(trace, header)) == wanted


def verdict_on(body: Body, topic: str) -> tuple[str, str]:
    """The kind of the verdict on a request whose header has a trace context, and its header's."""
    kind = type(body).__name__
    headers = [("ce_type", f"turbine.{kind}".encode()), ("traceparent", TRACE.encode())]
    found = read(topic, encode(body), headers, JOB.encode())
    owner: Stepper[Job] = Stepper(component, [], lambda *_: True, held={JOB: KeyState()})
    owner.now_ms = found.at_ms
    owner.held[JOB].row = Job(JOB, alive=topic == OPERATOR)
    owner.fold(owner.held[JOB], found)
    ((_, verdict),) = owner.would_emit(JOB, found.at_ms)
    return verdict.kind, dict(headers_of(verdict, JOURNAL)).get("traceparent", b"").decode()


def test_all_verdicts_pass_it_on() -> None:
    """Whoever traces a request wants to see it most where it was refused."""
    refused = replace(ASKED, set_json="{}")
    assert verdict_on(refused, CHANGES_BASE) == ("JobConfigRejected", TRACE)
    deletion = JobDeleteRequested(ASKED.change_id, JOB, "ann", "over")
    assert verdict_on(deletion, OPERATOR) == ("JobDeleted", TRACE)


def test_it_is_not_lost_with_a_request_that_is_held_back_over_a_restart() -> None:
    found = asked(OTHER, TRACE)
    assert _load_read(component, _dump_read(found)) == found


def test_the_first_logic_looked_into_the_value_alone() -> None:
    assert passed_on(asked(None, TRACE), logic_1.component) == ""
    assert passed_on(asked(OTHER, TRACE), logic_1.component) == OTHER
    assert passed_on(asked("any", None), logic_1.component) == "any"
