"""The codes with which a container ends, beside `components.runtime.process.exits`, and why."""

EXIT_FAILED_OVER = 78  # its life was given up by the shard manager: it begins another, empty
EXIT_UNGUARDED = 79  # the guard is gone, and without it no lease is kept
EXIT_REASSIGNED = 81  # another tier has the container: it begins another life there
EXIT_FROZEN = 80  # it could not renew its lease for so long that its tasks were ended
