"""What whoever lacks a package is told, and that a module of ours that is missing stays a bug."""

from __future__ import annotations

import sys

import pytest

from turbine import extras
from turbine.extras import EXTRAS, NotInstalled, lacking, require
from turbine.failures import Code, code_of


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_import_that_failed_names_the_extra(extra: str) -> None:
    for module in EXTRAS[extra]:
        told = lacking(ModuleNotFoundError("no", name=f"{module}.inner"))
        assert told is not None
        assert code_of(told) == Code.FAILED
        assert str(told) == (
            f"this needs {module}, which is not installed here; install it with"
            f" `pip install 'turbine[{extra}]'`"
        )


def test_a_module_of_ours_that_is_missing_is_a_bug() -> None:
    for error in (ModuleNotFoundError("no", name="events.gone"), ImportError("no", name="faust")):
        assert lacking(error) is None


def test_what_is_required_is_looked_for_before_it_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require("turbine up", *EXTRAS)
    monkeypatch.delitem(sys.modules, "mode", raising=False)  # another test may have loaded it
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "mode" else name)
    with pytest.raises(NotInstalled, match=r"^turbine up needs mode, .* 'turbine\[faust\]'`$"):
        require("turbine up", "api", "faust")
    require("turbine check", "spark")
