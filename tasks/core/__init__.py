"""What a task and its supervisor say, claim and reset. Pure."""
