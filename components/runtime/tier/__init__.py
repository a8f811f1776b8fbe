"""The shell of tier-wide components, on a reader of its own."""
