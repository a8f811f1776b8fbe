"""What the shard manager decides by. Pure."""
