"""The HTTP API: everything that the log says as JSON and as a stream, and changes with a plan."""
