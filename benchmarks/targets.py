"""What each figure should come to: the target we hold ourselves to, and the goal beyond it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """One figure of one benchmark; None where nothing is promised."""

    benchmark: str
    key: str
    unit: str
    target: float | None = None
    goal: float | None = None
    more_is_better: bool = False

    def verdict(self, value: float | None) -> str:
        """In a word, for the table."""
        if value is None:
            return "not measured"
        if self.goal is not None and self._reaches(value, self.goal):
            return "goal"
        if self.target is None:
            return ""
        return "target" if self._reaches(value, self.target) else "missed"

    def _reaches(self, value: float, bound: float) -> bool:
        return value >= bound if self.more_is_better else value <= bound


TARGETS: tuple[Target, ...] = (
    Target("verdicts", "changes", "", 3_000, more_is_better=True),
    Target("verdicts", "verdicts_missing", "", 0),
    Target("verdicts", "verdicts_doubled", "", 0),
    Target("verdicts", "version_gaps", "", 0),
    Target("verdicts", "audit_mismatches", "", 0),
    Target("verdicts", "workers_killed", "", 2, more_is_better=True),
    Target("change-latency", "verdict_ms_p50", "ms", 40, 10),
    Target("change-latency", "verdict_ms_p99", "ms", 150, 50),
    Target("change-latency", "changes_per_s", "1/s", 1_500, 3_000, more_is_better=True),
    Target("replay", "records_per_s", "1/s", more_is_better=True),
    Target("replay", "ratio_to_bare_loop", "", 0.5, 0.7, more_is_better=True),
    Target("replay", "peak_mb", "MB", 600, 300),
    Target("simulation", "seeds_per_min", "1/min", 60, 300, more_is_better=True),
    Target("simulation", "hash_differences", "", 0, 0),
    Target("merge", "merges_per_s", "1/s", 2_000, 10_000, more_is_better=True),
    Target("merge", "ratio_to_naive", "", None, 1, more_is_better=True),
    Target("sync", "simple_30k_s", "s", 45, 20),
    Target("sync", "rescale_1k_s", "s", 30, 10),
    Target("sync", "growth_30k_over_1k", "", 1.1, 1.0),
    Target("placement", "scratch_s_10k", "s", 0.05, 0.03),
    Target("placement", "scratch_s_100k", "s", 0.15, 0.10),
    Target("placement", "scratch_s_1m", "s", 1.2, 0.8),
    Target("placement", "change_s_10k", "s", 0.03, 0.015),
    Target("placement", "change_s_100k", "s", 0.10, 0.06),
    Target("placement", "change_s_1m", "s", 1.0, 0.6),
    Target("placement", "out_of_band_10k", "", 0, 0),
    Target("placement", "out_of_band_100k", "", 0, 0),
    Target("placement", "out_of_band_1m", "", 0, 0),
    Target("placement", "aba_returns", "", 10, 3),
    Target("placement", "moved_load_over_bound", "", 1.4, 1.2),
    Target("placement", "peak_mb_1m", "MB", 400, 250),
)
