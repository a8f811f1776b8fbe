"""The framing of all records of the log: bytes to bodies and back, as `turbine_client.framing` has
it, with a decoder of each record's newest schema. Pure.
"""

from __future__ import annotations

from events.generated import records
from events.generated.decoders import DECODERS
from events.generated.records import RECORDS
from events.wire.lock import newest_of, read_lock
from events.wire.values import reader_of
from turbine_client.framing import Decoder, Framing

_VERSIONS = read_lock()
_GENERAL: dict[str, Decoder] = {
    name: reader_of(one.schema, vars(records))
    for name, one in newest_of(_VERSIONS).items()
    if name in RECORDS
}
FRAMING = Framing(_VERSIONS, RECORDS, _GENERAL | DECODERS)
decode, encode = FRAMING.decode, FRAMING.encode
unframe, version_of = FRAMING.unframe, FRAMING.version_of
