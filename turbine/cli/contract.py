"""`contract` and `schema serve`: what strangers read to publish and subscribe."""

from __future__ import annotations

from typing import Annotated, Literal

from typer import Context, Option

from turbine.cli.options import chosen
from turbine.cli.output import show_value, write
from turbine.contract.document import Installation, document, to_yaml
from turbine.contract.registry import Registry
from turbine.contract.registry_server import RegistryServer
from turbine.failures import Code, Failed


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
