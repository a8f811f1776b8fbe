"""Answers to questions about a fleet: a module for each question, and its types. Pure."""
