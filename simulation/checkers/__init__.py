"""What must hold of every history, written apart from the code it judges."""
