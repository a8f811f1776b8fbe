"""`config` and `version`: what was set, and what is installed. No component is loaded for it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

from typer import Context

from components.runtime.process.secrets import HIDDEN, is_secret
from turbine.cli.columns import listed
from turbine.cli.options import Shown, chosen
from turbine.cli.output import show, write
from turbine.failures import Code, Failed
from turbine.read.plain import JsonObject
from turbine_client.settings import NAMES


def view_config(context: Context, *, show_origin: bool = False, output: Shown = "table") -> int:
    """Show the settings in force. Secrets are not shown.

    --show-origin: Where each value comes from.
    """
    settings = chosen(context).settings()
    values: JsonObject = {name: getattr(settings, name) for name in NAMES}
    values["directory"] = str(settings.directory)
    values["api_token"] = settings.api_token and HIDDEN
    values |= {f"kafka.{key}": _shown(key, value) for key, value in sorted(settings.kafka.items())}
    values |= {
        f"webhooks.{name}.{key}": value if key == "secret_file" else _shown(key, value)
        for name, one in sorted(settings.webhooks.items())
        for key, value in sorted(one.items())
    }
    rows = [
        {"setting": name, "value": value, "origin": settings.origins.get(name, "default")}
        for name, value in values.items()
    ]
    titles = "SETTING, VALUE, ORIGIN" if show_origin else "SETTING, VALUE"
    return show(rows if show_origin else values, output, lambda: listed(rows, titles))


def _shown(key: str, value: str) -> str:
    return HIDDEN if is_secret(key) else value


def version(context: Context) -> int:
    """Print the version of Turbine."""
    del context
    try:
        write(f"turbine {installed('turbine')}")
    except PackageNotFoundError:
        raise Failed(
            Code.FAILED, "turbine is not installed here; `make setup` installs it"
        ) from None
    return Code.OK
