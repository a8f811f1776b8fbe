"""The scaling policies, a folder each."""
