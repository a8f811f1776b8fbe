"""What is known of a job's size: its row, how it is folded, and what its minutes teach. Pure."""
