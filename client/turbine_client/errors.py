"""What a client may meet that it cannot use. Pure."""

from __future__ import annotations


class Unreadable(Exception):
    """A message that says nothing we can use: a code for machines and a sentence for people."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(f"{reason}: {sentence}")
        self.reason = reason
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[Unreadable], tuple[str, str]]:
        # Exceptions are rebuilt from `args`, which hold one text here and two at construction.
        return type(self), (self.reason, self.sentence)
