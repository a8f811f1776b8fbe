"""The typed config that a text says, worked out once for all in a process who read the same. Pure.

Who accepts a config is followed within moments by who lists its tasks and by who sizes them, often
in one process, and an audit is all of them.
"""

from __future__ import annotations

import json
from functools import lru_cache

from events.job_config.config import Invalid, JobConfig, validate_config
from events.job_config.policies.table import BUILT_IN

CONFIGS_KNOWN, TEXT_KNOWN = 2_048, 8 * 1024
"""Configs that are held, and the longest text of one: 60 MB at the very most."""


def config_of(text: str) -> JobConfig | Invalid:
    """What `validate_config` says of the text's value, which stood. A config is frozen, so it may
    be shared."""
    return _known(text) if len(text) <= TEXT_KNOWN else _read(text)


def proposed(text: str, before: str = "{}") -> JobConfig | Invalid:
    """The same of what does not stand yet: its policy has to be installed where it is accepted,
    unless it stands already: a job whose policy is gone can be paused."""
    config = config_of(text)
    if isinstance(config, JobConfig):
        if config.policy.name in BUILT_IN:
            return config
        stands = config_of(before)
        if isinstance(stands, JobConfig) and stands.policy == config.policy:
            return config
    return validate_config(json.loads(text))


def _read(text: str) -> JobConfig | Invalid:
    return validate_config(json.loads(text), stood=True)


_known = lru_cache(CONFIGS_KNOWN)(_read)
