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
    Target("at", "records", "", 1_000_000, more_is_better=True),
    Target("at", "at_ms_p50", "ms", 500, 200),
    Target("at", "at_ms_p99", "ms", 1_000, 400),
    Target("at", "differences", "", 0, 0),
    Target("at", "peak_mb", "MB", 600, 400),
    Target("aged", "records", "", 5_000_000, more_is_better=True),
    Target("aged", "container_start_s", "s"),
    Target("aged", "container_start_ratio", "", 1.2, 1.1),
    Target("aged", "new_container_start_ratio", "", 1.2, 1.1),
    Target("simulation", "seeds_per_min", "1/min", 60, 300, more_is_better=True),
    Target("simulation", "hash_differences", "", 0, 0),
    Target("merge", "merges_per_s", "1/s", 2_000, 10_000, more_is_better=True),
    Target("merge", "ratio_to_naive", "", None, 1, more_is_better=True),
    Target("house", "turbine_lines", "", 25_999),
    Target("house", "lab_lines", ""),
    Target("house", "generated_lines", "", 3_499),
    Target("house", "product_lines", ""),
    Target("house", "dict_any", "", 29),
    Target("house", "names_twice", "", 0),
    Target("house", "check_s", "s", 120),
    Target("house", "check_tests", ""),
    Target("house", "test_s", "s", 720),
    Target("house", "test_tests", ""),
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
    Target("fleet", "heartbeat_cores", "cores", 0.5, 0.25),
    Target("fleet", "heartbeats_per_s", "1/s", 590, more_is_better=True),
    Target("fleet", "upgrade_30k_s", "s", 120, 60),
    Target("fleet", "failover_place_s", "s", 1, 0.2),
    Target("exclusivity", "kills", "", 100, 100, more_is_better=True),
    Target("exclusivity", "overlap_s", "s", 0, 0),
    Target("exclusivity", "stale_effects_accepted", "", 0, 0),
    Target("exclusivity", "recover_s_p99", "s", 10, 7),
    Target("exactly-once", "inputs", "", 1_000_000, more_is_better=True),
    Target("exactly-once", "missing", "", 0),
    Target("exactly-once", "doubled", "", 0),
    Target("exactly-once", "kills", "", 20, more_is_better=True),
    Target("exactly-once", "offsets_went_back", "", 0),
    Target("task", "rows_per_s", "1/s"),
    Target("task", "ratio_to_loop", "", 0.3, 0.6, more_is_better=True),
    Target("task", "latency_ms_p50", "ms", 200, 120),
    Target("task", "latency_ms_p95", "ms", 400, 250),
    Target("density", "batch_ms_p95_50", "ms", 1_000, 300),
    Target("density", "rss_mb_50", "MB", 1_500, 1_200),
    Target("density", "cpu_cores_50", "cores", 2, 1),
    Target("rescale", "stateless_downtime_s_p99", "s", 5, 2),
    Target("rescale", "stateful_downtime_s_100k", "s", 60, 35),
    Target("rescale", "missing", "", 0),
    Target("rescale", "doubled", "", 0),
    Target("windows", "runs", "", 5, 100, more_is_better=True),
    Target("windows", "unequal", "", 0, 0),
    Target("failover", "first_output_s_warm", "s", 5, 2),
    Target("failover", "first_output_s_cold", "s", 30, 12),
    Target("running", "change_to_running_ms_p50", "ms", 2_000, 500),
    Target("running", "change_to_running_ms_p99", "ms", 5_000, 2_000),
    Target("history", "written_per_s", "1/s", 5_000, 20_000, more_is_better=True),
    Target("history", "compacted_per_s", "1/s", 50_000, 200_000, more_is_better=True),
    Target("history", "profile_s", "s", 30, 10),
    Target("history", "missing", "", 0, 0),
    Target("history", "profile_differences", "", 0, 0),
    Target("history", "write_ratio_to_loop", "", 0.1, 0.3, more_is_better=True),
    Target("scaler", "round_10k_jobs_s", "s", 2, 1),
    Target("scaler", "kb_per_job", "kB", 20, 5),
    Target("scaler", "backtest_14d_s", "s", 2, 0.5),
    Target("scoreboard", "traces", "", 10, 10, more_is_better=True),
    Target("scoreboard", "traces_dominated", "", 8, 10, more_is_better=True),
    Target("scoreboard", "columns_worst", "", 0, 0),
    Target("scoreboard", "cost_over_optimum", "", 1.25, 1.15),
    Target("scoreboard", "unexplained", "", 0, 0),
    Target("scoreboard", "false_scale_outs", "", 0, 0),
    Target("scoreboard", "backlog_speedup", "x", 8, 20, more_is_better=True),
    Target("scoreboard", "storm_tasks_percent", "%", 8, 6),
    Target("scoreboard", "storm_jobs_in_slo_percent", "%", 99.9, 99.95, more_is_better=True),
    Target("scoreboard", "cpu_saved_percent", "%", 22, 30, more_is_better=True),
    Target("scoreboard", "memory_saved_percent", "%", 51, 55, more_is_better=True),
    Target("contract", "records", "", more_is_better=True),
    Target("contract", "violations", "", 0, 0),
    Target("contract", "kills", "", more_is_better=True),
    Target("audit", "decisions_per_s", "1/s", 8_000, 15_000, more_is_better=True),
    Target("audit", "records_per_s", "1/s", more_is_better=True),
    Target("audit", "mismatches", "", 0, 0),
    Target("audit", "planted_found", "", 10, 10, more_is_better=True),
    Target("audit", "planted", "", 10, 10, more_is_better=True),
    Target("audit", "quiet_cores", "cores", 0.1),
    Target("first-hour", "clone_to_story_s", "s", 240, 150),
    Target("first-hour", "clone_to_first_task_s", "s", 120, 75),
    Target("first-hour", "setup_s", "s"),
    Target("first-hour", "get_jobs_ms_api", "ms", 200, 120),
    Target("first-hour", "get_jobs_ms_log", "ms", 1_500, 800),
    Target("first-hour", "help_ms", "ms", 200, 120),
    Target("volume", "gb_per_day_10k_jobs", "GB", 40, 20),
    Target("volume", "idle_records_per_day", "", 300_000, 100_000),
    Target("volume", "jobs", "", 1_000, more_is_better=True),
    Target("whatif", "trace_histories", "", 10, 10, more_is_better=True),
    Target("whatif", "trace_agreement", "", 0.8, 0.95, more_is_better=True),
    Target("whatif", "trace_same_size", "", 0.9, 0.98, more_is_better=True),
    Target("whatif", "trace_cost_off", "", 0.05, 0.01),
    Target("whatif", "turbine_s_per_day", "s", 10, 3),
    Target("api", "jobs", "", 5_000, more_is_better=True),
    Target("api", "tasks", "", 10_000, more_is_better=True),
    Target("api", "slowest_ms_p99", "ms", 1_000, 250),
    Target("api", "rss_mb", "MB", 600, 300),
)
