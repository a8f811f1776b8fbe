"""DS2: all operators at once, by true rates."""
