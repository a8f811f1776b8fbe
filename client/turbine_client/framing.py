"""How a body becomes bytes and back: 0x00, the schema id in four bytes, Avro.

What others write may name its schema in another way; the reader takes what it can tell for
certain, and says of the rest why not.
"""

from __future__ import annotations

import io
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, cast

from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.read import SchemaResolutionError
from fastavro.schema import fingerprint, to_parsing_canonical_form

from turbine_client.bodies import Body
from turbine_client.errors import Unreadable

Headers = Sequence[tuple[str, bytes | None]]

VALUE_BYTES_MAX = 256 * 1024
SCHEMA_HEADER = "__value_schema_id"
_PREFIX_BYTES = 5
# What decoders raise on bytes that end too soon, and on bytes that are not of the schema.
_CUT_SHORT = (EOFError, IndexError, struct.error)
_NOT_OF_IT = (ArithmeticError, KeyError, SchemaResolutionError, TypeError, ValueError)

Decoder = Callable[[bytes, int], tuple[Body, int]]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of one record's schema."""

    id: int
    name: str
    sha256: str
    released: bool
    schema: dict[str, Any]

    @property
    def full_name(self) -> str:
        return f"{self.schema['namespace']}.{self.schema['name']}"

    @property
    def urn(self) -> str:
        """How headers name the schema, whatever ids a registry gives."""
        return f"urn:avro:{self.full_name}:{self.sha256}"

    @property
    def guid(self) -> str:
        """The id of the schema that does not depend on any registry: half of its hash."""
        return str(uuid.UUID(hex=self.sha256[:32]))


def newest_of(versions: Iterable[Version]) -> dict[str, Version]:
    """The version of each record that is written today."""
    return {one.name: one for one in sorted(versions, key=lambda one: one.id)}


class Framing:
    """The values of one set of records: those of a client, or all there are.

    `decoders` read the newest version of a record, where one is faster than the general one.
    """

    def __init__(
        self,
        versions: Iterable[Version],
        records: Mapping[str, type[Body]],
        decoders: Mapping[str, Decoder] = MappingProxyType({}),
    ) -> None:
        self.versions = {one.id: one for one in versions}
        self.newest = newest_of(self.versions.values())
        self._records, self._decoders = records, decoders
        self.decoder, self._writer = cache(self._decoder_of), cache(self._writer_of)

    def encode(self, body: Body) -> bytes:
        """The framed value of a body, in the newest version of its schema."""
        prefix, schema = self._writer(type(body).__name__)
        out = io.BytesIO()
        out.write(prefix)
        schemaless_writer(out, schema, body.to_plain())
        value = out.getvalue()
        if len(value) > VALUE_BYTES_MAX:
            raise _too_large(len(value))
        return value

    def decode(self, value: bytes, headers: Headers = ()) -> Body:
        """What a value says, whichever way its schema is named."""
        found = dict(headers)
        urn = (found.get("ce_dataschema") or b"").decode("ascii", "replace")
        return self.unframe(value, found.get(SCHEMA_HEADER) or b"", urn)[0]

    def version_of(self, value: bytes) -> Version | None:
        """The version of the schema that a framed value names; None when it is not known here."""
        return self.versions.get(int.from_bytes(value[1:5], "big")) if value[:1] == b"\0" else None

    def unframe(self, value: bytes, named: bytes = b"", urn: str = "") -> tuple[Body, bytes]:
        """What a value says, and the value in our own framing, which is all that is kept of it.

        `named` is the header of newer Confluent clients, `urn` that of ours.
        """
        if len(value) > VALUE_BYTES_MAX:
            raise _too_large(len(value))
        schema_id = -1
        if value[:1] == b"\0" and len(value) >= 5 and not named:
            schema_id = int.from_bytes(value[1:5], "big")
        if schema_id not in self.versions:
            value = self._frame(value, named, urn)
            schema_id = int.from_bytes(value[1:5], "big")
        decoder = self.decoder(schema_id)
        try:
            body, end = decoder(value, _PREFIX_BYTES)
        except _CUT_SHORT as error:
            raise self._truncated(schema_id) from error
        except _NOT_OF_IT as error:
            raise Unreadable(
                "malformed",
                f"the value is no {self.versions[schema_id].name}, although it names schema"
                f" {schema_id} ({error}); encode it with that schema",
            ) from error
        if end < len(value):
            raise Unreadable(
                "trailing-bytes",
                f"{len(value) - end} bytes follow the {self.versions[schema_id].name};"
                " send one record a message",
            )
        if end > len(value):
            raise self._truncated(schema_id)
        return body, value

    def _decoder_of(self, schema_id: int) -> Decoder:
        """The decoder of one version: our own of the newest, a general one of all others."""
        version = self.versions[schema_id]
        name = version.name
        if name not in self._records:
            raise Unreadable("unknown-record", f"this build has no record {name}; use a newer one")
        newest = self.newest[name]
        if newest is version and name in self._decoders:
            return self._decoders[name]
        writer, reader = parse_schema(version.schema), parse_schema(newest.schema)

        def decode_generally(value: bytes, at: int) -> tuple[Body, int]:
            source = io.BytesIO(value)
            source.seek(at)
            try:
                plain = schemaless_reader(source, writer, reader)
            except IndexError as error:
                # Bytes that end too soon are an EOFError there; this is a branch or a symbol.
                raise ValueError("a union or an enum has no such branch or symbol") from error
            return self._records[name].from_plain(cast("dict[str, Any]", plain)), source.tell()

        return decode_generally

    def _writer_of(self, kind: str) -> tuple[bytes, Any]:
        version = self.newest[kind]
        return _prefix(version), parse_schema(version.schema)

    def _truncated(self, schema_id: int) -> Unreadable:
        name = self.versions[schema_id].name
        return Unreadable("truncated", f"the value ends within a {name}; send all of its bytes")

    def _frame(self, value: bytes, named: bytes, urn: str) -> bytes:
        """A value whose schema is named in another way than ours, as we would have framed it.

        In order: the header of newer Confluent clients, an id of a foreign registry beside the urn
        of the schema, Avro's single-object fingerprint.  A schema is never fetched, and one inside
        a message is never used: it could be built to bring the decoder down.
        """
        if named:
            version = self._by_header(named)
            if version is None:
                raise _unknown_schema(f"0x{named.hex()} in the header {SCHEMA_HEADER}")
            return _prefix(version) + value
        if value[:1] == b"\0" and len(value) >= 5:
            version = self._by_urn.get(urn)
            if version is None:
                raise _unknown_schema(str(int.from_bytes(value[1:5], "big")))
            return _prefix(version) + value[5:]
        if value[:2] == b"\xc3\x01" and len(value) >= 10:
            version = self._by_fingerprint.get(value[2:10])
            if version is None:
                raise _unknown_schema(f"fingerprint {value[2:10].hex()}")
            return _prefix(version) + value[10:]
        if value[:4] == b"Obj\x01":
            raise Unreadable(
                "container-file",
                "the value is an Avro container file; send one framed record a message",
            )
        raise Unreadable(
            "not-framed",
            "the value does not begin with 0x00 and a schema id of four bytes; use an Avro"
            " serializer with Confluent's framing",
        )

    def _by_header(self, named: bytes) -> Version | None:
        match named[:1], len(named):
            case b"\0", 5:
                return self.versions.get(int.from_bytes(named[1:], "big"))
            case b"\1", 17:
                return self._by_guid.get(named[1:].hex())
        return None

    @cached_property
    def _by_guid(self) -> dict[str, Version]:
        return {one.guid.replace("-", ""): one for one in self.versions.values()}

    @cached_property
    def _by_urn(self) -> dict[str, Version]:
        return {one.urn: one for one in self.versions.values()}

    @cached_property
    def _by_fingerprint(self) -> dict[bytes, Version]:
        return {
            # The text that fastavro gives has the lowest byte first, as single objects have it.
            bytes.fromhex(fingerprint(to_parsing_canonical_form(one.schema), "CRC-64-AVRO")): one
            for one in self.versions.values()
        }


def _prefix(version: Version) -> bytes:
    return b"\0" + version.id.to_bytes(4, "big")


def _too_large(size: int) -> Unreadable:
    return Unreadable(
        "too-large",
        f"the value has {size} bytes, and {VALUE_BYTES_MAX} are allowed; say less in one record",
    )


def _unknown_schema(named: str) -> Unreadable:
    return Unreadable(
        "unknown-schema",
        f"schema {named} is not known here; use one that `turbine schema list` shows",
    )
