"""The parts that several policies share: sizes, limits and baselines."""
