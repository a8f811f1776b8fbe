"""Chance that is none: permutations and choices that follow from whole numbers alone. Pure.

Neither `random` nor NumPy's generators: what they yield is not promised to outlast a version, and a
plan must come out the same when the log is read again years later.
"""

from __future__ import annotations

import math

import numpy as np

from components.shard_manager.core.solver.problem import Bits, Ints

_MASK = 2**64 - 1


def mixed(*numbers: int) -> int:
    """One number of 64 bits from several (the finalizer of splitmix64, Steele et al. 2014)."""
    state = 0
    for number in numbers:
        state = (state + (number & _MASK) + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def shuffled(count: int, seed: int) -> Ints:
    """The numbers below `count` in another order."""
    # The finalizer maps different numbers to different ones, so no sort has a tie to break.
    state: Bits = np.arange(count, dtype=np.uint64) + np.uint64(mixed(seed) >> 1)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.argsort(state ^ (state >> np.uint64(31)))


def strided(count: int, seed: int) -> Ints:
    """The numbers below `count` by a stride of chance from a start of chance.

    Of a shuffled list it gives another order in a tenth of the time of a sort. Neighbours of one
    stride are no neighbours of another.
    """
    if count < 2:
        return np.zeros(count, np.int64)
    number = mixed(seed)
    stride = 1 + number % (count - 1)
    while math.gcd(stride, count) != 1:
        stride = stride % (count - 1) + 1
    return (np.arange(count, dtype=np.int64) * stride + (number >> 32) % count) % count
