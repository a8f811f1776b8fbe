"""The page of answers is as the types say."""

from __future__ import annotations

from turbine.read import tables


def test_the_page_is_up_to_date() -> None:
    assert tables.PAGE.read_text() == tables.text(), "run `python -m turbine.read.tables`"
