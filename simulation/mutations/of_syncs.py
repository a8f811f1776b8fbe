"""Rules of the state syncer and the task service that mutants leave out."""

from __future__ import annotations

from simulation.mutations.mutant import Mutant, left_out

DECIDE = "components/state_syncer/decide.py"
PLAN = "components/state_syncer/core/plan.py"
WORDS = "components/state_syncer/core/words.py"
LISTS = "components/task_service/decide.py"
WANTED = "components/task_service/core/wanted.py"
SYNCS = "projections/syncs.py"
WAITS = "projections/waits.py"
KEEPING = "projections/kept_state.py"
VERDICTS = "components/job_service/decide.py"

SYNCING: tuple[Mutant, ...] = (
    left_out(
        "tasks are not waited for when they stop",
        WAITS,
        'in standing(row):\n            yield at, "',
        'in ():\n            yield at, "',
    ),
    left_out(
        "who was heard of is passed over",
        WAITS,
        "if report is None or report.specs < live.generation:",
        "if True:",
        aimed="tests/unit/state_syncer/test_unheard.py::"
        "test_one_who_was_heard_of_meanwhile_is_waited_for",
        why="few who have begun are silent for a round and are stopped then",
    ),
    left_out(
        "who is told to run again is passed over",
        WAITS,
        "running.generation == live.generation:",
        "False:",
        aimed="tests/unit/state_syncer/test_unheard.py::"
        "test_tasks_that_are_told_to_run_again_are_waited_for",
        why="few stops fail, and few of those who did not stop stay silent",
    ),
    left_out("a stop of an older generation counts", WAITS, "report.specs < generation or ", ""),
    left_out(
        "a plan is committed before its tasks have started",
        WAITS,
        "for at in range(tasks_of(plan.config_json)):",
        "for at in ():",
    ),
    left_out(
        "a start of another generation counts",
        WAITS,
        "report.specs != plan.generation or ",
        "",
        aimed="tests/unit/state_syncer/test_plans.py::"
        "test_a_start_of_another_generation_starts_nothing",
        why="a stop comes before, and what an older task says after it no longer counts",
    ),
    left_out(
        "who ran before a plan that failed is not told to run again",
        WANTED,
        "if listed is not None and listed.tasks and listed.versions == running.versions:",
        "if row.trouble is not None or ("
        "listed is not None and listed.tasks and listed.versions == running.versions):",
    ),
    left_out(
        "tasks get a program that cannot read what they keep",
        KEEPING,
        'if not kept.state[1] or kept.config_json in ("", config_json) or kept.anew:',
        "if True:",
    ),
    left_out(
        "what state could not go along to is accepted",
        VERDICTS,
        "refusal = refusal or rules.stays(job, expected_json, job.expected_json)",
        "refusal = refusal or None",
    ),
    left_out(
        "who is created again is kept to nothing",
        KEEPING,
        "return kept._replace(wish=wish, state=state)",
        "return StatefulJob(wish=wish, state=state)",
    ),
    left_out(
        "who is created again is brought to what cannot read what it keeps",
        SYNCS,
        'if body.state == DELETED else ("", "")',
        'if False else ("", "")',
        aimed="tests/unit/state_syncer/test_staying.py::"
        "test_who_is_created_again_is_kept_to_what_ran_before",
        why="whoever accepts a config has nearly always heard of the state by then",
    ),
    left_out(
        "who was reset while it stood still is kept to its program",
        KEEPING,
        'if body.state == PAUSED and wish_of(body.reset_json) not in ("", reset):',
        "if False:",
        aimed="tests/unit/job_service/test_state_stays.py::"
        "test_it_is_given_up_by_a_reset_while_the_job_is_paused",
        why="few jobs are reset while they stand still and get another program then",
    ),
    left_out("failures do not add up", WORDS, "before + 1 if counts", "1 if counts"),
    left_out("a plan that was overtaken has failed", WORDS, 'cause != "overtaken"', "True"),
    left_out(
        "a quarantine does not hold",
        DECIDE,
        "if row.plan is None and row.quarantine is None:",
        "if row.plan is None:",
    ),
    left_out("nobody is told of a quarantine", DECIDE, "and not row.alerted:", "and False:"),
    left_out(
        "another shape is only copied",
        PLAN,
        "any(one.path in reasons for one in differences)",
        "False",
    ),
    left_out(
        "the tasks of a plan are listed before their step",
        WANTED,
        "if plan is not None and plan.step == START:",
        "if plan is not None:",
    ),
    left_out(
        "what runs again goes on under its old generation",
        WANTED,
        "running.generation if same else row.generation + 1",
        "running.generation",
    ),
    left_out(
        "the list is emptied before the plan says so",
        WANTED,
        "if plan is not None and not plan.step:",
        "if False:",
        aimed="tests/simulation/test_crash_points.py::test_a_death_at_any_act_changes_nothing",
        why="the same words in another order; a death between two of them shows it",
    ),
    left_out(
        "tasks are not told what is to be read anew",
        LISTS,
        "reset=reset_of(row.reset),",
        "reset=None,",
    ),
    left_out(
        "what is to be read anew is forgotten with its plan",
        SYNCS,
        "        reset=body.reset_json,\n        generation=max(",
        "        generation=max(",
    ),
    left_out(
        "tasks that run are not stopped to be read anew",
        PLAN,
        "fits = state == was and not resets and",
        "fits = state == was and",
    ),
    left_out(
        "who was told to stop is said to run",
        WAITS,
        "if listed is None or not listed.tasks or listed.generation != running.generation:",
        "if False:",
    ),
    left_out(
        "who was told to run again is said to run",
        WAITS,
        "return running.said == running.generation or all(",
        "return True or all(",
    ),
    left_out(
        "who was told to start is not waited for when it is stopped after all",
        WAITS,
        "return live is None or live.generation <= told",
        "return True",
        aimed="tests/unit/state_syncer/test_settled.py::"
        "test_a_pause_of_a_start_that_failed_waits_for_its_tasks",
        why="few starts fail, and few of those are paused before they are tried again",
    ),
)
