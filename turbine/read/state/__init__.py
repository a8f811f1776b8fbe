"""What a log says at a position, folded once for all who look."""
