"""StreamOps: detect, diagnose and resolve by rules."""
