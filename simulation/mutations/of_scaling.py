"""Rules of the auto scaler that mutants leave out: its rails, its rounds, and what it remembers."""

from __future__ import annotations

from dataclasses import replace

from simulation.mutations.mutant import Mutant, TextEdit, left_out

ROOM = "components/auto_scaler/core/"
ROW = "projections/scaling/"
ACTING = ROOM + "acting.py"
APPLY = ROW + "apply.py"
CLOSING = ROOM + "closing.py"
DECIDE = "components/auto_scaler/decide.py"
FOLD = ROW + "fold.py"
LOOKING = ROOM + "evaluation.py"
ROUNDS = ROW + "rounds.py"
CAUSES = ROOM + "policies/turbine/causes.py"
CAPACITY = ROW + "model.py"
WORDS = ROOM + "words.py"

COMPONENT_TESTS = "tests/unit/auto_scaler/test_component.py::"
LIMITS_TESTS = "tests/unit/auto_scaler/test_limits.py::"
CAUSES_TESTS = "tests/unit/auto_scaler/test_causes.py::"
CAPACITY_TESTS = "tests/unit/auto_scaler/test_model.py::"
ROUNDS_TESTS = "tests/unit/auto_scaler/test_rounds.py::"

RAILS = (
    left_out(
        "what people have set is proposed",
        ACTING,
        "size = without(wanted, have, row.config.oncall)",
        "size = wanted",
    ),
    left_out(
        "a change is looked past while it is on its way",
        DECIDE,
        "waits = row.change is not None and row.change.effect_ms is None",
        "waits = False",
        aimed=COMPONENT_TESTS + "test_a_decision_owes_its_proposal_until_that_is_read_back",
        why="the policy lets a change settle for longer than it takes to come into effect",
    ),
    left_out(
        "a job is made smaller though some of its tasks are silent",
        CAUSES,
        "if newest.heard < 1 or newest.lag is None or newest.busy is None:",
        "if False:",
        aimed=CAUSES_TESTS + "test_what_is_unknown_is_no_number",
        why="two hours are looked back at: a job is made smaller when faults are over",
    ),
    left_out(
        "a job is changed as often as its policy likes",
        ACTING,
        "if len(spent) >= most:",
        "if False:",
        aimed=LIMITS_TESTS + "test_a_job_has_so_many_changes_an_hour",
        why="the policy lets a change settle, so few seeds have so many within the hour",
    ),
    left_out(
        "a job that has to stop goes on",
        DECIDE,
        "if grant.stop and holds and not paused_by_us and not facts.paused:",
        "if False:",
        aimed=LIMITS_TESTS + "test_a_job_that_has_to_stop_stops_and_comes_back",
        why="nobody shares out capacity in a seed: no job is told to stop",
    ),
    left_out(
        "a job that had to stop never comes back",
        DECIDE,
        "if paused_by_us and not (grant.stop and holds):",
        "if False:",
        aimed=LIMITS_TESTS + "test_a_job_that_has_to_stop_stops_and_comes_back",
        why="nobody shares out capacity in a seed: no job is told to stop",
    ),
)

OUTCOMES = (
    left_out(
        "a proposal that came too late is waited for", CLOSING, "if change.lapsed:", "if False:"
    ),
    left_out(
        "a proposal that was rejected is waited for",
        CLOSING,
        "elif change.refused:",
        "elif False:",
        aimed=COMPONENT_TESTS
        + "test_a_proposal_that_is_rejected_is_given_up_and_another_waits_for_its_validity",
        why="few proposals are rejected, and people change most of those jobs once more",
    ),
    left_out(
        "no change is ever judged", CLOSING, "elif now_ms >= (due_ms(row) or 0):", "elif False:"
    ),
    left_out(
        "a proposal is owed after it was read back",
        FOLD,
        "owed = tuple([one for one in row.owed if one.id != name]) if ours else row.owed",
        "owed = row.owed",
        aimed=COMPONENT_TESTS + "test_a_decision_owes_its_proposal_until_that_is_read_back",
        why="histories notice it, too: by words without an end, which take very long",
    ),
    left_out(
        "what takes a change back is never proposed",
        APPLY,
        "owed = (*row.owed, owed_by(back, body.explanation))",
        "owed = row.owed",
        aimed=COMPONENT_TESTS
        + "test_a_change_that_did_not_help_is_taken_back_and_not_tried_again_for_a_while",
        why="few changes of a seed are taken back: with most of them a plant reads more",
    ),
    left_out(
        "what takes a change back is never over",
        APPLY,
        "return None if change.action == REVERT else change._replace(effect_ms=now_ms)",
        "return change if change.action == REVERT else change._replace(effect_ms=now_ms)",
        aimed=COMPONENT_TESTS
        + "test_a_change_that_did_not_help_is_taken_back_and_not_tried_again_for_a_while",
        why="few changes of a seed are taken back: with most of them a plant reads more",
    ),
    left_out(
        "a change that did not help is forgotten",
        APPLY,
        "    row = row._replace(done=done_after(row.done, deed, UNSIZED, now_ms))\n",
        "",
        aimed=COMPONENT_TESTS
        + "test_a_change_that_did_not_help_is_taken_back_and_not_tried_again_for_a_while",
        why="few changes of a seed are taken back: with most of them a plant reads more",
    ),
    left_out(
        "what was told is told again",
        ACTING,
        "    if (told.action, told.reason, told.diagnosis)"
        " == (verdict.action, reason, verdict.diagnosis):\n",
        "    if False:\n",
        aimed=COMPONENT_TESTS + "test_a_healthy_job_says_so_once",
        why="histories notice it, too: by words without an end, which take very long",
    ),
    left_out(
        "an alert is never over",
        DECIDE,
        "for name in sorted(row.alerts - {wanted}):",
        "for name in ():",
    ),
    left_out(
        "a verdict does not say why",
        WORDS,
        "symptom=verdict.symptom,\n        diagnosis=verdict.diagnosis,\n        raw_tasks",
        'symptom=verdict.symptom,\n        diagnosis="",\n        raw_tasks',
    ),
)

LEARNING = (
    Mutant(
        "what was decided is remembered by the verdict and not by its record",
        (
            TextEdit(LOOKING, "OLD = 2\n", "DONE = {}\nOLD = 2\n"),
            TextEdit(
                LOOKING,
                "        return made(*key).look(_memory(row), job, profile_of(row.days), now_ms)"
                "[1]\n",
                "        memory = _memory(row)._replace(done=DONE.get(row.name, row.done))\n"
                "        days = profile_of(row.days)\n"
                "        memory, said = made(*key).decide(memory, job, days, now_ms)\n"
                "        DONE[row.name] = memory.done\n"
                "        return said\n",
            ),
        ),
    ),
    left_out(
        "loads count once the job is known",
        FOLD,
        "            return _learnt(row, body, read.at_ms, watch)\n",
        "            return _learnt(row, body, read.at_ms, watch) if row.config.alive else row\n",
    ),
    left_out(
        "metrics that are frozen teach what a job can read",
        CAPACITY,
        "return seen, seen.same == 0 and share is not None",
        "return seen, share is not None",
        aimed=CAPACITY_TESTS + "test_a_job_that_is_too_small_grows_though_its_metrics_were_frozen",
        why="few seeds make a job smaller while its metrics are frozen, and leave it so",
    ),
    left_out(
        "tasks of older specs are heard",
        ROUNDS,
        "if specs < rounds.specs or not 0 <=",
        "if not 0 <=",
        aimed=ROUNDS_TESTS + "test_repetition_and_older_ones_change_nothing",
        why="every reader makes the same minutes of it, and the policy makes do with odd ones",
    ),
    left_out(
        "a minute is over before all tasks were heard",
        ROUNDS,
        "if rounds.listened >= min(rounds.tasks, TASKS_MOST):",
        "if rounds.listened >= 1:",
        aimed=ROUNDS_TESTS + "test_a_round_closes_when_every_task_was_heard",
        why="every reader makes the same minutes of it, and the policy makes do with odd ones",
    ),
    left_out(
        "a report that is said again is another one",
        ROUNDS,
        "_named(body) <= (known.shard, known.epoch, known.report)",
        "_named(body) < (known.shard, known.epoch, known.report)",
        aimed=ROUNDS_TESTS + "test_repetition_and_older_ones_change_nothing",
        why="every reader makes the same minutes of it, and the policy makes do with odd ones",
    ),
    left_out(
        "a restart is counted with each round after it",
        ROUNDS,
        "        stop_ms=None,\n        closed_ms=rounds.at_ms,\n",
        "        closed_ms=rounds.at_ms,\n",
        aimed=ROUNDS_TESTS + "test_a_restart_is_told_once",
        why="every reader makes the same minutes of it, and the policy makes do with odd ones",
    ),
)

SIZING: tuple[Mutant, ...] = tuple(
    replace(mutant, cast="auto-scaler") for mutant in (*RAILS, *OUTCOMES, *LEARNING)
)
