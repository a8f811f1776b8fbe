"""Has a running API answer a line that reads: it holds already what a fold of the log would tell.

Says nothing and leaves the line alone where none answers, where it is another build or another
log's, or where it cannot answer in time. Imports no Kafka client, no schema and no parser of lines:
to load them takes longer than the answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from turbine.cli.table import reading

if TYPE_CHECKING:
    from turbine_client.settings import Settings

CONNECT_S = 0.3
"""A server of this machine or of the next room takes a connection within milliseconds."""
ANSWER_S = 3.0
"""What takes longer there, or hangs, is read from the log; nobody waits long for both."""
TARGET_BYTES_MAX = 40 * 1024
"""A line that is longer is run here: the server reads no longer path."""
ANSWER_BYTES_MAX = 64 * 1024 * 1024
PATH = "/api/v1/command"


class RemoteUnanswered(Exception):
    """Why a line is run here; told to whoever asks for it, or to all where `loud`."""

    def __init__(self, sentence: str, *, loud: bool = False) -> None:
        super().__init__(sentence)
        self.loud = loud


def ask(ahead: Sequence[str], words: Sequence[str]) -> int | None:
    """The exit code of a line that an API has answered, which is printed by then; None where it is
    to be run here. `ahead` are its global options."""
    if "--from-log" in ahead or reading(words) is None or _said(ahead, "--log") is not None:
        return None
    try:
        code, said = _answered(ahead, words)
    except RemoteUnanswered as why:
        if why.loud or "--verbose" in ahead:
            sys.stderr.write(f"turbine: {why}; the log is read instead\n")
        return None
    try:
        for stream, text in said:
            out = sys.stderr if stream == "err" else sys.stdout
            out.write(text)
            out.flush()
    except BrokenPipeError:  # as `| head` ends: no failure of ours, and the code of a line run here
        _write_nowhere()
        return 1
    return code


def _write_nowhere() -> None:
    """What is left in the buffer would be tried again as the process ends, and told as a bug."""
    import os

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _said(ahead: Sequence[str], name: str) -> str | None:
    """What a global option says; the last one counts."""
    found = None
    for at, word in enumerate(ahead):
        if word == name and at + 1 < len(ahead):
            found = ahead[at + 1]
        elif word.startswith(f"{name}="):
            found = word.removeprefix(f"{name}=")
    return found


def _answered(ahead: Sequence[str], words: Sequence[str]) -> tuple[int, list[tuple[str, str]]]:
    settings = _settings(ahead)
    url = _address(settings)
    status, body = _get(url, _target(settings, words), settings.api_token)
    try:
        told: Any = json.loads(body)
        if status == 200:
            return int(told["code"]), [(stream, text) for stream, text in told["said"]]
        kind, detail = str(told["type"]), str(told["detail"])
    except (ValueError, KeyError, TypeError):
        raise RemoteUnanswered(f"what answers at {url} is no API of this build") from None
    raise RemoteUnanswered(f"the API at {url}: {detail}", loud=kind.endswith(":behind"))


def _settings(ahead: Sequence[str]) -> Settings:
    from pathlib import Path

    from turbine_client.settings import BadSettings, load_settings

    config, named = _said(ahead, "--config"), ("--bootstrap", "--fleet")
    bootstrap, directory = (_said(ahead, name) for name in named)
    try:
        return load_settings(
            {"bootstrap": bootstrap, "directory": directory},
            path=None if config is None else Path(config),
        )
    except BadSettings as bad:
        raise RemoteUnanswered(str(bad)) from None


def _address(settings: Settings) -> str:
    """Where the API is: what is said wins over what is found."""
    from turbine.ops.members import address_of

    found = settings.api or address_of(settings.directory)
    if found is None:
        raise RemoteUnanswered(
            f"no API is known: none has said in {settings.directory} where it is, and TURBINE_API"
            " is not set"
        )
    return found.rstrip("/")


def _target(settings: Settings, words: Sequence[str]) -> str:
    from urllib.parse import quote

    from turbine.cli.stamp import stamp
    from turbine.cli.terminal import terminal
    from turbine.read.moments import now_ms

    here = terminal()
    # Who names an API and no broker means the log that this API has.
    origins, found = settings.origins, not settings.api
    meant = settings.bootstrap if "bootstrap" in origins or found else ""
    prefix = settings.prefix if "prefix" in origins or found else ""
    asked = {
        "words": list(words),
        "bootstrap": meant,
        "prefix": prefix,
        "stamp": stamp(),
        "now_ms": now_ms(),
        "tty": here.tty,
        "columns": here.columns,
        "environment": dict(here.environment),
    }
    target = f"{PATH}?asked={quote(json.dumps(asked, separators=(',', ':')))}"
    if len(target) > TARGET_BYTES_MAX:
        raise RemoteUnanswered("the line is too long to be asked of an API")
    return target


def _get(url: str, target: str, token: str) -> tuple[int, bytes]:
    """One request. By hand: `http.client` would load TLS and the parser of mail, which takes as
    long as all else here. To HTTP/1.0 no server answers in chunks."""
    import socket
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    secure, host = parts.scheme == "https", parts.hostname or ""
    asked = [f"GET {parts.path}{target} HTTP/1.0", f"Host: {parts.netloc}", "Connection: close"]
    asked += [f"Authorization: Bearer {token}"] if token else []
    try:
        with socket.create_connection(
            (host, parts.port or (443 if secure else 80)), CONNECT_S
        ) as raw:
            raw.settimeout(ANSWER_S)
            door = raw
            if secure:
                import ssl

                door = ssl.create_default_context().wrap_socket(raw, server_hostname=host)
            door.sendall("\r\n".join([*asked, "", ""]).encode())
            said = _all_of(door)
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        raise RemoteUnanswered(f"no API answers at {url} ({why})") from None
    head, _, body = said.partition(b"\r\n\r\n")
    status = head.split(b" ", 2)[1:2]
    if not status or not status[0].isdigit() or not head.startswith(b"HTTP/"):
        raise RemoteUnanswered(f"what answers at {url} does not speak HTTP")
    return int(status[0]), body


def _all_of(door: Any) -> bytes:
    parts: list[bytes] = []
    left = ANSWER_BYTES_MAX
    while left > 0 and (part := door.recv(65_536)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
