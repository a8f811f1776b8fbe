"""What a reader of the pages can type: each command line as it stands there, its patterns opened,
its placeholders filled with what the demo's fleet has, and in which order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

from tests.integration.processes import ROOT
from turbine.cli.table import ENTRIES

EXCEPTIONS = ROOT / "tests" / "README.md"
HEAD = "## Not typed, and why"
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md")),
    EXCEPTIONS,
    *sorted((ROOT / "docs").rglob("*.md")),
]
PROGRAMS = r"(?:turbine|make|python -m|kcat|curl|node|pytest) (?!->)"
LEFT = re.compile(r"(?<!\S)(?!POST )[A-Z]+(?:[=/][A-Z]+)?(?!\S)|…|\$PLAN|(?<!\S)\[")
"""What nobody can type as it stands."""

FILLINGS = {
    "--at TIME": "--at '1m ago'",
    "--at …": "--at '1m ago'",
    "--days 14": "--days 1",  # the trace that is played here has two
    "--port 8081": "--port 0",
    "--port 8090": "--port 0",
    "--from TIME": "--from '5m ago'",
    "--from WHEN": "--from '1m ago'",
    "--from …": "--from '5m ago'",
    "--to TIME": "--to now",
    "--to WHEN": "--to now",
    "--to …": "--to '1m ago'",
    "diff job JOB --from WHEN": "diff job orders --from base:1",
    "JOB": "orders",
    "JOB…": "orders",
    "J": "orders",
    "OTHER": "visits",
    "get jobs NAME…": "get jobs clicks",
    "describe job NAME": "describe job clicks",
    "TASK": "orders/0",
    "JOB/TASK": "orders/0",
    "container NAME": "container container-1",
    "containers NAME…": "containers container-1",
    "--container NAME": "--container container-1",
    "--container C": "--container container-1",
    "--tier T": "--tier default",
    "shard N": "shard 7",
    "--tasks N": "--tasks 2",
    "tasks=N": "tasks=2",
    "rollback job JOB --to N": "rollback job orders --to 1",
    "--last N": "--last 5",
    "-n N": "-n 5",
    "--speed N": "--speed 60",
    "SPAN": "10m",
    "R": '"as the page says"',
    "PATH": "priority",
    "PATH=VALUE": "priority=60",
    "K=V": "margin=1.3",
    "ACTION": "scale-up",
    "WORDS": "clicks",
    "--sort S": "--sort lag",
    "--policy P": "--policy flink",
    "whatif --policy P": "whatif --policy turbine",
    "placement show 'default!1f3a0c9e2b7d'": "placement show PLAN",  # that one is of another fleet
    "--to alerts.v1/4:17": "--to alerts.v1/4:0",  # nobody knows how many a young fleet has
    "--for=running --timeout 5m": "--for=running --timeout 20s",
    "--scenario S": "--scenario step",
    "describe policy NAME": "describe policy turbine",
    "schema show NAME": "schema show ScalingDecided",
    "schema show ID": "schema show 4",
    "TOPIC": "first",
    "create TOPIC --partitions N": "create second --partitions 4",
    "generate --topic T": "generate --topic third",
    "log tail --topic T": "log tail --topic journal",
    '\'{"TOPIC":{"PARTITION":OFFSET}}\'': '\'{"orders":{"0":1}}\'',
    "contract check MESSAGE": "contract check change.bin",
    "check MESSAGE --key K --header N=V --partition P --topic T": (
        "check change.bin --key clicks --header ce_id=17 --partition 4 --topic changes.base.v1"
    ),
    "FILE": "incident.log.gz",
    "--log FILE …": "--log incident.log.gz get jobs",
    "export --out FILE": "export --out whole.log.gz",
    "export --out FILE --from … --to … --job J": (
        "export --out part.log.gz --from '5m ago' --to '1m ago' --job orders"
    ),
    "test_x.py --job J --decision ID": "test_y.py --job orders --decision ID",
    "subscribe outcomes --resume FILE": "subscribe outcomes --resume heard",
    "subscribe alerts --resume FILE": "subscribe alerts --resume told",
    "audit --resume FILE --from … --at …": "audit --resume judged --at '1m ago'",
    "--scoreboard FILE": "",  # the one that Turbine comes with
    "DIR": "drawn",
}
"""Names of the demo's fleet, of files that stand beside it, and harmless values: for each place,
with as many words around it as say what it is."""

ADDED = {
    "turbine top": "--once",
    "turbine subscribe outcomes": "--from earliest --count 1",
    "turbine subscribe alerts": "--from earliest --count 1",
    "turbine generate": "--for 1s",
    "turbine delete": "--yes",
    "turbine get jobs --watch": "^C",
    "turbine log tail --topic T --job J -n N -f": "^C",
    "turbine logs JOB -n N -f": "^C",
    "turbine logs TASK -n N -f": "^C",
    "turbine schema serve": "--port 0 ^C",
    "turbine dashboard": "--port 0 ^C",
    "turbine serve webhooks": "^C",
    "turbine serve exporter": "--metrics-port 9464 ^C curl -i localhost:9464/readyz",
    "turbine serve exporter --metrics-port 9464": "^C curl -i localhost:9464/readyz",
    "turbine serve clock": "--metrics-port 9101 ^C curl -i localhost:9101/metrics",
    "turbine serve clock --metrics-port 9101": "^C curl -i localhost:9101/metrics",
    "curl": "--fail-with-body --silent --show-error",
}
"""To what begins so: what goes on is told when to end, or interrupted (^C) once it has said
something, or what stands behind that and is typed beside it went well; what listens finds a free
port; who would be asked at a terminal has said yes."""

CODES = {
    "turbine contract check change.bin --key clicks --header": {0},
    "turbine contract check": {5},
    "turbine placement apply": {4},
    "turbine release": {1},
    "turbine wait": {0, 124},
}
"""Where the page promises another end than 0: findings, a plan of which the world has moved, a job
that is not in quarantine; and one that may have to wait for room, for as long as others run."""

CHAINS = (
    (
        "turbine webhooks verify", "turbine webhooks list", "turbine serve webhooks",
        "turbine webhooks rewind", "turbine webhooks secret",
    ),
    (
        "turbine log export --out incident", "turbine open", "turbine --log",
        "turbine dashboard --open", "turbine dashboard --port 0 --read",
    ),
    (
        "curl -X", "turbine scale clicks", "turbine publish change clicks",
        "turbine rollback clicks", "turbine pause clicks", "turbine reset clicks",
        "turbine resume clicks", "turbine wait clicks --for=running",
        "turbine publish change views", "turbine apply", "turbine subscribe alerts",
        "turbine release",
        "turbine delete", "turbine dashboard --port",
    ),
    (
        "turbine scale orders", "turbine publish change orders", "turbine rollback job",
        "turbine pause orders", "turbine reset job", "turbine resume orders",
    ),
    (
        "turbine topics", "turbine tier", "turbine generate", "turbine undrain container ",
        "turbine drain container-", "turbine undrain container-", "turbine drain container ",
        "turbine placement", "turbine serve clock",
    ),
)  # fmt: skip
"""What has to come in an order: lines that begin so. All others stand for themselves."""


class Line(NamedTuple):
    """What a page tells the reader to type."""

    page: str
    text: str
    whole: bool  # a line of its own, not a name in a sentence


def lines() -> list[Line]:
    """All of them, in the order of the pages; without what only names a command."""
    found = [one for page in PAGES for one in (*blocks(page), *spans(page))]
    texts = [one.text for one in found]
    return [one for one in found if one.whole or not only_named(one.text, texts)]


def page_of(page: Path) -> str:
    """The text of a page without programs, and without the list of what is not typed."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return text.partition(HEAD)[0]


def blocks(page: Path) -> Iterator[Line]:
    """Lines of their own, which may go on in the next one, and end with a remark."""
    for one in re.findall(rf"^ {{4}}({PROGRAMS}(?:.*\\\n)*.*)$", page_of(page), re.MULTILINE):
        text = re.split(r"\s+#\s", one.replace("\\\n", " "))[0]
        yield Line(str(page.relative_to(ROOT)), " ".join(text.split()), whole=True)


def spans(page: Path) -> Iterator[Line]:
    """Code amid a sentence."""
    for one in re.findall(rf"`({PROGRAMS}[^`]*)`", page_of(page)):
        yield Line(str(page.relative_to(ROOT)), " ".join(one.split()), whole=False)


def only_named(text: str, texts: Iterable[str]) -> bool:
    """`turbine apply` in a sentence names what another line shows how to type."""
    words = text.removeprefix("turbine ")
    return words in ENTRIES and any(one.startswith(f"{text} ") for one in texts)


def not_typed() -> dict[str, str]:
    """Beginnings of the lines that nobody types here, each with its reason."""
    table = EXCEPTIONS.read_text().partition(HEAD)[2]
    rows = re.findall(r"^\| (`.*?`) \| (.+?) \|$", table, re.MULTILINE)
    return {one: why for named, why in rows for one in re.findall(r"`([^`]*)`", named)}


def ways(text: str) -> list[str]:
    """The lines that a pattern stands for: `a|b` is one or the other, `[…]` is given or is not."""
    text = text.replace("\\|", "|")
    if "'" in text:  # quoted, so brackets are the reader's own
        return [text]
    choices = [each.split("|") for each in re.findall(r"[^\s\[\]]*\|[^\s\[\]]*", text)]
    pattern = re.sub(r"[^\s\[\]]*\|[^\s\[\]]*", "{}", text)
    found = [pattern.format(*each) for each in product(*choices)]
    bare = [re.sub(r" \[[^\]]*\]…?", "", one) for one in found]
    full = [re.sub(r" \[([^\]]*?)((?<=[A-Z]) …)?\]…?", r" \1", one) for one in found]
    return list(dict.fromkeys(bare + full))


def filled(text: str, fillings: Mapping[str, str]) -> str:
    """With what the table has for each placeholder, that with the most words around it first."""
    for place in sorted(fillings, key=len, reverse=True):
        word = re.escape(place) if place.startswith(("http:", "$")) else whole(place)
        text = fillings[place].join(re.split(word, text))
    return " ".join(text.split())


def whole(words: str) -> str:
    """The pattern of words that are no part of others."""
    return rf"(?<!\S){re.escape(words)}(?!\S)"


def typed(found: Mapping[str, str], before: Collection[str] = ()) -> list[str]:
    """All lines as they are typed, each once, but for those that others type: with names that
    were found in the fleet."""
    beside = {one.partition("^C ")[2] for one in ADDED.values()}
    left_out = (*not_typed(), *(one for one in beside if one))
    opened = (way for one in lines() for way in ways(one.text) if way not in before)
    kept = (added(one) for one in opened if not one.startswith(left_out))
    return list(dict.fromkeys(filled(one, FILLINGS | found) for one in kept))


def added(line: str) -> str:
    """With the longest of the additions that fit."""
    fits = [one for one in ADDED if f"{line} ".startswith(f"{one} ")]
    return f"{line} {ADDED[max(fits, key=len)]}" if fits else line


def in_chains(all_lines: Iterable[str]) -> list[list[str]]:
    """Those that have to come in an order, in it; before them all others, each alone."""
    places = {start: (n, at) for n, one in enumerate(CHAINS) for at, start in enumerate(one)}
    chains: list[list[tuple[int, str]]] = [[] for _ in CHAINS]
    alone = []
    for line in all_lines:
        found = [place for start, place in places.items() if line.startswith(start)]
        if found:
            chain, place = found[0]
            chains[chain].append((place, line))
        else:
            alone.append([line])
    ordered = [[line for _, line in sorted(one, key=lambda two: two[0])] for one in chains]
    return [*ordered, *alone]


def expected(line: str) -> set[int]:
    """With which codes a line may end."""
    if " ^C" in line:
        return {0, 130}
    return next((codes for start, codes in CODES.items() if line.startswith(start)), {0})
