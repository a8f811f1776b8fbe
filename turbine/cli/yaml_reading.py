"""Reads YAML as JSON with other brackets: what a document says is what its author sees.

Built on the parser's events alone, so no document can name a Python object. Anchors, aliases, tags
and merge keys are refused (a few lines of them stand for gigabytes), as are keys that stand twice.
Plain scalars follow YAML 1.2's core: `no`, `on`, `010` and `1:30` are text, not surprises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from events.job_config.strict_json import DEPTH_MAX, shorten
from turbine.read.plain import JsonObject
from turbine_client.errors import BadRequest

BYTES_MAX = 1024 * 1024
DOCUMENTS_MAX = 1000

_NULL = {"", "~", "null", "Null", "NULL"}
_TRUE, _FALSE = {"true", "True", "TRUE"}, {"false", "False", "FALSE"}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OCTAL_LIKE = re.compile(r"[-+]?0[0-9]+")
_DIGITS_MAX = 400
"""Python refuses to read longer numbers; what is beyond 2^53 is refused later, with its path."""

# The parser of C is ten times as fast where the library was built with it.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    """A mapping or a list that is being read."""

    value: JsonObject | list[Any]
    key: str | None = None
    has_key: bool = False
    seen: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file, and the line on which it begins."""

    value: Any
    line: int


def read_yaml(text: bytes, name: str, loader: Any = LOADER) -> list[Document]:
    """The documents of a file; `name` is what the sentences call it."""
    if len(text) > BYTES_MAX:
        raise BadRequest(f"{name} has {len(text)} bytes, {BYTES_MAX} at most; split it in several")
    try:
        plain = text.decode()
    except UnicodeDecodeError as error:
        raise BadRequest(
            f"{name} is not UTF-8 at byte {error.start + 1}; save it as UTF-8"
        ) from None
    found: list[Document] = []
    for document in _documents(plain, name, loader):
        if len(found) == DOCUMENTS_MAX:
            raise BadRequest(f"{name} has more than {DOCUMENTS_MAX} documents; split it in several")
        found.append(document)
    return found


def _documents(plain: str, name: str, loader: Any) -> Iterator[Document]:
    reader = _Reader(name)
    try:
        for event in yaml.parse(plain, Loader=loader):
            document = reader.take(event)
            if document is not None:
                yield document
    except yaml.MarkedYAMLError as bad:
        mark = bad.problem_mark or bad.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        raise BadRequest(
            f"{name}, line {line}, column {column}: {bad.problem or bad.context}; correct it there"
        ) from None
    except yaml.YAMLError as bad:  # characters that YAML does not have
        first = str(bad).splitlines()[0]
        raise BadRequest(f"{name} is not YAML: {first}; remove that character") from None


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _is_plain(event: Any) -> bool:
    return not event.style  # None to one parser, the empty text to the other


class _Reader:
    """Builds values from the events of YAML's parser."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.open: list[_Open] = []
        self.line = 1
        self.value: Any = None

    def take(self, event: Any) -> Document | None:
        """Takes one event; gives a document when it ends there."""
        match event:
            case yaml.DocumentStartEvent():
                self.value, self.line = None, _line(event)
            case yaml.DocumentEndEvent():
                return Document(self.value, self.line)
            case yaml.AliasEvent():
                self._refuse(event, f"an alias (*{event.anchor}) is not read; write it out")
            case yaml.ScalarEvent():
                self._check(event)
                self._scalar(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check(event)
                self._begin(event, {} if isinstance(event, yaml.MappingStartEvent) else [])
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._put(event, self.open.pop().value)
            case _:
                return None
        return None

    def _check(self, event: Any) -> None:
        if event.anchor is not None:
            self._refuse(event, f"an anchor (&{event.anchor}) is not read; write it out")
        if event.tag is not None and event.tag != "!":
            self._refuse(event, f"the tag {event.tag} is not read; leave it out")

    def _begin(self, event: Any, value: JsonObject | list[Any]) -> None:
        around = self.open[-1] if self.open else None
        if around is not None and isinstance(around.value, dict) and not around.has_key:
            self._refuse(event, "a key is text; this one is a mapping or a list")
        if len(self.open) == DEPTH_MAX:
            self._refuse(event, f"it nests deeper than {DEPTH_MAX} levels; flatten it")
        self.open.append(_Open(value))

    def _scalar(self, event: Any) -> None:
        around = self.open[-1] if self.open else None
        if around is None or isinstance(around.value, list) or around.has_key:
            self._put(event, self._resolve(event))
            return
        key = str(event.value)
        if key == "<<" and _is_plain(event):
            self._refuse(event, "a merge key (<<) is not read; write its keys out")
        if key in around.seen:
            self._refuse(event, f"the key {shorten(key)} stands twice; keep one of the two")
        around.seen.add(key)
        around.key, around.has_key = key, True

    def _resolve(self, event: Any) -> Any:
        text = str(event.value)
        if not _is_plain(event):  # quoted, or a block: text
            return text
        if text in _NULL:
            return None
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        if _OCTAL_LIKE.fullmatch(text):
            return text
        if len(text) <= _DIGITS_MAX:
            if _WHOLE.fullmatch(text):
                return int(text)
            if _NUMBER.fullmatch(text):
                return float(text)
        return text

    def _put(self, event: Any, value: Any) -> None:
        if not self.open:
            self.value = value
            return
        around = self.open[-1]
        if isinstance(around.value, list):
            around.value.append(value)
        else:
            assert around.has_key, f"a value without a key at {event.start_mark}"
            around.value[str(around.key)] = value
            around.has_key = False

    def _refuse(self, event: Any, sentence: str) -> None:
        mark = event.start_mark
        raise BadRequest(f"{self.name}, line {mark.line + 1}, column {mark.column + 1}: {sentence}")
