"""Another version of a package is another code, also in a process that has imported the first."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from spark_streaming.operator import load_operator, renew

CODE = "def run(rows, context):\n    return {version}\n"


def write(root: Path, version: int) -> None:
    (root / "clicks_of_test").mkdir(exist_ok=True)
    (root / "clicks_of_test" / "__init__.py").write_text("")
    (root / "clicks_of_test" / "count.py").write_text(CODE.format(version=version))


def called(version: str) -> object:
    name = "clicks_of_test.count:run"
    renew(name, version)
    return load_operator(name)(None, None)  # type: ignore[arg-type]  # it looks at neither


def test_a_new_version_is_imported_and_an_old_one_is_not_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write(tmp_path, 1)
    assert called("clicks 1") == 1
    write(tmp_path, 2)
    assert called("clicks 1") == 1
    assert called("clicks 2") == 2
