"""The records of the log and their decoders, rendered from the schemas."""
