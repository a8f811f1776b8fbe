"""Where the settings come from: flags, then TURBINE_* variables, then turbine.toml, then defaults.

The only reader of the environment. No setting reaches a fold or a decider: what they need is a
record, a part of the job's config, or a constant of their logic. A path is made absolute here,
once: one in a file is meant from where the file lies, every other from where its reader stands.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from turbine_client.errors import BadRequest
from turbine_client.topics import USUAL_PREFIX, full_name

if TYPE_CHECKING:
    import argparse

NOTHING: Mapping[str, str] = MappingProxyType({})
FILE = "turbine.toml"
DIRECTORY = Path(".turbine")
FLEET = "fleet.json"
"""In the directory: who of a fleet runs, and by which broker, as its supervisor wrote it."""
KEPT = Path("broker") / "ports.json"
"""In the directory: where the broker that is kept there listens, also while it does not run."""
NAMES = ("bootstrap", "prefix", "partitions", "replication", "directory", "api", "api_token")
_TWICE = "it is said as bootstrap; set that instead"
_LOST = "what was acknowledged would be lost with a broker; remove it"
_JUMPS = "readers would pass over records in silence; remove it"
_OTHERS = "readers who use another would know another log; remove it"
OURS: Mapping[str, str] = MappingProxyType(
    {
        "bootstrap.servers": _TWICE,
        "metadata.broker.list": _TWICE,
        "acks": _LOST,
        "request.required.acks": _LOST,
        "enable.idempotence": "a retry would write a record twice; remove it",
        "transactional.id": "one has it, and it fences all others; remove it",
        "auto.offset.reset": _JUMPS,
        "enable.auto.commit": _JUMPS,
        "enable.partition.eof": "readers find the end of the log by it; remove it",
        "isolation.level": _OTHERS,
        "partitioner": "a job's records would lie where nobody looks for them; remove it",
    }
)
"""Keys of librdkafka that every client has from us, because a promise of ours rests on each."""
_NUMBER = re.compile(r"0*[1-9][0-9]{0,8}", re.ASCII)
_BROKER = r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?"
_BROKERS = re.compile(rf"{_BROKER}(,{_BROKER})*", re.ASCII)
PREFIX_LONGEST = 100
"""A topic's name has 249 characters at most, and our longest short one a tenth of it."""
_PREFIX = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{PREFIX_LONGEST - 1}}}", re.ASCII)
_ADDRESS = re.compile(rf"https?://{_BROKER}(/[!-~]*)?", re.ASCII)


class BadSettings(BadRequest, ValueError):
    """A setting that cannot be used; the sentence says which, where it stands, and the remedy."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All that differs from one installation to another."""

    bootstrap: str = "127.0.0.1:9092"
    prefix: str = USUAL_PREFIX  # of its names at the broker: several may share a cluster
    partitions: int = 16  # for creating topics; what runs takes the number from the log
    replication: int = 1
    directory: Path = DIRECTORY  # of the local fleet: its broker, its logs, what its processes keep
    api: str = ""  # of a running API, for commands that read; found in the directory without it
    api_token: str = field(default="", repr=False)  # where what stands before that API asks for one
    # Any librdkafka key but OURS, verbatim, for every client. The one aiokafka consumer, in
    # Faust, takes those that it knows under another name (components.runtime.faust.app).
    kafka: Mapping[str, str] = field(default_factory=dict)
    # Of the containers' Spark, by Spark's names without "spark."; and where its jars are.
    spark: Mapping[str, str] = field(default_factory=dict)
    # Who is told of outcomes and alerts by HTTP, by name; components.webhooks.config reads them.
    webhooks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    # Where each comes from, "kafka.sasl.username" as well; what is not named here is a default.
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def topic(self, short: str) -> str:
        """The name at the broker of a topic of ours. A prefix has neither a dot nor a hyphen, so it
        is plain where it ends, and no two share a name of a topic, a group or a transaction."""
        return full_name(self.prefix, short)

    def group(self, name: str) -> str:
        """The consumer group, or the name of transactions, of something of ours."""
        return f"{self.prefix}-{name}"

    def job_group(self, job: str) -> str:
        """The consumer group in which the offsets of the job's tasks stand."""
        return self.group(f"job.{job}")


def given_settings(settings: Settings | None, bootstrap: str | None) -> Settings:
    """Those that a program hands over, or those in force; with the broker that it names, if any."""
    if settings is None:
        return load_settings({"bootstrap": bootstrap})
    return settings if bootstrap is None else replace(settings, bootstrap=bootstrap)


def load_settings(
    overrides: Mapping[str, object] = NOTHING,
    *,
    path: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings in force, each with its origin."""
    given = os.environ if environment is None else environment  # noqa: TID251 - the only place
    # A compose file that passes on a variable which nobody set passes on an empty one.
    env = {name: value for name, value in given.items() if value}
    file = path or Path(env.get("TURBINE_CONFIG", FILE))
    missing = path is None and "TURBINE_CONFIG" not in env and not file.exists()
    table: Mapping[str, object] = {} if missing else _read(file)
    unknown = sorted(set(table) - {*NAMES, "kafka", "spark", "webhooks"})
    if unknown:
        raise BadSettings(f"{file}: {unknown[0]} is not a setting; remove it or move it to [kafka]")
    origins: dict[str, str] = {}
    values = _named(overrides, env, table, file, origins)
    kafka = _verbatim("kafka", table, env, file, origins)
    spark = dict(_verbatim("spark", table, env, file, origins))
    if "jars" in spark:
        beside = file.parent if origins["spark.jars"] == str(file) else Path()
        spark["jars"] = str(_absolute(beside / spark["jars"]))
    for key in kafka:
        if key in OURS:
            raise BadSettings(f"{origins[f'kafka.{key}']}: {key} is not to be set: {OURS[key]}")
    return Settings(
        **values,
        kafka=kafka,
        spark=MappingProxyType(spark),
        webhooks=_webhooks(table, env, file, origins),
        origins=MappingProxyType(origins),
    )


def _named(
    overrides: Mapping[str, object],
    env: Mapping[str, str],
    table: Mapping[str, object],
    file: Path,
    origins: dict[str, str],
) -> dict[str, Any]:
    """Our own settings, each typed, by the first who names it."""
    values: dict[str, Any] = {}
    for name in NAMES:
        for found, origin in (
            (overrides.get(name), "flag"),
            (env.get(f"TURBINE_{name.upper()}"), f"TURBINE_{name.upper()}"),
            (table.get(name), str(file)),
        ):
            if found is not None:
                values[name], origins[name] = _typed(name, found, origin), origin
                break
    beside = file.parent if origins.get("directory") == str(file) else Path()
    values["directory"] = _absolute(beside / values.get("directory", DIRECTORY))
    if "bootstrap" not in origins:
        directory = values["directory"]
        values |= _by_fleet(directory / FLEET, origins) or _by_kept(directory / KEPT, origins)
    return values


def take_flags(parser: argparse.ArgumentParser) -> None:
    """The flags by which a program of ours is handed the settings of whoever starts it."""
    parser.add_argument("--bootstrap")
    parser.add_argument("--config", type=Path, help="the settings' file, by default turbine.toml")
    parser.add_argument("--fleet", type=Path, help="the directory of a local fleet")


def settings_by(given: argparse.Namespace) -> Settings:
    """The settings in force where a program was given these flags."""
    return load_settings(
        {"bootstrap": given.bootstrap, "directory": given.fleet}, path=given.config
    )


def _absolute(path: Path) -> Path:
    """With no `..` of the asker's in it either: it goes into jobs' configs, which refuse that."""
    return Path(os.path.normpath(path.expanduser().absolute()))


def _by_fleet(file: Path, origins: dict[str, str]) -> Mapping[str, object]:
    """The broker of the fleet that runs in the directory: who stands there means that one, also
    where several run on a machine and the usual port is another's."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["bootstrap"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if not isinstance(found, str) or not _BROKERS.fullmatch(found):
        return {}
    origins["bootstrap"] = str(file)
    return {"bootstrap": found}


def _by_kept(file: Path, origins: dict[str, str]) -> Mapping[str, object]:
    """The same where the fleet does not run: the usual port may be another fleet's by then."""
    try:
        port = json.loads(file.read_text(encoding="utf-8"))["broker"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if type(port) is not int or not 0 < port < 65_536:
        return {}
    origins["bootstrap"] = str(file)
    return {"bootstrap": f"127.0.0.1:{port}"}


def _webhooks(
    table: Mapping[str, object], env: Mapping[str, str], file: Path, origins: dict[str, str]
) -> Mapping[str, Mapping[str, Any]]:
    """Their tables. A secret's file lies beside the settings' file; a variable wins over both."""
    found: dict[str, Mapping[str, Any]] = {}
    for name in _table(table, "webhooks", file):
        one = dict(_table(_table(table, "webhooks", file), name, file, "webhooks."))
        kept = one.get("secret_file")
        if isinstance(kept, str) and kept:
            one["secret_file"] = str(_absolute(file.parent / kept))
        variable = f"TURBINE_WEBHOOKS__{name.upper().replace('-', '_')}__SECRET"
        origins |= {f"webhooks.{name}.{key}": str(file) for key in one}
        if variable in env:
            one.pop("secret_file", None)
            one["secret"], origins[f"webhooks.{name}.secret"] = env[variable], variable
        found[name] = MappingProxyType(one)
    return MappingProxyType(found)


def _verbatim(
    what: str,
    table: Mapping[str, object],
    env: Mapping[str, str],
    file: Path,
    origins: dict[str, str],
) -> Mapping[str, str]:
    """What librdkafka or Spark is told beyond our own settings, from the file and variables."""
    found = dict(_flat(_table(table, what, file)))
    origins |= {f"{what}.{key}": str(file) for key in found}
    prefix = f"TURBINE_{what.upper()}__"
    for name, value in sorted(env.items()):
        if name.startswith(prefix):
            key = name.removeprefix(prefix).lower().replace("_", ".")
            found[key], origins[f"{what}.{key}"] = value, name
    return MappingProxyType(found)


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    """TOML reads `sasl.username = "x"` as a table in a table; the quoted key means the same."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, _text(value)


def _read(file: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadSettings(f"{file}: no such file; TURBINE_CONFIG or --config names it") from None
    except OSError as bad:
        raise BadSettings(f"{file}: cannot be read ({bad.strerror}); name another file") from None
    except ValueError as bad:  # TOMLDecodeError and UnicodeDecodeError are both
        raise BadSettings(f"{file}: not TOML: {bad}") from None


def _table(
    table: Mapping[str, object], name: str, file: Path, within: str = ""
) -> Mapping[str, object]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        name = within + name
        raise BadSettings(f"{file}: {name} is a table; write [{name}] and its keys below it")
    return found


def _typed(name: str, value: object, origin: str) -> object:
    text = str(value)
    if name in ("partitions", "replication"):
        if isinstance(value, bool) or not _NUMBER.fullmatch(text):
            raise BadSettings(f"{origin}: {name} is a whole number above 0, not {value!r}")
        return int(text)
    if name in ("directory", "api_token"):
        return text
    if name == "prefix":
        if not _PREFIX.fullmatch(text):
            raise BadSettings(
                f"{origin}: prefix is a letter, then letters, digits and _, at most"
                f" {PREFIX_LONGEST} characters, such as staging, not {value!r:.120}"
            )
        return text
    if name == "api":
        if not _ADDRESS.fullmatch(text):
            raise BadSettings(
                f"{origin}: api is the address of a running API, such as http://127.0.0.1:8090, not"
                f" {value!r}"
            )
        return text
    if not isinstance(value, str) or not _BROKERS.fullmatch(text):
        raise BadSettings(
            f"{origin}: bootstrap is host:port, or several with commas between them, not {value!r}"
        )
    return text


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
