"""What a task is at the broker and in its process, whichever engine runs it."""
