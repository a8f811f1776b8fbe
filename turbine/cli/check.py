"""`check`: finds what is wrong with the operators of a file's jobs before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Annotated

from typer import Argument, Context

from events.job_config.strict_json import printable
from turbine.cli.documents import LayerWish, read_wishes
from turbine.cli.options import Shown, chosen
from turbine.cli.output import show
from turbine.extras import require
from turbine.failures import Code
from turbine.ops.checked import ConfigMistake, FirstTask, trial_of, try_all
from turbine.read.moments import parse_span
from turbine.read.plain import JsonObject
from turbine_client.errors import BadRequest
from turbine_client.settings import Settings

Source = Annotated[str, Argument(metavar="FILE", help="YAML; - is standard input.")]


def check(context: Context, *, file: Source, timeout: str = "60s", output: Shown = "table") -> int:
    """See whether the jobs of a file could run: their configs, operators, columns and queries.

    Each operator is called as its first task would call it, on an empty stream, in a process of its
    own. No broker is needed, and nothing is sent.

    --timeout SPAN: Patience with each job, such as 90s.
    """
    require("turbine check", "spark")
    patience_s = parse_span(timeout, "--timeout") / 1000
    wishes = read_wishes(file)
    for wish in wishes:
        if not wish.whole:
            raise BadRequest(
                f"{wish.where}: `set` and `clear` change a job that is there; give `check` whole"
                " configs"
            )
    trials = [trial_of(wish.job, wish.set) for wish in wishes]
    rows = list(_rows(wishes, trials, chosen(context).settings(), patience_s))
    return _show(rows, output)


def _rows(
    wishes: Sequence[LayerWish],
    trials: Sequence[FirstTask | ConfigMistake],
    settings: Settings,
    patience_s: float,
) -> Iterator[JsonObject]:
    due = [one for one in trials if isinstance(one, FirstTask)]
    with closing(try_all(due, settings.spark, patience_s)) as answers:
        for wish, trial in zip(wishes, trials, strict=True):
            found = trial if isinstance(trial, ConfigMistake) else next(answers)
            row: JsonObject = {"job": wish.job, "place": wish.where}
            if isinstance(found, ConfigMistake):
                wrong = {"path": found.path, "explanation": found.explanation}
                yield row | {"verdict": "wrong"} | wrong
            else:
                known = {name: found[name] for name in ("stateful", "columns")}
                yield row | {"verdict": "ok"} | known


def _show(rows: Sequence[JsonObject], output: str) -> int:
    show(list(rows), output, lambda: "\n".join(_sentence(row) for row in rows))
    return Code.OK if all(row["verdict"] == "ok" for row in rows) else Code.FAILED


def _sentence(row: JsonObject) -> str:
    if row["verdict"] == "wrong":
        return printable(f"{row['job']}: wrong, {row['place']}: {row['explanation']}")
    columns = ", ".join(f"{one['name']} {one['type']}" for one in row["columns"])
    kept = "keeps state" if row["stateful"] else "keeps no state"
    return printable(f"{row['job']}: ok, {kept}, writes {columns}")
