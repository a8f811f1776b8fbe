"""How a record becomes a message and back: codec, framing, ids, positions."""
