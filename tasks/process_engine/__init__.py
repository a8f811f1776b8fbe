"""The engine that forks a process for each task."""
