"""A writer that cannot know that a message is in the log says so."""

from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.writer import Writer
from turbine_client.settings import Settings


def report(offset: int | None) -> Any:
    return SimpleNamespace(topic=lambda: "t", partition=lambda: 3, offset=lambda: offset)


@pytest.fixture
def writer() -> Writer:
    return Writer(Settings(bootstrap="127.0.0.1:9"))


def test_what_has_an_offset_is_in_the_log(writer: Writer) -> None:
    writer._delivered(None, report(0))
    writer.settle()


@pytest.mark.parametrize(
    ("error", "offset", "why"),
    [(None, None, "acknowledged without an offset"), ("timed out", 5, "timed out")],
)
def test_a_message_that_may_be_lost_is_told(
    writer: Writer, error: str | None, offset: int | None, why: str
) -> None:
    writer._delivered(error, report(offset))
    with pytest.raises(AssertionError, match=rf"^1 messages were not taken, first: t/3: {why}"):
        writer.settle()
