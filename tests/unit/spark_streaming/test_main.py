"""How the engine's process ends where its Java does not come up."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from components.runtime.process.local import LocalFailed
from spark_streaming import main
from spark_streaming.jvm import JavaFailed


@pytest.mark.parametrize("error", [JavaFailed, LocalFailed])
def test_java_that_does_not_come_up_ends_the_process_with_a_sentence(
    error: type[Exception],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def start(*_: object) -> None:
        raise error("there is no java; install a JDK")

    first = {"name": "c1", "bootstrap": "b:1", "prefix": "p", "kafka": {}, "spark": {}}
    first["scratch"] = str(tmp_path / "scratch")
    for name in ("inherited", "die_with", "configure_logs", "name_process"):
        monkeypatch.setattr(main, name, lambda *_: None)
    monkeypatch.setattr(main, "first_line", lambda: json.dumps(first))
    monkeypatch.setattr(main, "Voices", lambda: SimpleNamespace(install=lambda: None))
    monkeypatch.setattr(main, "start_session", start)
    asked = ["--deadline", str(tmp_path / "deadline"), "--die-with", "1"]
    assert main.main(asked) == main.EXIT_NO_SPARK
    assert capsys.readouterr().err == "turbine: there is no java; install a JDK\n"
