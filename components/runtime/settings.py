"""The settings, which a client has as well; see `turbine_client.settings`."""

from __future__ import annotations

from turbine_client.settings import (
    FLEET,
    KEPT,
    NAMES,
    OURS,
    BadSettings,
    Settings,
    given_settings,
    load_settings,
    settings_by,
    take_flags,
)

__all__ = [
    "FLEET",
    "KEPT",
    "NAMES",
    "OURS",
    "BadSettings",
    "Settings",
    "given_settings",
    "load_settings",
    "settings_by",
    "take_flags",
]
