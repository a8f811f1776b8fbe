"""What the capacity manager decides by. Pure."""
