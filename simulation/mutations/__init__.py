"""The table of planted bugs: each leaves one rule out, and somebody has to notice."""

from simulation.mutations.mutant import Mutant
from simulation.mutations.of_fleet import PLACING
from simulation.mutations.of_rows import CONFIGS, KEEPING, REQUESTS
from simulation.mutations.of_scaling import SIZING
from simulation.mutations.of_step import CHAIN, EVIDENCE_CLOSED, SPEAKING
from simulation.mutations.of_syncs import SYNCING

MUTANTS: tuple[Mutant, ...] = (
    *CHAIN,
    *EVIDENCE_CLOSED,
    *SPEAKING,
    *KEEPING,
    *REQUESTS,
    *CONFIGS,
    *SYNCING,
    *PLACING,
    *SIZING,
)
