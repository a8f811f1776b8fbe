"""The reference names every command and every exit code, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from components.task_service.core.substitution import KNOWN
from events.job_config.policies.chosen import Policy
from events.job_config.policies.table import SETTINGS
from projections.scaling.row import OWN_ALERTS
from tests.unit.turbine.lines import run
from turbine.cli.commands import app
from turbine.cli.documents import read_wishes
from turbine.cli.table import ENTRIES, spelled
from turbine.failures import MEANINGS
from turbine.read.answers.policies import document, policy
from turbine.read.answers.scaling import KINDS
from turbine.read.plain import plain

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
TEXT = (DOCS / "cli.md").read_text()


def commands(group: Any, path: str = "turbine") -> Iterator[str]:
    for name, one in sorted(group.commands.items()):
        if getattr(one, "invoke_without_command", False):
            yield f"{path} {name}"
        if hasattr(one, "commands"):
            if one.invoke_without_command:
                yield f"{path} {name}"
            yield from commands(one, f"{path} {name}")
        elif not one.hidden:
            yield f"{path} {name}"


def named(line: str) -> list[str]:
    """The commands that `turbine broker start|stop` stands for."""
    words = re.match(r"turbine(?: [a-z-]+(?:\|[a-z-]+)*)+", line)
    found = [""]
    for word in words[0].split() if words else ():
        found = [f"{one} {part}".strip() for one in found for part in word.split("|")]
    return [with_usual(one) for one in found]


def with_usual(line: str) -> str:
    """`turbine delete clicks` is `turbine delete job clicks`."""
    words = line.split()
    group = ENTRIES.get(words[1]) if len(words) > 1 else None
    return line if group is None else " ".join([*words[:2], *spelled(group, words[2:])])


ALL = list(commands(typer.main.get_command(app)))
NAMED = {one for at in re.finditer("turbine [a-z]", TEXT) for one in named(TEXT[at.start() :])}


def test_every_command_is_named() -> None:
    assert len(ALL) > 50
    assert [
        command
        for command in ALL
        if not any(one == command or one.startswith(f"{command} ") for one in NAMED)
    ] == []


def test_no_other_command_is_named() -> None:
    assert [one for one in sorted(NAMED) if not one.startswith(tuple(ALL))] == []


def test_every_exit_code_is_named_with_its_meaning() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", TEXT, re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == {
        code.value: meaning for code, meaning in MEANINGS.items()
    }


def test_every_name_of_an_argument_is_described_as_it_is() -> None:
    assert dict(re.findall(r"^\| `\$\{(.+)\}` \| (.+) \|$", TEXT, re.MULTILINE)) == dict(KNOWN)


def test_the_example_can_be_read(tmp_path: Path) -> None:
    [example] = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "job.yaml"
    path.write_text(example)
    assert [(one.job, one.whole, one.clear) for one in read_wishes(str(path))] == [
        ("clicks", True, ()),
        ("views", False, ("slo.lag_seconds",)),
    ]


# --- the other pages

PAGES = sorted(path for path in DOCS.rglob("*.md") if "adr" not in path.parts)


def said(text: str) -> set[str]:
    """The commands that a page tells its reader to type: in code, and no sentence about Turbine."""
    code = re.findall(r"`(turbine [a-z][^`]*)`", text) + re.findall(
        r"^    (turbine [a-z].*)$", text, re.MULTILINE
    )
    return {one for line in code for one in named(line)}


def unknown(text: str) -> list[str]:
    """The commands that a page names and that there are none of."""
    found = [one for one in sorted(said(text)) if not one.startswith(tuple(ALL))]
    return [one for one in found if not any(name.startswith(one) for name in ALL)]


def dangling(path: Path) -> list[str]:
    """The links of a page to what is not there."""
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", path.read_text())
    return [one for one in links if not (path.parent / one).exists()]


def test_no_page_names_a_command_that_there_is_none_of() -> None:
    found = {path.name: unknown(path.read_text()) for path in PAGES}
    assert {page: names for page, names in found.items() if names} == {}
    assert unknown("`turbine get jobs` and `turbine fly away`") == ["turbine fly away"]


def test_what_a_page_links_to_is_there(tmp_path: Path) -> None:
    found = {path.name: dangling(path) for path in PAGES}
    assert {page: links for page, links in found.items() if links} == {}
    (tmp_path / "page.md").write_text("[a](page.md#b), [c](https://x.example), [d](../gone.md#e)")
    assert dangling(tmp_path / "page.md") == ["../gone.md"]


def test_the_settings_of_policies_are_told_as_they_are() -> None:
    told = (DOCS / "policies.md").read_text()
    assert told == document(), "write it again with `python -m turbine.read.answers.policies`"


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_has_a_meaning_and_says_what_it_may_be(name: str) -> None:
    for row in policy(name).settings:
        assert row.meaning, row.setting
        assert row.values, row.setting


def test_values_are_told_in_words() -> None:
    told = {row.setting: row.values for name in SETTINGS for row in policy(name).settings}
    assert told["margin"] == "a number from 1 to 3"
    assert told["saves_share"] == "a number from 0.001, below 1"
    assert told["scaling_enabled"] == "true or false"
    assert told["up_select"] == "max, min, disabled"
    assert told["excluded_periods"] == "a list of texts"
    assert told["up_rates"] == "a list of objects of kind, value, period_s"
    assert told["quota_cpu"] == "a number from 0.001 to 10,000,000, or null"
    assert told["fallback"].startswith("an object of failure_threshold, ")


def test_a_policy_is_described_by_its_settings() -> None:
    shown = run("describe", "policy", "turbine", "-o", "json")
    assert json.loads(shown.out) == plain(policy("turbine"))
    lines = run("describe", "policy", "keda").out.splitlines()
    assert lines[0].split() == ["SETTING", "DEFAULT", "VALUES", "MEANING"]
    assert len(lines) == 1 + len(SETTINGS["keda"].model_fields)


def test_scaling_names_what_there_is() -> None:
    text = (DOCS / "scaling.md").read_text()
    modes = get_args(Policy.model_fields["mode"].annotation)
    assert {one for one in (*SETTINGS, *modes, *KINDS) if f"`{one}`" not in text} == set()


def test_every_page_that_an_alert_names_is_there() -> None:
    source = "".join(path.read_text() for path in (ROOT / "components").rglob("*.py"))
    pages = set(re.findall(r"docs/runbooks/[a-z-]+\.md", source))
    assert pages, "the alerts are not found"
    pages |= {f"docs/runbooks/{alert}.md" for alert in OWN_ALERTS}
    assert {one for one in pages if not (ROOT / one).is_file()} == set()


def test_a_runbook_is_called_as_its_alert() -> None:
    titles = {one.stem: one.read_text().splitlines()[0] for one in (DOCS / "runbooks").iterdir()}
    assert titles == {name: f"# {name}" for name in titles}
    assert titles
