"""Where a log is read from: a broker, a file, memory, or either up to a position."""
