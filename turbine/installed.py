"""Finds the scaling policies that are installed beside Turbine, once in each process."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

GROUP = "turbine.policies"


@cache
def add_policies() -> tuple[str, ...]:
    """Makes all of them known to whoever decides; a sentence about each that cannot be used."""
    return tuple(filter(None, map(_added, entry_points(group=GROUP))))


def _added(point: EntryPoint) -> str:
    # Most installations have none, and then no command waits for what knows policies.
    from components.auto_scaler.core.catalogue import BadPolicy, install  # noqa: PLC0415 - see above

    try:
        install(point.load())
    except BadPolicy as bad:
        wrong = str(bad)
    except Exception as error:  # noqa: BLE001 - the import of somebody else's code
        wrong = f"it cannot be imported ({type(error).__name__}: {error})"
    else:
        return ""
    whose = point.module if point.dist is None else point.dist.name
    return f"policy {point.name} of {whose}: {wrong}; mend it, or uninstall {whose}"
