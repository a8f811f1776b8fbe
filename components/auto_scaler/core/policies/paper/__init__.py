"""The three generations of the paper (Turbine V)."""
