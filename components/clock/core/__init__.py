"""Which partitions the clock ticks. Pure."""
