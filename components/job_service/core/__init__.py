"""What the job service decides by. Pure."""
