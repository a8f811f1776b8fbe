"""The placement: a problem in, moves out. Pure."""
