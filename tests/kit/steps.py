"""The scaling policy of examples/policy: installed for a test, played, and audited."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from components.auto_scaler.core.catalogue import POLICIES
from components.auto_scaler.core.evaluation import made, replayed
from events.job_config.policies.table import BUILT_IN, SETTINGS
from simulation import authors
from tests.unit.turbine import logs
from turbine.failures import Code
from turbine.installed import add_policies

ROOT = Path(__file__).parents[2]
POLICY = ROOT / "examples" / "policy" / "steps.py"
STEPS = {"policy": {"name": "steps", "settings": {"busy_most": 0.7}}}
"""What a job's config says that chooses it."""
MISSING = (
    "made with the policy steps, which is not installed here; install the distribution that"
    " brings it, and audit again"
)


def distribution(folder: Path, points: str = "steps = steps:StepsPolicy") -> Path:
    """The folder, as `pip` would leave it: whoever has it on its path finds the policy."""
    (folder / "steps.py").write_text(POLICY.read_text())
    about = folder / "steps_policy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: steps-policy\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[turbine.policies]\n{points}\n")
    return folder


def forget() -> None:
    """Makes this process look again for what is installed."""
    for name in set(POLICIES) - set(BUILT_IN):
        del POLICIES[name], SETTINGS[name]
    sys.modules.pop("steps", None)
    for known in (add_policies, made, replayed):
        known.cache_clear()


def path_with(site: Path | None) -> str:
    """The path of a process that has the folder's policy, or none but Turbine's."""
    return os.pathsep.join([str(ROOT), str(ROOT / "client"), *([str(site)] if site else [])])


def run(
    *line: str, module: str = "turbine", site: Path | None = None, **environment: str
) -> tuple[int, str, str]:
    """A command in a process of its own, where the distribution is installed or not."""
    ended = subprocess.run(
        [sys.executable, "-m", module, *line],
        env={**os.environ, **environment, "PYTHONPATH": path_with(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def played(path: Path, monkeypatch: pytest.MonkeyPatch, seed: int = logs.SEED) -> Path:
    """The log of a fleet whose authors want jobs to be sized by it."""
    monkeypatch.setattr(authors, "SMALLEST", {**authors.SMALLEST, **STEPS})
    return logs.write(path, inspect.unwrap(logs.told)(seed))


def audited(site: Path | None, *log: str, **environment: str) -> tuple[int, Mapping[str, Any]]:
    """What `turbine audit` finds in a log, but for what liars have forged in it."""
    code, out, err = run(*log, "audit", "-o", "json", site=site, **environment)
    assert code in {Code.OK, Code.FINDINGS}, err
    found: dict[str, Any] = json.loads(out)
    why = found["not_checkable"]
    found["not_checkable"] = [one for one in why if "unknown logic" not in one["sentence"]]
    return code, found


def counts_of(found: Mapping[str, Any], component: str) -> Mapping[str, int]:
    """What an audit counted of a component's decisions."""
    return next(one for one in found["components"] if one["component"] == component)
