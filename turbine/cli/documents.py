"""What a file or a command line asks of jobs: `job:` with its config, or what to set and clear."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from events.job_config.strict_json import Malformed, parse_json, shorten, split_path
from turbine.cli.files import read_bytes
from turbine.cli.yaml_reading import BYTES_MAX, Document, read_yaml
from turbine.failures import named
from turbine.read.plain import JsonObject
from turbine_client.errors import BadRequest
from turbine_client.identity import is_job_id


@dataclass(frozen=True, slots=True)
class LayerWish:
    """What is asked of one job's layer."""

    job: str
    where: str  # "job.yaml, line 3", for sentences
    set: JsonObject
    clear: tuple[str, ...] = ()
    whole: bool = False  # the layer shall become what `set` says, and nothing else


def read_wishes(path: str) -> list[LayerWish]:
    """The wishes of a file, "-" for standard input, one a document; each job once."""
    name = "standard input" if path == "-" else path
    # One byte more than is allowed tells that there are too many.
    text = read_bytes(path, BYTES_MAX + 1, "-f names a YAML file")
    wishes = [_wish(one, name) for one in read_yaml(text, name) if one.value is not None]
    if not wishes:
        raise BadRequest(f"{name} holds no document; write `job: NAME` and its config")
    seen: dict[str, str] = {}
    for wish in wishes:
        if wish.job in seen:
            raise BadRequest(
                f"{wish.where}: the job {wish.job} stands at {seen[wish.job]} already;"
                " ask for each job once"
            )
        seen[wish.job] = wish.where
    return wishes


def _wish(document: Document, name: str) -> LayerWish:
    where, value = f"{name}, line {document.line}", document.value
    if not isinstance(value, dict) or "job" not in value:
        raise BadRequest(f"{where}: a document begins with `job: NAME`; add it")
    fields = dict(value)
    job = fields.pop("job")
    if not isinstance(job, str) or not is_job_id(job):
        raise BadRequest(
            f"{where}: {shorten(str(job))} is no job's name; use up to 128 of a-z, 0-9, '.', '_',"
            " '-', beginning and ending with a letter or digit"
        )
    if "set" not in fields and "clear" not in fields:
        return LayerWish(job, where, _strict(fields, where), whole=True)
    foreign = sorted(set(fields) - {"set", "clear"})
    if foreign:
        raise BadRequest(
            f"{where}: {shorten(foreign[0])} stands beside `set` and `clear`; put it under `set`"
        )
    set_, clear = fields.get("set") or {}, fields.get("clear") or []
    if not isinstance(set_, dict):
        raise BadRequest(f"{where}: `set` is a mapping of config keys; write it so")
    if not isinstance(clear, list) or not all(isinstance(one, str) for one in clear):
        raise BadRequest(f"{where}: `clear` is a list of dotted paths; write it so")
    return LayerWish(job, where, _strict(set_, where), check_paths(clear, f"{where}: clear"))


def _strict(value: JsonObject, where: str) -> JsonObject:
    """The value as the components will read it, within the bounds of JSON in the log."""
    text = json.dumps(value)
    return parse_json(text, what=f"{where}: the config")  # type: ignore[return-value]  # an object came in


def check_paths(paths: Iterable[str], what: str) -> tuple[str, ...]:
    """Dotted paths that can be read."""
    given = tuple(paths)
    for path in given:
        with named(what):
            split_path(path)
    return given


def parse_assignments(texts: Iterable[str]) -> JsonObject:
    """What `--set resources.memory_mb=512 --set tasks=4` sets; values are JSON."""
    result: JsonObject = {}
    for text in texts:
        path, equals, value = text.partition("=")
        if not equals:
            raise BadRequest(f"--set {shorten(text)}: write KEY=VALUE, such as --set tasks=4")
        [*around, last] = split_path(*check_paths([path], "--set"))
        inner = result
        for key in around:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise _twice(path)
        if last in inner:
            raise _twice(path)
        inner[last] = _parse_value(path, value)
    return result


def _twice(path: str) -> BadRequest:
    return BadRequest(
        f"--set {shorten(path)}: another --set says what stands there; keep one of them"
    )


def _parse_value(path: str, text: str) -> Any:
    try:
        return parse_json(text, what=f"--set {path}")
    except Malformed as bad:
        if bad.reason_code != "not-json":
            raise
        quoted = json.dumps(text, ensure_ascii=False)
        raise BadRequest(
            f"--set {path}: {shorten(text)} is not JSON; for text write '{path}={quoted}'"
        ) from None
