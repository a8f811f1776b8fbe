"""Rows as bytes for the cache, and back: a pickle that may name rows of ours, and nothing else.

As JSON a row takes five times as long to read, and a view of the past needs thousands of them.
"""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any

from events.wire import codec

PROTOCOL = 5
LEVEL = 1
ROOMS = ("events.", "turbine_client.", "projections.", "turbine.read.state.", "immutables.")
"""Whose classes a packed row may name."""
UNFIT = (
    AttributeError,
    EOFError,
    ImportError,
    IndexError,
    KeyError,
    MemoryError,
    TypeError,
    UnicodeDecodeError,
    ValueError,
    pickle.UnpicklingError,
    zlib.error,
)
"""What bytes that are none of ours make of themselves."""


class _Rows(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """A class of rows; a function could do anything."""
        if module.startswith(ROOMS) and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) or found is codec.SKIPPED:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no row")


def pack(value: object) -> bytes:
    """A row, or a plain value that holds rows."""
    return zlib.compress(pickle.dumps(value, PROTOCOL), LEVEL)


def unpack(packed: bytes) -> Any:
    """What `pack` was given; one of `UNFIT` where the bytes are no rows."""
    return _Rows(io.BytesIO(zlib.decompress(packed))).load()
