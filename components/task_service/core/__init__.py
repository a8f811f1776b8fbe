"""What the task service decides by. Pure."""
