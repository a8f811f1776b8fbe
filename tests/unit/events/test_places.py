"""Places of files are absolute; whatever a file system takes is taken, but for `..`."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from events.job_config.config import Invalid, validate_config
from events.job_config.places import PATH_CHARS_MAX, Place
from tests.unit.events.test_config import SMALLEST

PLACE: TypeAdapter[str] = TypeAdapter(Place)


@pytest.mark.parametrize(
    "root",
    [
        "/checkpoints",
        "/a/b=1/c/",
        "file:///data/x",
        "hdfs://name:8020/x",
        "s3a://bucket/turbine",
        "/my projects/.try-it/turbine/.turbine/demo/checkpoints",
        "/.hidden",
        "/a//b",
        "/...",
        "/..a/b..",
        "/ü/-x/#?%*{}:,",
        "/" + "x/" * 2_047,
    ],
)
def test_checkpoints_lie_at_absolute_places(root: str) -> None:
    assert PLACE.validate_python(root) == root


@pytest.mark.parametrize(
    "root",
    [
        "checkpoints",
        ".turbine/demo/checkpoints",
        "/",
        "s3a://bucket",
        "http://a/b",
        "s3a://user:secret@a/b",
        "//a",
        "/..",
        "/a/../b",
        "/a/..",
        "s3a://bucket/../b",
        "/a\x00b",
        "/" + "x/" * 2_048,
    ],
)
def test_no_other_places(root: str) -> None:
    with pytest.raises(ValidationError):
        PLACE.validate_python(root)
    said = validate_config({**SMALLEST, "checkpoint": {"root": root}})
    assert isinstance(said, Invalid)
    assert said.path == "checkpoint.root"
    wanted = f"at most {PATH_CHARS_MAX}" if len(root) > PATH_CHARS_MAX else "an absolute path"
    assert wanted in said.expected
