"""The four kinds of error, and no fifth.

    refused       the asker is wrong or late: a `...Rejected` record, never an exception
    unreadable    bytes that cannot be decoded: `Unreadable`; the shell writes a dead letter
    outside       Kafka, Spark or HTTP failed: `OutsideFailure`; the shell tries again within a
                  bound, then writes an outcome record and the core decides
    impossible    an invariant broke: `assert`; the process dies before it commits

A duplicate or a late record is none of them: folds treat it as nothing.
"""

from __future__ import annotations

from turbine_client.errors import Unreadable

__all__ = ["OutsideFailure", "Unreadable"]


class OutsideFailure(Exception):
    """Something outside did not do its part after all attempts: what failed and what to do."""
