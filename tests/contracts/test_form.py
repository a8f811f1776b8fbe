"""The form of the code that no linter checks: STYLE.md as rules, each seen to go red."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from benchmarks.house import modules_in, names_twice

ROOT = Path(__file__).parents[2]
ROOMS = sorted([*(path.parent.name for path in ROOT.glob("*/__init__.py")), "client", "examples"])
GENERATED = {
    "client/turbine_client/records.py",
    "events/generated/records.py",
    "events/generated/decoders.py",
}
"""Written by `python -m events.wire.generate`; their length follows from the schemas."""

FUNCTION_LINES_MAX = 40
FILE_LINES_MAX = 400
VAGUE = re.compile(r"Helper|Info$|Data$|Util")
MANAGERS = {"ShardManager", "TaskManager", "CapacityManager"}
"""The paper's own names; any other Manager is something that was not thought through."""
AROUND_CLASSES = frozenset({"benchmarks", "tests"})
"""Rooms whose classes are of one file or one test; any other class is named once in the tree."""
DOCSTRING_WORDS_MIN = 5
"""What needs fewer words has a good name already, and no docstring."""
DOCUMENTED = (
    *("client/", "components/", "events/", "infra/"),
    *("projections/", "spark_streaming/", "tasks/", "turbine/", "examples/"),
)
"""Rooms in which no docstring is shorter."""
VAGUE_FILES = {"utils", "util", "helpers", "helper", "common", "misc"}
# A mark of unfinished work, or of a place that the reader does not have. Put together here, so that
# this file does not hold them.
BANNED = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "/wo" + "rk/",
                              "/ro" + "ot/", "know" + "ledge/", "index" + "-url")))  # fmt: skip
MUTE = re.compile(r"# (noqa|type: ignore)(?![^#\n]* - )(?!\[[^\]]*\]  # \w)(?!: [A-Z0-9, ]+  # \w)")

TEXTS = {".py", ".md", ".toml", ".txt", ".avsc", ".yaml", ".yml", ".xml", ".sh", ""}
SKIPPED = {"target", "__pycache__", "node_modules", "build", "dist"}


def complaints(source: str, name: str = "module.py") -> list[str]:
    """What is wrong with the form of a module, each with its place and the remedy."""
    lines = source.splitlines()
    if not lines:
        return []  # an empty __init__.py knows and decides nothing
    module = ast.parse(source)
    found = list(_about_nodes(module))
    first = (ast.get_docstring(module, clean=False) or "").split("\n")[0].strip()
    if not (first and lines[0].startswith(('"""', 'r"""'))):
        found.append((1, "line 1 does not say what the module knows or decides: begin with it"))
    if len(lines) > FILE_LINES_MAX:
        many = f"{len(lines)} lines, and a file has at most {FILE_LINES_MAX}"
        found.append((FILE_LINES_MAX + 1, f"{many}: divide it by what its parts know"))
    if Path(name).stem in VAGUE_FILES:
        found.append((1, "the file's name says nothing: name it after what it knows"))
    return [f"{name}:{line}: {what}" for line, what in sorted(found)]


def _about_nodes(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        match node:
            case (
                ast.FunctionDef(name=name, lineno=line)
                | ast.AsyncFunctionDef(name=name, lineno=line)
            ):
                length = (node.end_lineno or line) - line + 1
                if length > FUNCTION_LINES_MAX:
                    many = f"{name} has {length} lines, and at most {FUNCTION_LINES_MAX} fit"
                    yield line, f"{many}: take a step of it out"
            case ast.ClassDef(name=name, lineno=line):
                if VAGUE.search(name) or ("Manager" in name and name not in MANAGERS):
                    yield line, f"the name {name} says nothing: name what it is"
                is_open = any(map(_is_open_dataclass, node.decorator_list))
                # What is a cached_property keeps its value in a __dict__.
                if is_open and "cached_property" not in ast.dump(node):
                    yield line, f"{name} is a dataclass without slots: say slots=True"
            case ast.ExceptHandler(type=kind, body=body, lineno=line):
                if kind is None:
                    yield line, "an except without a type: name what can be raised"
                if all(map(_is_nothing, body)):
                    yield line, "an error is passed over in silence: handle it, or suppress() it"
            case _:
                continue


def _is_open_dataclass(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    if not (isinstance(name, ast.Name) and name.id == "dataclass"):
        return False
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    return not any(
        one.arg == "slots" and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in options
    )


def _is_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass():
            return True
        case ast.Expr(value=ast.Constant(value=value)):
            return value is ... or isinstance(value, str)
        case _:
            return False


def brief_docstrings(source: str, name: str) -> list[str]:
    """The docstrings of too few words, each with its place."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text is not None and len(text.split()) < DOCSTRING_WORDS_MIN:
                place = f"{name}:{node.body[0].lineno}"
                found.append(f"{place}: {text!r}: name the thing by its noun, or leave it out")
    return found


def banned(text: str, name: str) -> list[str]:
    """The lines that hold what no file of ours holds."""
    return _matching(BANNED, text, name, "finish it, or name what its reader has")


def mute(source: str, name: str) -> list[str]:
    """The lines that silence a tool and do not say why."""
    return _matching(MUTE, source, name, "say why the tool is silenced, after ` - ` or `  # `")


def _matching(pattern: re.Pattern[str], text: str, name: str, remedy: str) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()}: {remedy}"
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def modules() -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for top in (*ROOMS, "tests")
        for path in (ROOT / top).rglob("*.py")
        if SKIPPED.isdisjoint(path.parts)
    )


def texts() -> list[str]:
    """Every text of the project itself: not what is built or fetched into it."""
    return sorted(
        str(path.relative_to(ROOT))
        for top in (*ROOMS, "tests", "docs", ".ci", "Makefile", "*.md", "*.toml", "*.txt", "*.yaml")
        for found in ROOT.glob(top)
        for path in (found.rglob("*") if found.is_dir() else [found])
        if path.is_file() and path.suffix in TEXTS and SKIPPED.isdisjoint(path.parts)
    )


def about_modules(root: Path, names: Iterable[str]) -> list[str]:
    """All complaints about these modules."""
    return [
        complaint
        for name in names
        if name not in GENERATED
        for source in [(root / name).read_text()]
        for complaint in (
            *complaints(source, name),
            *mute(source, name),
            *(brief_docstrings(source, name) if name.startswith(DOCUMENTED) else ()),
        )
    ]


def about_texts(root: Path, names: Iterable[str]) -> list[str]:
    """All complaints about these texts."""
    return [
        complaint
        for name in names
        for complaint in banned((root / name).read_text(errors="replace"), name)
    ]


def namesakes(root: Path) -> list[str]:
    """All names that several classes have, each with the places of these."""
    return [
        f"{places[0]}: {name} is also the class of {', '.join(places[1:])}: give each a name of"
        " its own, with the noun of its room"
        for name, places in names_twice(modules_in(root), AROUND_CLASSES).items()
    ]


def test_one_class_name_means_one_class() -> None:
    found = namesakes(ROOT)
    assert not found, "\n" + "\n".join(found)


def test_all_namesakes_are_listed_with_their_places(tmp_path: Path) -> None:
    for name, text in {
        "events/a.py": "class Row: ...\nclass Own: ...\n",
        "infra/b.py": "class Own: ...\n",
        "turbine/lab/c.py": "x = 1\n\n\nclass Row: ...\nclass Only: ...\n",
        "tests/d.py": "class Only: ...\n",
        "benchmarks/e.py": "class Only: ...\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    remedy = "give each a name of its own, with the noun of its room"
    assert namesakes(tmp_path) == [
        f"events/a.py:2: Own is also the class of infra/b.py:1: {remedy}",
        f"events/a.py:1: Row is also the class of turbine/lab/c.py:4: {remedy}",
    ]


def test_every_module_has_the_form() -> None:
    found = about_modules(ROOT, modules())
    assert not found, "\n" + "\n".join(found)


def test_no_text_holds_what_is_banned() -> None:
    found = about_texts(ROOT, texts())
    assert not found, "\n" + "\n".join(found)


def test_all_complaints_are_listed_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import os\nx = 1  # no" + "qa\n")
    (tmp_path / "utils.py").write_text('"""Doc."""\n\n\nclass JobInfo: ...\n')
    (tmp_path / "b.md").write_text("fine\n/wo" + "rk/x\n")
    assert about_modules(tmp_path, ["a.py", "utils.py", *GENERATED]) == [
        "a.py:1: line 1 does not say what the module knows or decides: begin with it",
        "a.py:2: x = 1  # no" + "qa: say why the tool is silenced, after ` - ` or `  # `",
        "utils.py:1: the file's name says nothing: name it after what it knows",
        "utils.py:4: the name JobInfo says nothing: name what it is",
    ]
    assert about_texts(tmp_path, ["a.py", "b.md"]) == [
        "b.md:2: /wo" + "rk/x: finish it, or name what its reader has"
    ]


def test_the_tree_is_found() -> None:
    assert {"events/job_config/merge.py", "tests/contracts/test_form.py"} <= set(modules())
    assert {
        "Makefile",
        "README.md",
        ".ci/run",
        "events/job_config/merge.py",
        "pyproject.toml",
    } <= set(texts())
    assert set(modules()) >= GENERATED


def body(lines: int) -> str:
    return '"""Doc."""\ndef f() -> None:\n' + "    f()\n" * (lines - 1)


RED = [
    ("import os\n", "line 1 does not say"),
    ('\n"""Late."""\n', "line 1 does not say"),
    ('""""""\n', "line 1 does not say"),
    (body(41), "f has 41 lines"),
    ('"""Doc."""\nasync ' + body(41).split("\n", 1)[1], "f has 41 lines"),
    ('"""Doc."""\n' * 401, "401 lines"),
    ('"""Doc."""\nclass JobHelper: ...\n', "JobHelper says nothing"),
    ('"""Doc."""\nclass JobInfo: ...\n', "JobInfo says nothing"),
    ('"""Doc."""\nclass QueueManager: ...\n', "QueueManager says nothing"),
    ('"""Doc."""\n@dataclass(frozen=True)\nclass Row: ...\n', "Row is a dataclass without slots"),
    ('"""Doc."""\n@dataclass\nclass Row: ...\n', "Row is a dataclass without slots"),
    ('"""Doc."""\ntry:\n    f()\nexcept:\n    g()\n', "module.py:4: an except without a type"),
    (
        '"""Doc."""\ntry:\n    f()\nexcept KeyError:\n    pass\n',
        "module.py:4: an error is passed over",
    ),
    (
        '"""Doc."""\ntry:\n    f()\nexcept KeyError:\n    ...\n',
        "module.py:4: an error is passed over",
    ),
    (
        '"""Doc."""\ntry:\n    f()\nexcept KeyError:\n    "never"\n',
        "module.py:4: an error is passed",
    ),
]
GREEN = [
    "",
    '"""Doc."""\n',
    body(40),
    '"""Doc."""\n' * 400,
    '"""Doc."""\nclass ShardManager: ...\n',
    '"""Doc."""\n@dataclass(frozen=True, slots=True)\nclass Database: ...\n',
    '"""Doc."""\n@dataclass\nclass Row:\n    @cached_property\n    def x(self) -> int: ...\n',
    '"""Doc."""\ntry:\n    f()\nexcept KeyError:\n    g()\n',
]


@pytest.mark.parametrize(("source", "complaint"), RED)
def test_what_has_not_the_form_is_told(source: str, complaint: str) -> None:
    assert [one for one in complaints(source) if complaint in one]


def test_a_docstring_of_too_few_words_is_told(tmp_path: Path) -> None:
    source = '"""What a room knows now."""\n\n\ndef f() -> None:\n    """As it is."""\n'
    remedy = "name the thing by its noun, or leave it out"
    told = [f"events/a.py:5: 'As it is.': {remedy}"]
    assert brief_docstrings(source, "events/a.py") == told
    for name in ("events/a.py", "simulation/a.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(source)
    assert about_modules(tmp_path, ["events/a.py", "simulation/a.py"]) == told


@pytest.mark.parametrize("source", GREEN)
def test_what_has_the_form_is_left_alone(source: str) -> None:
    assert complaints(source) == []


def test_a_name_that_says_nothing_is_told() -> None:
    (found,) = complaints('"""Doc."""\n', "events/utils.py")
    assert found.startswith("events/utils.py:1: the file's name says nothing")


@pytest.mark.parametrize(
    "line",
    ["x = 1  # TO" + "DO: later", "see /wo" + "rk/x", "pip --index" + "-url x", "know" + "ledge/a"],
)
def test_a_banned_text_is_told(line: str) -> None:
    (found,) = banned(f"fine\n{line}\n", "x.md")
    assert found.startswith(f"x.md:2: {line}: ")


@pytest.mark.parametrize(
    ("line", "is_mute"),
    [
        ("x  @noqa", True),
        ("x  @noqa: S101", True),
        ("x  @noqa: S101 - an invariant", False),
        ("x  @noqa: S101, S102 - an invariant", False),
        ("x  @noqa: S101  # an invariant", False),
        ("x  @type: ignore", True),
        ("x  @type: ignore[misc]", True),
        ("x  @type: ignore[misc]  # untyped", False),
        ("x  @type: ignore[misc]  @noqa: S101", True),
        ("x  @fmt: skip", False),
    ],
)
def test_a_silenced_tool_says_why(line: str, is_mute: bool) -> None:
    # A `@` stands for the mark of a comment: this file must not silence anything itself.
    assert bool(mute(line.replace("@", "# "), "x.py")) is is_mute
