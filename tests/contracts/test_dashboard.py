"""The dashboard's files: foreign ones are what they were locked as; ours put no text where markup
is, ask nobody else, and are small. Each rule is seen to go red.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.contracts.vendored import LOCK, MODULES, PLACES, SHOWN, complaints, ours, theirs
from turbine.contract import runbooks

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "turbine" / "dashboard"
OURS = sorted(
    path
    for path in PAGE.rglob("*")
    if path.suffix in (".js", ".css", ".html", ".svg") and "vendor" not in path.parts
)
LINES_MAX = 400
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySetInnerHTML|srcdoc"
    r"|\beval\(|new Function|DOMParser|createContextualFragment|setHTML|\.parseFromString"
)
ADDRESS = re.compile(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", re.IGNORECASE)
OWN_ADDRESSES = ("http://www.w3.org/", "http://127.0.0.1")
IMPORT = re.compile(r'(?:from|import) "([^"]+)"')
SAID = ("//", "/*", "<!doctype", "<svg")


def wrong_in(text: str) -> list[str]:
    """What is wrong with the form of one of our files, a line each."""
    lines = text.splitlines()
    found = [f"line {at}: {one.strip()}" for at, one in enumerate(lines, 1) if MARKUP.search(one)]
    for at, line in enumerate(lines, 1):
        plain = line
        for own in OWN_ADDRESSES:
            plain = plain.replace(own, "")
        if ADDRESS.search(plain.partition("// ")[0]):
            found.append(f"line {at} names an address")
    if len(lines) > LINES_MAX:
        found.append(f"{len(lines)} lines, and a file has at most {LINES_MAX}")
    if not lines or not lines[0].startswith(SAID):
        found.append("line 1 does not say what the file knows or decides")
    found += [
        f"{one} is no file beside it" for one in IMPORT.findall(text) if not one.startswith(".")
    ]
    return found


def test_every_file_of_ours_has_the_form() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {complaint}"
        for path in OURS
        for complaint in wrong_in(path.read_text(encoding="utf-8"))
    ]
    assert len(OURS) > 10
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("// Says.\nnode.inner" + "HTML = name;", "line 2: node.inner"),
        ("// Says.\nfetch('https://elsewhere.example/x');", "line 2 names an address"),
        ("// Says.\nimg.src = '//elsewhere.example/x';", "line 2 names an address"),
        ("// Says.\n" * 401, "401 lines"),
        ("const late = 1;\n", "line 1 does not say"),
        ('// Says.\nimport { h } from "preact";', "preact is no file"),
    ],
)
def test_what_has_not_the_form_is_told(text: str, complaint: str) -> None:
    assert [one for one in wrong_in(text) if complaint in one]


def test_every_module_is_reached_and_every_import_is_there() -> None:
    reached, left = set[Path](), [PAGE / "app" / "main.js"]
    while left:
        path = left.pop()
        if path in reached:
            continue
        reached.add(path)
        assert path.is_file(), f"{path} is imported and not there"
        text = path.read_text(encoding="utf-8")
        left += [(path.parent / one).resolve() for one in IMPORT.findall(text)]
    assert {one for one in OURS if one.suffix == ".js"} == {
        one for one in reached if "vendor" not in one.parts
    }


def test_the_page_has_nothing_inline() -> None:
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    assert re.findall(r"<script\b[^>]*>", text) == ['<script type="module" src="app/main.js">']
    assert not re.search(r"<style|\son[a-z]+=|\sstyle=|(?:src|href)=\"/", text)


@pytest.mark.parametrize("folder", PLACES, ids=lambda path: path.parent.name)
def test_foreign_files_are_what_was_locked(folder: Path) -> None:
    assert list(complaints(folder)) == []
    named = {one["name"] for one in json.loads((folder / LOCK).read_text())["files"]}
    assert named == {one.name for one in PLACES[folder]}


def test_a_foreign_file_that_was_touched_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "vendor"
    shutil.copytree(SHOWN, folder)
    touched = folder / "htm.js"
    touched.write_bytes(touched.read_bytes() + b"\n")
    (folder / "more.js").write_text("// nobody's")
    (folder / "uplot.css").unlink()
    assert sorted(complaints(folder)) == [
        "htm.js is not the file that was locked",
        "more.js is not in the lock",
        "uplot.css is in the lock, and not here",
    ]


def test_a_lock_that_fits_a_changed_file_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "vendor"
    shutil.copytree(SHOWN, folder)
    locked = json.loads((folder / LOCK).read_text())
    locked["files"][0]["package_sha256"] = "0" * 64
    locked["files"][1]["licence"] = ""
    locked["files"] = [one for one in locked["files"] if one["name"] != "uplot.LICENSE"]
    (folder / "uplot.LICENSE").unlink()
    (folder / LOCK).write_text(json.dumps(locked))
    assert list(complaints(folder)) == [
        "preact.js differs from its package in more than what it imports",
        "preact-hooks.js has no licence or no version",
        "the text of uplot's licence is missing",
    ]


def test_only_imports_are_written_anew() -> None:
    packaged = "import{h}from" + ";import{s}from".join(MODULES)
    assert theirs("x.js", ours("x.js", packaged.encode())) == packaged.encode()
    assert ours("x.css", packaged.encode()) == packaged.encode()


def test_runbooks_are_those_of_the_docs() -> None:
    assert runbooks.FILE.read_text(encoding="utf-8") == runbooks.text(), (
        "docs/runbooks has changed; run `python -m turbine.contract.runbooks`"
    )
    assert "straggler" in json.loads(runbooks.text())
