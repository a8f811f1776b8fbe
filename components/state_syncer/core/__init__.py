"""What the state syncer decides by. Pure."""
