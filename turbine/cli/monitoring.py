"""`monitoring export`: the board and the alert rules of a fleet, for Grafana and Prometheus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from turbine.cli.output import tell, write
from turbine.exporter.files import RUNBOOKS, documents
from turbine.failures import Code, Failed


def export(
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Into two files there; else on standard output."),
    ] = None,
    runbooks: Annotated[
        str, typer.Option("--runbooks", metavar="BASE", help="Where the runbooks' pages are.")
    ] = RUNBOOKS,
) -> int:
    """Print Grafana's dashboard as JSON and Prometheus' alert rules as YAML."""
    files = documents(runbooks)
    if out is None:
        for name, text in files.items():
            write(f"--- # {name}\n{text.rstrip()}")  # YAML, of which JSON is a part
        return Code.OK
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text)
    except OSError as bad:
        raise Failed(
            Code.FAILED, f"--out: {out} cannot be written ({bad.strerror}); name a folder of yours"
        ) from None
    tell(f"written: {', '.join(str(out / name) for name in files)}")
    return Code.OK
