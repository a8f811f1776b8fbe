"""Where files of a job may lie: checkpoints, and what is written to a directory. Pure."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

PATH_CHARS_MAX = 4_096
"""As long as a path may be on Linux."""

# A port may follow a host, but no password fits before the @ of a container of Azure's. Of a path
# only `..` is refused, which leads out of where somebody was let in, and a second slash ahead, by
# which Hadoop takes the first name for a host.
_SEGMENT = r"([^/.\x00][^/\x00]*|\.|\.[^/.\x00][^/\x00]*|\.\.[^/\x00]+)"
PLACES = (
    r"^((file|hdfs|s3a|gs|abfss)://[A-Za-z0-9._@-]{0,255}(:[0-9]{1,5})?)?"
    rf"/{_SEGMENT}(/+{_SEGMENT})*/*$"
)
PLACE_TOLD = (
    'an absolute path or URL without "..", such as "/checkpoints" or "s3a://bucket/turbine"'
)

Place = Annotated[str, Field(pattern=PLACES, max_length=PATH_CHARS_MAX)]
