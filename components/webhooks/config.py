"""Which webhooks there are: the tables `[webhooks.NAME]` of the settings, checked.

A URL in the settings is an operator's word, and may be of a private network: where requests may go
is for whoever writes that file to say. Nobody else can: redirects are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from components.webhooks.core.outbox import RetryLimits
from events.topics import ALERTS, BY_SHORT, OUTCOMES
from turbine_client.settings import BadSettings, Settings
from turbine_client.signing import SECRETS_MAX, BadSecret, read_secret

TOPICS: Mapping[str, str] = {"outcomes": OUTCOMES, "alerts": ALERTS}
HOOKS_MAX = 32
"""Each has a client and threads of its own."""
NAMES_MAX = 100
URL_CHARACTERS_MAX = 2_000
SECRET_FILE_BYTES_MAX = 4_096
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", re.ASCII)
_URL = re.compile(r"[!-~]+", re.ASCII)
_SECRETS = ("secret", "secret_file")
_DAY_S = 86_400
_NUMBERS: Mapping[str, tuple[int, int, int]] = {
    # usual, least, most
    "timeout_s": (10, 1, 60),
    "attempts": (8, 1, 100),
    "parallel": (4, 1, 32),
    "pause_max_s": (60, 1, 3_600),
    "give_up_s": (_DAY_S, 1, 30 * _DAY_S),
}
_KEYS = ("url", *_SECRETS, "topics", "jobs", "kinds", "start", *_NUMBERS)
_STARTS = ("latest", "earliest")


@dataclass(frozen=True, slots=True)
class Hook:
    """One receiver, and what it is told."""

    name: str
    url: str = field(repr=False)
    keys: tuple[bytes, ...] = field(repr=False)
    topics: tuple[str, ...] = (OUTCOMES, ALERTS)  # short names
    jobs: tuple[str, ...] = ()  # with * for any text; none: all of them
    kinds: frozenset[str] = frozenset()  # none: all of them
    start: str = "latest"  # of one that was never there before
    timeout_s: int = 10
    limits: RetryLimits = RetryLimits()  # noqa: RUF009 - it is frozen

    def group(self, settings: Settings) -> str:
        """The consumer group that keeps its positions, for every lag tool to see."""
        return settings.group(f"webhook-{self.name}")

    @property
    def address(self) -> str:
        """Scheme, host and port, for people: the path of a URL may be a secret of its own."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def wants(self, kind: str, key: str) -> bool:
        """Is it told of this?"""
        if self.kinds and kind not in self.kinds:
            return False
        return not self.jobs or any(fnmatchcase(key, pattern) for pattern in self.jobs)


def hooks_of(settings: Settings) -> tuple[Hook, ...]:
    """All of them, by name; BadSettings says which key of which is wrong."""
    if len(settings.webhooks) > HOOKS_MAX:
        raise BadSettings(
            f"there are {len(settings.webhooks)} webhooks and at most {HOOKS_MAX} are served; run"
            " another `turbine serve webhooks` with settings of its own"
        )
    return tuple(_hook(name, table) for name, table in sorted(settings.webhooks.items()))


def _hook(name: str, table: Mapping[str, Any]) -> Hook:
    where = f"[webhooks.{name}]"
    if not _NAME.fullmatch(name):
        raise BadSettings(f"{where}: a name is 1 to 40 of a-z, 0-9 and '-'; choose another")
    unknown = next((key for key in sorted(table) if key not in _KEYS), None)
    if unknown is not None:
        raise BadSettings(f"{where}: {unknown} is no key; there are {', '.join(_KEYS)}")
    numbers = {key: _number(where, key, table) for key in _NUMBERS}
    start = table.get("start", "latest")
    if start not in _STARTS:
        raise BadSettings(f"{where}: start is {' or '.join(_STARTS)}, not {start!r}")
    topics = tuple(_topic(where, one) for one in _texts(where, "topics", table) or TOPICS)
    return Hook(
        name=name,
        url=_url(where, table.get("url")),
        keys=_keys(where, table),
        topics=tuple(dict.fromkeys(topics)),
        jobs=_texts(where, "jobs", table),
        kinds=frozenset(_kind(where, one, topics) for one in _texts(where, "kinds", table)),
        start=start,
        timeout_s=numbers["timeout_s"],
        limits=RetryLimits(
            attempts=numbers["attempts"],
            give_up_ms=numbers["give_up_s"] * 1_000,
            pause_ms_max=numbers["pause_max_s"] * 1_000,
            parallel=numbers["parallel"],
        ),
    )


def _url(where: str, url: object) -> str:
    if not isinstance(url, str) or not url:
        raise BadSettings(f"{where}: url is missing; give the receiver's, such as https://…")
    if len(url) > URL_CHARACTERS_MAX or not _URL.fullmatch(url):
        raise BadSettings(
            f"{where}: url has to be {URL_CHARACTERS_MAX} characters of ASCII at most, without"
            " spaces; write others as %XX"
        )
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadSettings(f"{where}: url is http:// or https://, a host and a path; correct it")
    if parts.username is not None or parts.fragment:
        raise BadSettings(
            f"{where}: url holds a user or a fragment; remove it, the signature says who sends"
        )
    return url


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a number that is none is found when it is asked for
    except ValueError:
        return None
    return parts


def _keys(where: str, table: Mapping[str, Any]) -> tuple[bytes, ...]:
    if len([key for key in _SECRETS if key in table]) != 1:
        raise BadSettings(
            f"{where}: give the secret once, as secret_file or secret, or in the variable"
            f" TURBINE_WEBHOOKS__{where[10:-1].upper().replace('-', '_')}__SECRET;"
            " `turbine webhooks secret` makes one"
        )
    if "secret_file" in table:
        found = _secrets_in(where, table["secret_file"])
    else:
        given = table["secret"]
        found = given.split() if isinstance(given, str) else list(_texts(where, "secret", table))
    return _read_keys(where, found)


def keys_in(where: str, file: Path) -> tuple[bytes, ...]:
    """The keys of a file with secrets; `where` begins the sentence about what is wrong."""
    return _read_keys(where, _secrets_in(where, str(file)))


def _read_keys(where: str, found: Sequence[str]) -> tuple[bytes, ...]:
    if not 1 <= len(found) <= SECRETS_MAX:
        raise BadSettings(
            f"{where}: there are {len(found)} secrets; give the one, or up to {SECRETS_MAX} while"
            " receivers change from the one to the other"
        )
    try:
        return tuple(map(read_secret, found))
    except BadSecret as bad:
        raise BadSettings(f"{where}: {bad}") from None


def _secrets_in(where: str, file: object) -> list[str]:
    if not isinstance(file, str) or not file:
        raise BadSettings(f"{where}: secret_file is the name of a file, not {file!r}")
    try:
        with Path(file).open(encoding="utf-8") as opened:
            return opened.read(SECRET_FILE_BYTES_MAX).split()
    except (OSError, UnicodeDecodeError) as bad:
        why = bad.strerror if isinstance(bad, OSError) else "it is no text"
        raise BadSettings(
            f"{where}: the secret_file {file} cannot be read ({why}); correct its name or rights"
        ) from None


def _topic(where: str, name: str) -> str:
    if name not in TOPICS:
        raise BadSettings(f"{where}: topics are {' and '.join(TOPICS)}, not {name!r}")
    return TOPICS[name]


def _kind(where: str, kind: str, topics: Sequence[str]) -> str:
    known = sorted({one for topic in topics for one in BY_SHORT[topic].records})
    if kind not in known:
        raise BadSettings(f"{where}: kinds has {kind!r}; on these topics are {', '.join(known)}")
    return kind


def _number(where: str, key: str, table: Mapping[str, Any]) -> int:
    usual, least, most = _NUMBERS[key]
    value = table.get(key, usual)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadSettings(f"{where}: {key} is a whole number from {least} to {most}, not {value!r}")
    return value


def _texts(where: str, key: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    value = table.get(key, ())
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise BadSettings(f'{where}: {key} is a list of texts, such as ["clicks"]')
    if len(value) > NAMES_MAX:
        raise BadSettings(f"{where}: {key} has {len(value)} texts; give {NAMES_MAX} at most")
    return tuple(value)
