"""Decisions made again from the log, and what they differ in. Pure."""
