"""The failures that errors of the layers below stand for."""

from __future__ import annotations

from turbine.failures import Code, Failed


def known_failure(error: Exception) -> Failed | None:
    """The failure that an error of the layers below stands for; None: it is a bug of ours."""
    # Imported here: by now their modules are loaded, and the help must not load them.
    from components.runtime.kafka.topics import TopicsError
    from components.runtime.process.local import LocalFailed
    from turbine.extras import lacking
    from turbine.ops.fleet import FleetRuns
    from turbine.read.answers.ids import Ambiguous
    from turbine.read.sources.log_lines import BadFile
    from turbine_client.clients import BrokerUnreachable
    from turbine_client.publish import TooLarge, Unheard
    from turbine_client.reading import Unreadably
    from turbine_client.settings import BadSettings

    if isinstance(error, Failed):
        return error
    error = lacking(error) or error
    if isinstance(error, TooLarge | BadFile | Ambiguous):
        return Failed(Code.USAGE, str(error))
    told = BadSettings | BrokerUnreachable | Unreadably | TopicsError | FleetRuns | LocalFailed
    told |= Unheard
    return Failed(Code.FAILED, str(error)) if isinstance(error, told) else None
