"""`contract`, `schema serve`, `monitoring export`: what other programs read of a fleet."""

from __future__ import annotations

import base64
import binascii
import re
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Context, Option

from events.topics import BY_SHORT
from turbine.cli.files import read_bytes, writing
from turbine.cli.options import Shown, chosen
from turbine.cli.output import facts, indented, show, show_value, tell, to_line, write
from turbine.contract.document import Installation, document, to_yaml
from turbine.contract.examine import Examined, examine
from turbine.contract.finding import SampleMessage
from turbine.contract.registry import Registry, RegistryServer
from turbine.exporter.files import RUNBOOKS, documents
from turbine.failures import Code, Failed, named
from turbine.read.moments import now_ms
from turbine.read.plain import JsonObject
from turbine.read.records import BYTES_ONLY
from turbine.read.sources.source import topic_of
from turbine_client.errors import BadRequest


def contract(context: Context, *, output: Literal["yaml", "json"] = "yaml") -> int:
    """Print the contract: every topic with its records, as AsyncAPI 3.

    Brokers and numbers of partitions are those of the settings; no broker is asked.

    -o, --output: Form of the document.
    """
    if context.invoked_subcommand is not None:
        return Code.OK

    of = chosen(context).settings()
    made = document(Installation(of.bootstrap, of.partitions, of.replication, prefix=of.prefix))
    if output == "json":
        show_value(made, output)
    else:
        write(to_yaml(made).rstrip("\n"))
    return Code.OK


def serve_schemas(
    context: Context, *, port: Annotated[int, Option(min=0, max=65_535)] = 8081
) -> int:
    """Serve the schemas to programs of this machine, as a Schema Registry that is only read.

    --port PORT: 0 takes a free one.
    """
    registry = Registry(prefix=chosen(context).settings().prefix)
    try:
        server = RegistryServer(port, registry)
    except OSError as error:
        raise Failed(
            Code.FAILED,
            f"nothing can listen at 127.0.0.1:{port} ({error.strerror}); name another --port",
        ) from None
    with server:
        write(server.url)
        server.serve_forever()
    return Code.OK


Form = Literal["hex", "base64", "file"]

BYTES_MAX = 2 * 1024 * 1024
"""Of a file; a value may be an eighth of it, and who sends more reads that here too."""
_SPACE = re.compile(r"[\s:]+|\b0x", re.ASCII)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+", re.ASCII)


def check_message(
    context: Context,
    message: Annotated[
        str, Argument(metavar="MESSAGE", help="The value: hex, base64, a file, or -.")
    ],
    *,
    topic: str = "changes.base.v1",
    key: str | None = None,
    header: list[str] | None = None,
    partition: Annotated[int | None, Option(min=0)] = None,
    partitions: Annotated[int | None, Option(min=1)] = None,
    as_: Form | None = None,
    output: Shown = "table",
) -> int:
    """Say what is the matter with a message: framing, schema, key, partition, headers.

    Sends nothing and asks no broker. Exit code 5 where it would not be read as a request.

    --topic: Where it would be sent.
    --key: Text, or 0x and hex.
    --header NAME=VALUE: Repeatable; text, or 0x and hex.
    --partition: Where its producer put it.
    --partitions: How many there are; by default, the settings'.
    --as: What MESSAGE is, where that can be mistaken.
    """
    headers = tuple(_header(one) for one in header or ())
    key_bytes = None if key is None else _bytes(key, "--key")
    sent = SampleMessage(
        _topic(context, topic), key_bytes, _value(message, as_), headers, partition
    )
    examined = examine(sent, partitions or chosen(context).settings().partitions, now_ms())
    row = _row(examined)
    show(row, output, lambda: _text(examined, row["body"]))
    return Code.OK if examined.taken else Code.FINDINGS


def _topic(context: Context, name: str) -> str:
    with named("--topic"):
        short = topic_of(name, chosen(context).prefix)
    if BY_SHORT[short].kind in BYTES_ONLY:
        raise BadRequest(f"--topic: {short} holds bytes, no records; name another")
    return short


def _value(text: str, form: Form | None) -> bytes:
    if form == "file" or text == "-" or (form is None and _is_file(text)):
        return read_bytes(text, BYTES_MAX, "name a file with the value")
    plain = _SPACE.sub("", text)
    if form != "base64" and _HEX.fullmatch(plain):
        return bytes.fromhex(plain)
    try:
        found = base64.b64decode(plain, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if form == "hex" or not found:
        what = "hex" if form == "hex" else "base64" if form else "hex, base64 or a file that exists"
        raise BadRequest(f"MESSAGE is not {what}; give the bytes of the value, or - to read them")
    return found


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return False


def _header(text: str) -> tuple[str, bytes]:
    name, is_there, value = text.partition("=")
    if not name or not is_there:
        raise BadRequest(f"--header {text!r}: write NAME=VALUE, such as ce_id=17")
    return name, _bytes(value, f"--header {name}")


def _bytes(text: str, what: str) -> bytes:
    if not text.startswith("0x"):
        return text.encode(errors="surrogateescape")
    if not _HEX.fullmatch(text[2:]):
        raise BadRequest(f"{what}: what follows 0x is no hex; write two digits a byte")
    return bytes.fromhex(text[2:])


def _row(examined: Examined) -> JsonObject:
    return {
        "taken": examined.taken,
        "kind": examined.kind,
        "partition": examined.partition,
        "body": None if examined.body is None else examined.body.to_plain(),
        "findings": [one.to_plain() for one in examined.findings],
    }


def _text(examined: Examined, body: JsonObject | None) -> str:
    told = [
        ("kind", examined.kind),
        ("partition", examined.partition),
        ("says", None if body is None else to_line(body)),
    ]
    lines = [facts(told)]
    for one in examined.findings:
        mark = "wrong" if one.weight == "refused" else "note"
        lines += [f"{mark}, {one.part} ({one.reason}):", indented(one.sentence)]
    return "\n".join([*lines, *(["it would be read as this"] if examined.taken else [])])


def export(*, out: Path | None = None, runbooks: str = RUNBOOKS) -> int:
    """Print Grafana's dashboard as JSON and Prometheus' alert rules as YAML.

    --out DIR: Into two files there; else on standard output.
    --runbooks BASE: Where the runbooks' pages are.
    """
    files = documents(runbooks)
    if out is None:
        for name, text in files.items():
            write(f"--- # {name}\n{text.rstrip()}")  # YAML, of which JSON is a part
        return Code.OK
    with writing(f"--out: {out}", "name a folder of yours"):
        out.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (out / name).write_text(text)
    tell(f"written: {', '.join(str(out / name) for name in files)}")
    return Code.OK
