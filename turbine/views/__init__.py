"""What the log says, folded once for all who look: live, at any instant, of a log in a file."""
