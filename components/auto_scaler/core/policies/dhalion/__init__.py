"""Dhalion: instances for who holds up its senders."""
