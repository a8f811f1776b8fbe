"""What a benchmark says: its figures, its peers', the machine's, and how a table shows them."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.targets import TARGETS, Target
from infra.kafka.distribution import kafka_version

_STARTED = time.monotonic()


@dataclass(frozen=True, slots=True)
class Result:
    """One run of one benchmark."""

    benchmark: str
    figures: Mapping[str, float]
    peers: Mapping[str, float]
    notes: Sequence[str]
    rows: Sequence[
        Mapping[str, Any]
    ] = ()  # of a figure for each of many things, a table of its own

    def to_json(self, machine: Mapping[str, Any]) -> str:
        """One line for programs."""
        plain: dict[str, Any] = {
            "benchmark": self.benchmark,
            "figures": {name: rounded(value) for name, value in self.figures.items()},
            "peers": {name: rounded(value) for name, value in self.peers.items()},
            "machine": machine,
            "notes": list(self.notes),
        }
        if self.rows:
            plain["rows"] = [{name: _plain(one) for name, one in row.items()} for row in self.rows]
        return json.dumps(plain, ensure_ascii=False)


def say(text: str) -> None:
    """Progress, for people who wait."""
    print(f"[{time.monotonic() - _STARTED:6.1f} s] {text}", file=sys.stderr, flush=True)


def rounded(value: float) -> float:
    """Four digits that count; whole numbers stay whole."""
    return value if isinstance(value, int) else float(f"{value:.4g}")


def share(values: Iterable[float], at: float) -> float:
    """The value below which that share of the values lies (nearest rank); 0.5 is the median."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values were measured, so nothing can be said of their distribution")
    return ordered[min(len(ordered) - 1, int(at * len(ordered)))]


def spread(name: str, values: Sequence[float]) -> dict[str, float]:
    """Median, tail and worst of some times in milliseconds."""
    return {
        f"{name}_ms_p50": share(values, 0.50),
        f"{name}_ms_p95": share(values, 0.95),
        f"{name}_ms_p99": share(values, 0.99),
        f"{name}_ms_max": max(values),
    }


def describe_machine(load_before: float | None) -> dict[str, Any]:
    """What the figures were measured on; a load beside ours makes all of them worse."""
    return {
        "cores": os.cpu_count() or 1,
        "cpu": _first("/proc/cpuinfo", "model name") or platform.processor() or "unknown",
        "memory_mb": _kilobytes("/proc/meminfo", "MemTotal") // 1024,
        "python": platform.python_version(),
        "kafka": kafka_version(),
        "load_before": load_before,
        "load_after": load(),
    }


def load() -> float | None:
    """The load of the last minute; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def peak_mb() -> float:
    """The most memory this process has had resident.

    Not `getrusage`: on Linux its maximum goes over from the process that forked this one.
    """
    peak = _kilobytes("/proc/self/status", "VmHWM")
    if peak:
        return peak / 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 1024


def resident_mb() -> float:
    """What this process has resident now; its peak where the system tells no more."""
    now = _kilobytes("/proc/self/status", "VmRSS")
    return now / 1024 if now else peak_mb()


def _first(path: str, name: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    found = (line.partition(":")[2].strip() for line in lines if line.startswith(name))
    return next(found, "")


def _kilobytes(path: str, name: str) -> int:
    return int((_first(path, name) or "0").split()[0])


def table(results: Iterable[Result]) -> str:
    """A line for each figure that has a target, then those without."""
    lines = [("benchmark", "figure", "measured", "target", "goal", "")]
    for result in results:
        known = [one for one in TARGETS if one.benchmark == result.benchmark]
        named = {one.key for one in known}
        lines += [_line(one, result.figures.get(one.key)) for one in known]
        lines += [
            (result.benchmark, key, _text(value), "", "", "")
            for key, value in result.figures.items()
            if key not in named
        ]
        lines += [
            (result.benchmark, f"peer: {key}", _text(value), "", "", "")
            for key, value in result.peers.items()
        ]
    return _aligned(lines, range(2, 5))


def listing(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for each row; what is a number in the first one stands to the right."""
    heads = list(dict.fromkeys(name for row in rows for name in row))
    lines = [tuple(heads), *(tuple(_cell(row.get(name)) for name in heads) for row in rows)]
    numbers = [at for at, name in enumerate(heads) if not isinstance(rows[0].get(name), str)]
    return _aligned(lines, numbers)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else _text(value)


def _plain(value: Any) -> Any:
    return rounded(value) if isinstance(value, float) else value


def _aligned(lines: Sequence[tuple[str, ...]], right: Container[int]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _line(one: Target, value: float | None) -> tuple[str, str, str, str, str, str]:
    unit = f" ({one.unit})" if one.unit else ""
    return (
        one.benchmark,
        f"{one.key}{unit}",
        "not measured" if value is None else _text(value),
        _bound(one, one.target),
        _bound(one, one.goal),
        one.verdict(value),
    )


def _bound(one: Target, bound: float | None) -> str:
    return "" if bound is None else f"{'≥' if one.more_is_better else '≤'} {_text(bound)}"


def _text(value: float) -> str:
    value = rounded(value)
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
