"""`why-not`: what stood against an action, and the least that would have had to be otherwise."""

from __future__ import annotations

from typer import Context

from events.job_config.strict_json import shorten
from events.topics import JOURNAL
from turbine.cli.columns import listed
from turbine.cli.options import At, JobName, Shown, check_job
from turbine.cli.output import show
from turbine.cli.reading import existing_job, open_until
from turbine.cli.scaled import silence
from turbine.read.answers.scaling import ACTIONS, SHOWN
from turbine.read.answers.why_not import AskedAgain, WhyNot
from turbine.read.answers.why_not import why_not as answer_to
from turbine.read.moments import show_time
from turbine.read.plain import plain
from turbine_client.errors import BadRequest


def why_not(
    context: Context, name: JobName, *, action: str, at: At = None, output: Shown = "table"
) -> int:
    """Say why the auto scaler did not do something about a job, and what would have made it.

    What stood against it, and when, the newest first. Then the last verdict is asked about again:
    the policy looks at what it looked at then, with one input or one setting changed, and the
    nearest changes are told with which it comes to the action.

    --action ACTION: Such as scale-up or scale-down.
    """
    check_job(name)
    _check_action(action)
    log, end = open_until(context, at, [JOURNAL])
    job = existing_job(log, name, at, end)
    answer = answer_to(log, job, log.decisions(job=name, end=end), action)
    return show(plain(answer), output, lambda: _text(answer))


def _check_action(action: str) -> None:
    if action not in ACTIONS:
        raise BadRequest(
            f"--action: there is no action {shorten(action)}; use one of {', '.join(ACTIONS)}"
        )


# --- told


def _text(answer: WhyNot) -> str:
    head = f"{answer.job}: policy {answer.policy}, mode {answer.mode}"
    if not answer.reasons:
        return f"{head}\n{silence(alive=answer.alive, mode=answer.mode)}"
    newest = answer.reasons[0]
    verdict = "it was taken" if newest.taken else f"no {answer.action}"
    told = f"{verdict}, {show_time(newest.at_ms)}: {newest.text}"
    parts = [
        head,
        told,
        "",
        listed(answer.reasons, "WHEN=at_ms:time, WHY=text, UNTIL=until_ms:time, ID"),
    ]
    return "\n".join([*parts, *_asked_again(answer.asked, answer.action)])


def _asked_again(asked: AskedAgain | None, action: str) -> list[str]:
    """What would have made it, the nearest first."""
    if asked is None:
        return []
    head = f"the last verdict, {show_time(asked.at_ms)} ({asked.position})"
    if not asked.rebuilt:
        return ["", f"{head}: the log does not tell any more what it was made on"]
    lines = ["", f"{head}: {asked.verdict}, {asked.explanation}"]
    if not asked.same:
        lines.append("this build comes to another word on the same evidence; what follows is its")
    if asked.already:
        still = f"; what stood against it: {asked.hindered}" if asked.hindered else ""
        return [*lines, f"the policy came to {action} itself{still}"]
    enough = asked.counterfactuals or ()
    if not enough:
        none = f"no single change of its {asked.tried} inputs and settings makes it {action}"
        return [*lines, none]
    lines += [f"  {one.text}" for one in enough[:SHOWN]]
    hidden = len(enough) - SHOWN
    return [*lines, *([f"  and {hidden} more; -o json has all"] if hidden > 0 else [])]
