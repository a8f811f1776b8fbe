"""What is said where Java is not there; foreign projects name exact versions and no address."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.foreign.java import PROJECT, fetch
from tests.foreign.node import LOCK


def test_without_java_it_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(PROJECT / "pom.xml", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch(tmp_path) == (
        "there is no JDK with Maven on this machine; install both to run this test"
    )


def test_neither_project_says_where_packages_come_from() -> None:
    pom = (PROJECT / "pom.xml").read_text()
    assert re.findall(r"<version>(.*?)</version>", pom)
    assert re.findall(r"<version>[^<]*[\[\](),$][^<]*</version>", pom) == []
    assert "<repositor" not in pom
    assert '"resolved"' not in LOCK.read_text()
