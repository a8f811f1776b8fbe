"""A local Kafka broker: its jars by Maven, its directory, its process, and a container instead."""
