"""Rules of rows that mutants leave out: how they are kept, admitted, decided on and merged."""

from __future__ import annotations

from simulation.mutations.mutant import (
    DECIDE,
    DECIDE_TESTS,
    INGRESS,
    JOBS,
    MERGE,
    OVERRIDES,
    PROCESS,
    SCALER,
    STORE,
    STORE_TESTS,
    Mutant,
    TextEdit,
    left_out,
)

KEEPING = (
    left_out(
        "held-back records are not kept",
        STORE,
        "            for read in one.early[place]\n",
        "            for read in ()\n",
    ),
    Mutant(
        "held-back records are kept as they were decoded",
        (
            TextEdit(
                STORE,
                '        "cause": record.cause,\n',
                '        "cause": record.cause,\n        "dark": record.body is None,\n',
            ),
            TextEdit(
                STORE,
                "            body = decode(value)\n",
                '            body = None if plain["dark"] else decode(value)\n',
            ),
        ),
        aimed=STORE_TESTS + "test_what_one_build_could_not_read_the_next_one_may",
        why="an upgrade must fall into the seconds in which new words are held back",
    ),
    Mutant(
        "held-back records are kept before their row",
        (
            TextEdit(
                STORE,
                "        yield from self._row(key, one)\n",
                "",
            ),
            TextEdit(
                STORE,
                "        for name in sorted(kept - waiting.keys()):\n",
                "        yield from self._row(key, one)\n"
                "        for name in sorted(kept - waiting.keys()):\n",
            ),
        ),
    ),
    left_out(
        "what only a zombie kept is never removed",
        STORE,
        "self._early, self._lost = restored.early, restored.lost",
        "self._early, self._lost = restored.early, set[str]()",
        aimed=STORE_TESTS + "test_a_zombie_that_holds_back_costs_one_rebuild_and_no_more",
        why="every restart reads the log from its beginning, and finds the truth there",
    ),
    Mutant(
        "a row that lies apart is kept once",
        (TextEdit(STORE, "        if row is was:\n", "        if was is not None:\n"),),
        cast="task-service",
    ),
    Mutant(
        "what stands is kept without the end of a job",
        (
            TextEdit(
                "components/runtime/core/standing.py",
                "        case TaskSpecsPublished() | SyncCommitted():\n",
                "        case TaskSpecsPublished():\n",
            ),
        ),
        cast="task-service",
    ),
    Mutant(
        "a life that begins takes no chain",
        (TextEdit("components/task_manager/core/chains.py", "dict(one.last)", "{}"),),
        cast="shard-manager",
    ),
    left_out(
        "positions are kept ahead of rows",
        STORE,
        "        for key in sorted(owner.changed):\n",
        '        kept = {"build": self.build, "logic": owner.component.logic, "form": FORM}\n'
        '        kept["seen"] = owner.seen\n'
        "        yield RowEntry(POSITIONS, _bytes(kept), self.claim)\n"
        "        for key in sorted(owner.changed):\n",
    ),
    left_out(
        "rows are kept before they have caught up",
        PROCESS,
        "        if not self._ready:\n            return  #",
        "        if False:\n            return  #",
    ),
    left_out("a zombie's kept row is accepted", STORE, "elif entry.claim == claim:", "elif True:"),
    left_out("lost rows are not missed", STORE, "if lost or positions", "if positions"),
    left_out(
        "what a zombie hid is not kept again",
        STORE,
        "owner.changed |= restored.again",
        "pass",
        aimed=STORE_TESTS + "test_what_a_zombie_hid_is_kept_again",
        why="what compaction loses by it is missed, and then all is rebuilt from the log",
    ),
    left_out(
        "rows of another logic are taken over",
        STORE,
        'positions.get("logic") != component.logic:',
        '"logic" not in positions:',
        aimed=STORE_TESTS + "test_rows_of_another_logic_are_rebuilt",
        why="no seed changes its logic: the folds it would change are the ones under test",
    ),
)

REQUESTS = (
    left_out(
        "a repeated change id is answered twice",
        INGRESS,
        "    if at < len(live) and live[at].id == request_id:\n",
        "    if False:\n",
    ),
    left_out(
        "ids are forgotten at the answer",
        INGRESS,
        "            return Ingress(was.high_ms, was.live, was.live_bytes, rest)\n",
        "            live = tuple(one for one in was.live if one.id != request_id)\n"
        "            return Ingress(was.high_ms, live, was.live_bytes, rest)\n",
    ),
    left_out(
        "requests count after their validity",
        INGRESS,
        "if not high_ms <= until_ms:",
        "if not until_ms:",
    ),
    left_out(
        "the bound of what is kept whole counts waiting ones only",
        INGRESS,
        "if whole and live_bytes + size > WHOLE_BYTES:",
        "if whole and size * (len(waiting) + 1) > WHOLE_BYTES:",
    ),
    left_out(
        "no bound on bytes kept whole",
        INGRESS,
        "if whole and live_bytes + size > WHOLE_BYTES:",
        "if False:",
    ),
    left_out("no bound on ids", INGRESS, " or len(live) >= KNOWN:", ":"),
    left_out(
        "stale changes are accepted",
        DECIDE,
        "asked.expected_version is not None and asked.expected_version != version:",
        "False:",
    ),
    left_out(
        "changes are accepted after their validity",
        DECIDE,
        "if ask.passed or valid_until_ms(ask.id) < now_ms:",
        "if ask.passed:",
    ),
    left_out(
        "a deletion leaves the versions as they are",
        DECIDE,
        "LayerVersions(*(layer.version + 1 for layer in job.layers)),",
        "LayerVersions(*(layer.version for layer in job.layers)),",
    ),
    left_out(
        "who mitigates an outage queues",
        DECIDE,
        "PEOPLE_FIRST = (ONCALL, OPERATOR_DOOR, BASE, 1, 2)",
        "PEOPLE_FIRST = (BASE, 1, 2, ONCALL, OPERATOR_DOOR)",
        aimed=DECIDE_TESTS + "test_people_come_first",
        why="any order of answers is a right one; this one is kind",
    ),
    left_out(
        "nobody looks at what is left when an override expires",
        DECIDE,
        "refusal or _unfit_later(job, at, made, rules)",
        "refusal",
        aimed=DECIDE_TESTS + "test_a_config_must_stand_once_the_override_has_expired",
        why="histories tell what was merged, not whether it is a config",
    ),
)

CONFIGS = (
    left_out("a merge loses keys", MERGE, "under = into.get(key)", "under = None"),
    left_out(
        "what is cleared stays", MERGE, "_clear(changed, split_path(path))", "split_path(path)"
    ),
    left_out(
        "an expiry restores nothing",
        DECIDE,
        "expected_json=_expected_json(job, at, end.config_json),",
        "expected_json=job.expected_json,",
    ),
    left_out(
        "an expired override stays in its layer",
        JOBS,
        "version=body.version, config_json=body.layer_json, ends=ends)",
        "version=body.version, config_json=layer.config_json, ends=ends)",
    ),
    left_out(
        "a temporary change takes its whole layer along",
        OVERRIDES,
        "before[-1].config_json if before else layer.config_json)",
        '"{}")',
    ),
    left_out(
        "a lasting change makes the temporary ones before it last",
        OVERRIDES,
        "        return _told(change(layer.config_json), after)\n",
        "        return _told(change(layer.config_json), ())\n",
    ),
    left_out(
        "a fact is refused by another topic's state",
        SCALER,
        "            return replace(row, heard=max(",
        "            if load.generation.specs < row.generation:\n"
        "                return row\n"
        "            return replace(row, heard=max(",
        aimed="tests/unit/simulation/test_small_scaler.py::"
        "test_a_report_of_an_older_shape_counts_whenever_it_is_read",
        why="each state a job rests in has a report in the end, whatever was refused before",
    ),
)
