"""`rows`: what components keep of the log, so that a start need not read all of it."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Context

from turbine.cli.options import DryRun, chosen
from turbine.cli.output import tell, write
from turbine.failures import Code
from turbine.ops.forgetting import forget as carry_out
from turbine.ops.forgetting import kept_of


def forget(
    context: Context,
    names: Annotated[
        list[str], Argument(metavar="COMPONENT...", help="Whose rows; stop them first.")
    ],
    *,
    dry_run: DryRun = False,
) -> int:
    """Have components forget what they kept of a log that was replaced.

    They begin with what the log has, from its beginning. Nothing of the log is changed.
    """
    settings = chosen(context).connected()
    verb = "would forget" if dry_run else "forgot"
    for kept in [kept_of(settings, name) for name in names]:
        if not dry_run:
            carry_out(settings, kept, tell)
        groups = f", and the positions of {', '.join(kept.groups)}" if kept.groups else ""
        write(f"{kept.component}: {verb} {kept.count} keys of {kept.topic.name}{groups}")
    return Code.OK
