"""The framing of all records of the log: bytes to bodies and back, as `turbine_client.framing` has
it, with the decoders that are generated for replay. Pure.
"""

from __future__ import annotations

from events.generated.decoders import DECODERS
from events.generated.records import RECORDS
from events.wire.lock import read_lock
from turbine_client.framing import Framing

FRAMING = Framing(read_lock(), RECORDS, DECODERS)
decode, encode = FRAMING.decode, FRAMING.encode
unframe, version_of = FRAMING.unframe, FRAMING.version_of
