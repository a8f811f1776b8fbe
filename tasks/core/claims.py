"""The claim that a task commits beside its offsets: which generation reads a partition. Pure.

The group's offsets are no fence themselves: whoever reads them compares.
"""

from __future__ import annotations

import json
from typing import NamedTuple


class Claim(NamedTuple):
    """The task that committed an offset, by all its generations."""

    specs: int
    shard: int
    shard_number: int
    container: str
    epoch: int
    lineage: str = ""  # of numbered batches; "": they begin anew at each start
    batch: int = -1  # the last one of its line
    reset: str = ""  # the request by which the partition was read anew last

    def marked(self, lineage: str, batch: int, reset: str = "") -> Claim:
        """With the batch whose offsets these are, and the request that they follow from."""
        return self._replace(lineage=lineage, batch=batch, reset=reset)

    def outranks(self, other: Claim) -> bool:
        """Is the other one of an older generation?

        Shapes of the job come first. Generations of a shard are comparable for one shard alone: a
        task whose allowed regions changed is in another, which counts for itself.
        """
        if self.specs != other.specs:
            return self.specs > other.specs
        return self.shard_number == other.shard_number and self.shard > other.shard

    def text(self) -> str:
        """As it stands in the offset's metadata; the broker keeps 4 KiB."""
        return json.dumps(self._asdict(), separators=(",", ":"))


def claim_of(metadata: str | None) -> Claim | None:
    """The claim in an offset's metadata; None: what another program left there, or nothing."""
    try:
        # librdkafka stores a trailing NUL, which not every reader takes off.
        plain = json.loads((metadata or "").rstrip("\0"))
        numbers = [plain[name] for name in ("specs", "shard", "shard_number", "epoch", "batch")]
        if not all(isinstance(one, int) for one in numbers):
            return None
        specs, shard, number, epoch, batch = numbers
        lineage, reset = str(plain["lineage"]), str(plain.get("reset", ""))
        container = str(plain["container"])
        return Claim(specs, shard, number, container, epoch, lineage, batch, reset)
    except (ValueError, KeyError, TypeError):
        return None
