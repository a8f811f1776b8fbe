"""What a container does with its tasks. Pure."""
