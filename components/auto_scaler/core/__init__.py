"""What the auto scaler decides by. Pure."""
