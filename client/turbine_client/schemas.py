"""The schemas of the records that a client knows, each version with its id. Pure."""

from __future__ import annotations

import json
from importlib.resources import files

from turbine_client.framing import Framing, Version
from turbine_client.records import RECORDS


def read_versions() -> list[Version]:
    """All versions, as the repository's lock file has them."""
    text = (files("turbine_client") / "schemas.json").read_text(encoding="utf-8")
    return [Version(**entry) for entry in json.loads(text)]


FRAMING = Framing(read_versions(), RECORDS)
