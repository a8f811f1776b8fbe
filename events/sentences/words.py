"""The small words that all sentences are made of: numbers, names, instants, settings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from events.generated.records import LayerVersions
from events.job_config.strict_json import Json, Malformed, parse_json, write_path

NAME = 64
"""Characters of a name or of a reason amid a sentence: ours are shorter, and others' are cut."""
LISTED = 3
"""Things that are named; more of them are counted."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def brief(text: str, most: int = NAME) -> str:
    """The text, cut where it is longer."""
    return text if len(text) <= most else text[: most - 1] + "…"


def counted(number: float, what: str) -> str:
    """The number as people write it, and the noun of what it counts."""
    return f"{figure(number)} {_plural(number, what)}"


def count_text(number: object, what: str) -> str:
    """The number to its last digit as it stands in records, and the noun of what it counts."""
    return f"{number} {_plural(number, what)}"


def _plural(number: object, what: str) -> str:
    return what if number == 1 else f"{what}s"


def figure(number: float) -> str:
    """As people write it: whole above ten, three digits below."""
    if isinstance(number, int) or abs(number) >= 10:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def span(length_ms: int) -> str:
    """A length of time in seconds, minutes or hours."""
    seconds = length_ms / 1000
    if abs(seconds) < 120:
        return f"{figure(seconds)} s"
    return f"{figure(seconds / 60)} min" if abs(seconds) < 7200 else f"{figure(seconds / 3600)} h"


def instant(at_ms: int) -> str:
    """An instant to the second, in UTC."""
    try:
        return f"{_EPOCH + timedelta(milliseconds=at_ms):%Y-%m-%dT%H:%M:%SZ}"
    except OverflowError:  # no clock says that
        return f"millisecond {at_ms}"


def listed(names: Sequence[str], most: int = LISTED) -> str:
    """The first of them by name, and how many more there are."""
    return joined([brief(name, 32) for name in names], most) or "none"


def by(author: str) -> str:
    """Whose it is, where that is told."""
    return f" by {brief(author, 40)}" if author else ""


def why(*reasons: str) -> str:
    """What follows at the end; the first that says anything."""
    found = next(filter(None, reasons), "")
    return f": {found}" if found else ""


def version(versions: LayerVersions) -> str:
    """As people read it: base, provisioner, scaler, oncall."""
    return f"{versions.base}.{versions.provisioner}.{versions.scaler}.{versions.oncall}"


# --- settings


def plain_of(text: str) -> Mapping[str, Json]:
    """An object that a record holds as text; nothing where it holds none."""
    try:
        found = parse_json(text, what="it")
    except Malformed:
        return {}
    return found if isinstance(found, dict) else {}


def settings(values: Mapping[str, Json], most: int = LISTED) -> str:
    """`tasks 4, package.version 1.4.2 and 3 more`; "" of none."""
    told = [f"{brief(path, 40)} {_value(value)}" for path, value in _leaves(values)]
    return joined(told, most)


def joined(parts: Sequence[str], most: int = LISTED) -> str:
    """By commas and an "and", more than so many counted; "" of none."""
    kept = [*parts[:most], *([f"{len(parts) - most} more"] if len(parts) > most else [])]
    return " and ".join(filter(None, (", ".join(kept[:-1]), *kept[-1:])))


def _leaves(values: Mapping[str, Json], above: tuple[str, ...] = ()) -> Iterator[tuple[str, Json]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*above, key))
        else:
            yield write_path((*above, key)), value


def _value(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return figure(value)
        case str():
            return brief(value, 40) or "empty"
        case list():
            return f"({counted(len(value), 'value')})"
        case _:
            return "empty"


def amounts(pairs: Iterable[tuple[str, float]]) -> str:
    """Of resources: `2 cpu_cores and 1,024 memory_bytes`."""
    return joined([f"{figure(amount)} {brief(name, 32)}" for name, amount in pairs])
