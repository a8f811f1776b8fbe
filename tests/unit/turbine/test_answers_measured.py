"""What the benchmark of answers measures is an answer of the kind it says, or no figure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.answers import get_jobs_ms_api, get_jobs_ms_log, help_ms
from benchmarks.children import ChildFailed

HEARD = [
    sys.executable,
    "-c",
    "import sys; open(sys.argv[1], 'a').write(' '.join(sys.argv[2:]) + chr(10))",
]


def test_each_line_is_run_so_often_and_once_before(tmp_path: Path) -> None:
    kept = tmp_path / "lines"
    fleet = tmp_path / "a fleet"
    asked = [*HEARD, str(kept)]
    assert all(
        figure > 0
        for figure in (
            get_jobs_ms_api(fleet, asked, 2),
            get_jobs_ms_log(fleet, asked, 2),
            help_ms(asked, 2),
        )
    )
    assert kept.read_text().splitlines() == [
        *[f"--fleet {fleet} --verbose get jobs"] * 3,
        *[f"--fleet {fleet} --from-log get jobs"] * 3,
        *["--help"] * 3,
    ]


def test_what_no_api_answered_is_no_figure_of_an_api(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match=r"(?s)no API is known.*no broker answers"):
        get_jobs_ms_api(
            tmp_path, [sys.executable, "-P", "-m", "turbine", "--bootstrap", "127.0.0.1:1"], 1
        )
