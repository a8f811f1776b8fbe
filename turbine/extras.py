"""Which packages a part of Turbine needs beyond the base, and how whoever lacks one is told.

The base reads and writes the log. What serves the API, runs job-keyed components or runs tasks in
Spark comes with an extra, so that a machine has no more than what it does there needs.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from turbine_client.errors import Unavailable

EXTRAS = {
    "api": ("fastapi", "starlette", "uvicorn"),
    "faust": ("aiokafka", "faust", "mode"),
    "spark": ("pandas", "py4j", "pyarrow", "pyspark"),
}
"""The modules of each, as they are imported."""


class NotInstalled(Unavailable):
    """A package that this machine lacks; the sentence says which extra brings it."""


def require(what: str, *extras: str) -> None:
    """NotInstalled where a module of these extras is missing; `what` needs them."""
    for extra in extras:
        for module in EXTRAS[extra]:
            if module not in sys.modules and find_spec(module) is None:
                raise NotInstalled(_sentence(what, module, extra))


def lacking(error: BaseException) -> NotInstalled | None:
    """What an import that failed means for who called; None where no extra would help."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError):
        return None
    for extra, modules in EXTRAS.items():
        if name in modules:
            return NotInstalled(_sentence("this", name, extra))
    return None


def _sentence(what: str, module: str, extra: str) -> str:
    return (
        f"{what} needs {module}, which is not installed here; install it with"
        f" `pip install 'turbine[{extra}]'`"
    )
