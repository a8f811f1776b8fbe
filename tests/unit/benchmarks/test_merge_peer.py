"""The merges that are compared do the same work on the same config."""

import pytest

from benchmarks.merge import KEYS, layers_of, leaves, naive_merge, unshared_merge
from events.job_config.config import JobConfig, validate_config
from events.job_config.merge import merge_layers


@pytest.mark.parametrize("keys", [80, KEYS])
def test_all_come_to_the_same_valid_config(keys: int) -> None:
    layers = layers_of(keys)
    merged = merge_layers(layers)
    assert merged == naive_merge(layers) == unshared_merge(layers)
    assert sum(map(leaves, layers)) == keys
    assert isinstance(validate_config(merged), JobConfig)


def test_every_layer_has_a_say() -> None:
    layers = layers_of(KEYS)
    for at in range(len(layers)):
        assert merge_layers(layers[:at] + layers[at + 1 :]) != merge_layers(layers)


def test_only_the_naive_one_shares_what_it_was_given() -> None:
    layers = layers_of(KEYS)
    for merge, shares in [(naive_merge, True), (unshared_merge, False), (merge_layers, False)]:
        merged = merge(layers)
        assert (merged["checkpoint"] is layers[0]["checkpoint"]) is shares
