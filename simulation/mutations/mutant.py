"""What a planted bug is: a rule that is left out, and who has to notice."""

from __future__ import annotations

from dataclasses import dataclass

STEP = "components/runtime/core/step.py"
TIMES = "components/runtime/core/progress.py"
STORE = "components/runtime/core/store.py"
INGRESS = "projections/ingress.py"
JOBS = "projections/jobs.py"
DECIDE = "components/job_service/decide.py"
OVERRIDES = "components/job_service/core/overrides.py"
MERGE = "events/job_config/merge.py"
SCALER = "simulation/small_scaler.py"
PROCESS = "simulation/process.py"
HISTORY = "simulation/checkers/history.py"
IDENTITY = "client/turbine_client/identity.py"
EVIDENCE = "simulation/checkers/evidence.py"

STEP_TESTS = "tests/unit/runtime/test_step.py::"
EVIDENCE_TESTS = "tests/unit/runtime/test_evidence.py::"
STORE_TESTS = "tests/unit/runtime/test_store.py::"
DECIDE_TESTS = "tests/unit/job_service/test_decide.py::"


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One text of one file, and what stands there instead."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule that is left out. Histories notice it, or, where `why` says they cannot, a test."""

    name: str
    changes: tuple[TextEdit, ...]
    aimed: str = ""  # the test that fails without the rule
    why: str = ""  # why histories stay right without it
    cast: str = ""  # the component without which no seed can notice


def left_out(name: str, file: str, old: str, new: str, *, aimed: str = "", why: str = "") -> Mutant:
    return Mutant(name, (TextEdit(file, old, new),), aimed, why)
