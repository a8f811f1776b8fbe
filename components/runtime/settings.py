"""Where the settings come from: flags, then TURBINE_* variables, then turbine.toml, then defaults.

The only reader of the environment. No setting reaches a fold or a decider: what they need is a
record, a part of the job's config, or a constant of their logic.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

NOTHING: Mapping[str, str] = MappingProxyType({})
FILE = "turbine.toml"


class BadSettings(ValueError):
    """A setting that cannot be used; the sentence says which, where it stands, and the remedy."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that differs from one installation to another."""

    bootstrap: str = "127.0.0.1:9092"
    partitions: int = 16  # for creating topics; what runs takes the number from the log
    replication: int = 1
    directory: Path = Path(".turbine")  # of the local broker and its logs
    kafka: Mapping[str, str] = field(
        default_factory=dict
    )  # any librdkafka key, verbatim, for every client
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)


def load_settings(
    overrides: Mapping[str, object] = NOTHING,
    *,
    path: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force, each with its origin."""
    env = os.environ if environment is None else environment  # noqa: TID251 - the only place
    file = path or Path(env.get("TURBINE_CONFIG", FILE))
    if path is None and "TURBINE_CONFIG" not in env and not file.exists():
        table: Mapping[str, object] = {}
    else:
        table = _read(file)
    kafka = {str(k): _text(v) for k, v in _table(table, "kafka", file).items()}
    kafka |= {
        name.removeprefix("TURBINE_KAFKA__").lower().replace("_", "."): value
        for name, value in sorted(env.items())
        if name.startswith("TURBINE_KAFKA__")
    }
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for name in ("bootstrap", "partitions", "replication", "directory"):
        for found, origin in (
            (overrides.get(name), "flag"),
            (env.get(f"TURBINE_{name.upper()}"), f"TURBINE_{name.upper()}"),
            (table.get(name), str(file)),
        ):
            if found is not None:
                values[name], origins[name] = _typed(name, found, origin), origin
                break
    unknown = sorted(set(table) - {"bootstrap", "partitions", "replication", "directory", "kafka"})
    if unknown:
        raise BadSettings(f"{file}: {unknown[0]} is not a setting; remove it or move it to [kafka]")
    return Settings(**values, kafka=MappingProxyType(kafka), origins=MappingProxyType(origins))  # type: ignore[arg-type]  # each was typed by _typed


def _read(file: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(file.read_text())
    except FileNotFoundError:
        raise BadSettings(f"{file}: no such file; TURBINE_CONFIG or --config names it") from None
    except tomllib.TOMLDecodeError as bad:
        raise BadSettings(f"{file}: not TOML: {bad}") from None


def _table(table: Mapping[str, object], name: str, file: Path) -> Mapping[str, object]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise BadSettings(f"{file}: {name} is a table; write [{name}] and its keys below it")
    return found


def _typed(name: str, value: object, origin: str) -> object:
    if name in ("partitions", "replication"):
        if isinstance(value, bool) or not str(value).isdigit() or int(str(value)) < 1:
            raise BadSettings(f"{origin}: {name} is a whole number above 0, not {value!r}")
        return int(str(value))
    return Path(str(value)) if name == "directory" else str(value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
