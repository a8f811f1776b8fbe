"""Which version of a job's package is installed, against the one that its config names."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_streaming.context import BadOperator
from spark_streaming.operator import SQL, check_installed


def install(folder: Path, version: str) -> None:
    """As pip leaves a wheel."""
    for old in folder.glob("*.dist-info"):
        (old / "METADATA").unlink()
        old.rmdir()
    told = folder / f"my_ops-{version}.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: my-ops\nVersion: {version}\n")


def test_code_that_the_log_does_not_name_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path, "1.0.0")
    check_installed("my_ops:shout", "my-ops", "1.0.0")
    with pytest.raises(BadOperator) as refused:
        check_installed("my_ops:shout", "my-ops", "9.9.9")
    assert str(refused.value) == (
        "operator my_ops:shout: the config names my-ops 9.9.9, and my-ops 1.0.0 is installed in the"
        " container; install 9.9.9, or set package.version to 1.0.0"
    )
    install(tmp_path, "9.9.9")
    check_installed("my_ops:shout", "my-ops", "9.9.9")
    with pytest.raises(BadOperator, match=r"my-ops 9\.9\.9 is installed"):
        check_installed("my_ops:shout", "my-ops", "1.0.0")


def test_what_was_not_installed_by_its_name_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    check_installed("my_ops:shout", "my-ops", "9.9.9")
    install(tmp_path, "1.0.0")
    check_installed(SQL, "my-ops", "9.9.9")
