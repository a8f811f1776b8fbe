"""`webhooks`: who is told by HTTP and how far behind they are; secrets, and checks of a request."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

from typer import Argument, Context

from components.webhooks.config import Hook, hooks_of, keys_in
from turbine.cli.columns import columns
from turbine.cli.files import read_bytes
from turbine.cli.options import DryRun, Listed, chosen
from turbine.cli.output import show_rows, tell, write
from turbine.failures import Code, Failed
from turbine.ops.webhooks import ends_of, move, starts_of, state_of
from turbine.read.moments import now_ms, parse_moment, parse_span
from turbine.read.sources.log import Log
from turbine.read.state.instants import position_at
from turbine_client.settings import Settings
from turbine_client.signing import ID, SIGNATURE, TIMESTAMP, Tampered, show_secret, verify

BODY_BYTES_MAX = 4 * 1024 * 1024


def list_hooks(context: Context, *, output: Listed = "table") -> int:
    """List the webhooks of the settings, and how far behind each is.

    `behind` counts messages of its topics that were not dealt with yet, also those that it is not
    told; null: it was never served.
    """
    settings = chosen(context).connected()
    rows = [state_of(settings, hook).to_plain() for hook in hooks_of(settings)]
    titles = "NAME, AT, TOPICS=topics:list, JOBS=jobs:list, KINDS=kinds:list, BEHIND, *GROUP"
    if not rows:
        tell("there are no webhooks; write [webhooks.NAME] into the settings")
        return Code.OK
    return show_rows(rows, output, columns(titles))


def make_secret() -> int:
    """Print a new secret, for the settings and the receiver."""
    write(show_secret(secrets.token_bytes(32)))
    return Code.OK


def verify_request(
    body: Annotated[
        str, Argument(metavar="BODY", help="A file with the body as it came, or - for it.")
    ],
    *,
    secret_file: Path,
    id_: str,
    timestamp: str,
    signature: str,
    tolerance: str = "5m",
) -> int:
    """Say whether a request is what Turbine sent: 0, or 1 with the reason.

    --secret-file: One secret a line.
    --id: Its header webhook-id.
    --timestamp: Its header webhook-timestamp.
    --signature: Its header webhook-signature.
    --tolerance SPAN: How old it may be.
    """
    seconds = parse_span(tolerance, "--tolerance") / 1000
    headers = {ID: id_, TIMESTAMP: timestamp, SIGNATURE: signature}
    try:
        keys = keys_in("--secret-file", secret_file)
        sent = read_bytes(body, BODY_BYTES_MAX, "name a file with the body")
        write(verify(keys, headers, sent, now_ms() / 1000, seconds))
    except Tampered as bad:  # a verdict, not a wrong use of the command
        raise Failed(Code.FAILED, str(bad)) from None
    return Code.OK


def rewind(
    context: Context,
    name: Annotated[str, Argument(metavar="NAME", help="Of a webhook.")],
    *,
    to: str,
    dry_run: DryRun = False,
) -> int:
    """Have a webhook told once more of all since then, or of nothing before it.

    It holds from the next start of `turbine serve webhooks`: end that one first.

    --to WHERE: earliest, latest, a time or a position.
    """
    moment = to if to in ("earliest", "latest") else parse_moment(to, now_ms(), "--to")
    settings = chosen(context).connected()
    hook = _named(settings, name)
    match moment:
        case "earliest":
            positions = starts_of(settings, hook)
        case "latest":
            positions = ends_of(settings, hook)
        case str():
            raise AssertionError(moment)
        case _:
            positions = position_at(Log(settings), moment, hook.topics, "--to")
    when = "would go on from there"
    if not dry_run:
        positions = move(settings, hook, positions)
        when = "goes on from there when `turbine serve webhooks` is started next"
    write(" ".join(f"{at}:{offset}" for at, offset in sorted(positions.items())))
    tell(f"{name} {when}")
    return Code.OK


def _named(settings: Settings, name: str) -> Hook:
    hooks = {hook.name: hook for hook in hooks_of(settings)}
    if name not in hooks:
        known = ", ".join(hooks) or "there is none"
        raise Failed(
            Code.NOT_FOUND, f"there is no webhook {name!r} in the settings; it is one of: {known}"
        )
    return hooks[name]
