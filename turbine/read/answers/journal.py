"""What is told of a decision wherever decisions are listed. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, is_dataclass
from typing import ClassVar

from pydantic import ConfigDict, GetJsonSchemaHandler, JsonValue, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from events.generated.records import Body, PlacementPlanned, PlacementRejected
from events.sentences import sentence
from events.topics import JOURNAL
from events.wire.codec import SKIPPED, Read
from turbine.read.plain import made
from turbine.read.sources.log import Standing

Json = dict[str, JsonValue]


class Answer:
    """An answer, or a part of one: a frozen dataclass. The API's document says of its fields what
    stands below them here."""

    __slots__ = ()
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(use_attribute_docstrings=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """With the texts of inherited fields, which pydantic looks for in the class alone."""
        found = handler(schema)
        fields = handler.resolve_ref_schema(found)["properties"]
        for base in filter(is_dataclass, cls.__mro__[1:]):
            for name, known in TypeAdapter(base).json_schema()["properties"].items():
                if "description" in known:
                    fields[name].setdefault("description", known["description"])
        return found


@dataclass(frozen=True, slots=True)
class DecisionHead(Answer):
    """A decision without its circumstances."""

    id: str
    kind: str
    """The name of the record, such as JobConfigChanged."""
    position: str
    """Place and offset in the log."""
    at_ms: int
    """When the broker appended it."""
    summary: str
    """What it says, in one sentence."""
    body: Json | None
    """The record; null where this build cannot read it."""


@dataclass(frozen=True, slots=True)
class DecisionLine(DecisionHead):
    """A decision in a list."""

    job: str
    """The job that it is about; empty where it is about a tier."""
    tier: str | None
    """The tier that it is about; null where it is about a job."""
    component: str
    """Who decided it."""
    stands: bool
    """False of one that is void."""
    change_id: str
    """The change that it answers or makes; empty where it does neither."""


def head_of(one: Standing) -> DecisionHead:
    """The decision as it is named within another answer."""
    read, record = one.read, one.read.record
    return DecisionHead(
        id=record.id,
        kind=record.kind,
        position=position_of(read),
        at_ms=read.at_ms,
        summary=sentence(record.body),
        body=None if record.body is None else record.body.to_plain(),
    )


def line_of(one: Standing) -> DecisionLine:
    """The decision as a list tells it."""
    record, (job, tier) = one.read.record, subject_of(one)
    return made(
        DecisionLine,
        head_of(one),
        job=job,
        tier=tier,
        component=record.source,
        stands=one.stands,
        change_id=record.change_id,
    )


def subject_of(one: Standing) -> tuple[str, str | None]:
    """The job, or else the tier, that a decision is about."""
    key = one.read.record.key
    return (key, None) if one.read.topic == JOURNAL else ("", key.partition("/")[0])


def position_of(read: Read) -> str:
    """The position of a record, as it is shown."""
    return f"{read.place}:{read.offset}"


def body_of(one: Standing) -> Body | None:
    """What a decision says, where this build can read it."""
    body = one.read.record.body
    return None if body is SKIPPED else body


def request_of(body: Body | None) -> str:
    """The request that a decision about a tier answers; "" where it answers none."""
    match body:
        case PlacementRejected():
            return body.change_id
        case PlacementPlanned() if body.part == 1:
            return str(parsed(body.measures_json).get("change_id") or "")
        case _:
            return ""


def parsed(text: str) -> Json:
    """An object that a record holds as text; whatever else it is stands under no name."""
    try:
        found = json.loads(text)
    except ValueError:
        found = text
    return found if isinstance(found, dict) else {"": found}
