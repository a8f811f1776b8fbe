"""The headers of what is written: CloudEvents 1.0 in binary mode. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from turbine_client.schemas import FRAMING

TYPE_PREFIX = "turbine."
SDK = "sdk"
"""The source of what our own SDK and command line ask for."""
CONTENT_TYPE = b"application/vnd.confluent.avro"


def cloud_event(texts: Iterable[tuple[str, str]]) -> list[tuple[str, bytes]]:
    """The headers of a value in our framing, without those that say nothing."""
    headers = [(name, text.encode()) for name, text in texts if text]
    headers.append(("content-type", CONTENT_TYPE))
    return headers


def headers_of(job: str, name: str, kind: str, value: bytes) -> list[tuple[str, bytes]]:
    """The headers of a request."""
    version = FRAMING.version_of(value)
    return cloud_event(
        (
            ("ce_specversion", "1.0"),
            ("ce_id", name),
            ("ce_type", TYPE_PREFIX + kind),
            ("ce_source", SDK),
            ("ce_subject", job),
            ("ce_dataschema", version.urn if version else ""),
        )
    )
