"""The error tree: every error that is told to people is of one of three kinds. Pure.

The kind says what helps. `BadRequest`: the asker puts something right. `Unavailable`: the asker
tries again, or starts something. `Corrupt`: bytes are not what they should be; no repetition helps.
The text of each error is one sentence with the place and the remedy.
"""

from __future__ import annotations


class TurbineError(Exception):
    """Root of all errors that Turbine tells people; each is of one of the three kinds below."""


class BadRequest(TurbineError):
    """A request, a setting or an argument that the asker can put right."""


class Unavailable(TurbineError):
    """A broker, a log, a program or a package that is not there now; a later try may succeed."""


class Corrupt(TurbineError):
    """Bytes in the log, in a file or in a request that are not what they should be."""


class BrokerUnreachable(Unavailable, ConnectionError):
    """No broker answered as asked; the sentence says where we asked, and the remedy."""


class LoginRefused(BrokerUnreachable):
    """A broker is there and does not let us in."""


class NoTopic(Unavailable):
    """A topic that the broker does not have; the sentence names it, and how it is created."""


class Unreadable(Corrupt):
    """A message that cannot be decoded: a code for machines and a sentence for people."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(f"{reason}: {sentence}")
        self.reason = reason
        self.sentence = sentence

    def __reduce__(self) -> tuple[type[Unreadable], tuple[str, str]]:
        # Exceptions are rebuilt from `args`, which hold one text here and two at construction.
        return type(self), (self.reason, self.sentence)
