"""What runs a fleet: its processes, their members, and tools for operators."""
