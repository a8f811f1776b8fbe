"""The log at its broker: clients, readers, writers, dead letters."""
