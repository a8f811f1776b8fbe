"""The ways in which a local broker can fail to be there, each one sentence for its reader.

BrokerError
├── Unavailable    a program that the broker needs is missing, too old, or failed
├── BrokerInUse    another broker lives in the directory
└── BrokerFailed   the broker did not start, or did not stop
"""


class BrokerError(Exception):
    """A local broker cannot be had; the text is one sentence with the place and the remedy."""


class JavaUnavailable(BrokerError):
    """Java, Maven or the jars are not there."""


class BrokerInUse(BrokerError):
    """A broker already lives in the directory."""


class BrokerFailed(BrokerError):
    """The broker ended, or stayed silent, when it should not have."""
