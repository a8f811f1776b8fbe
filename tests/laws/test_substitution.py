"""Laws of the substitution: total, one argument for each, values stay text, and like its twin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from components.task_service.core.substitution import ARGUMENT_CHARS, Unfit, substitute

NAMES = ["job", "task", "input.0.topic"]
values = st.fixed_dictionaries({name: st.text("ab$ {}\"';\n(`", max_size=6) for name in NAMES})
pieces = st.sampled_from(
    [*(f"${{{name}}}" for name in NAMES), "$", "$$", "${", "}", "{", "x", "jo"]
)
arguments = st.lists(st.lists(pieces, max_size=8).map("".join) | st.text(max_size=8), max_size=4)


def fill_slowly(argument: str, known: dict[str, str]) -> str | None:
    """One character after the other; None where it cannot be filled in."""
    out, at = "", 0
    while at < len(argument):
        if argument.startswith("$$", at):
            out, at = out + "$", at + 2
        elif argument.startswith("${", at):
            end = argument.find("}", at)
            name = argument[at + 2 : end]
            if end < 0 or name not in known:
                return None
            out, at = out + known[name], end + 1
        else:
            out, at = out + argument[at], at + 1
    return out


@given(arguments, values)
def test_it_equals_the_slow_twin(given_: list[str], known: dict[str, str]) -> None:
    expected = [fill_slowly(one, known) for one in given_]
    found = substitute(given_, known)
    if isinstance(found, Unfit):
        assert expected.index(None) == found.argument
        assert found.known == tuple(known)
        assert str(found).startswith(f"arguments.{found.argument}: ")
    else:
        assert list(found) == expected


@given(arguments, values)
def test_the_number_of_arguments_never_changes(given_: list[str], known: dict[str, str]) -> None:
    found = substitute(given_, known)
    assert isinstance(found, Unfit) or len(found) == len(given_)


@given(st.lists(st.text(max_size=20), max_size=4), values)
def test_any_text_can_be_said(given_: list[str], known: dict[str, str]) -> None:
    """With every dollar doubled it comes out as it is."""
    assert substitute([one.replace("$", "$$") for one in given_], known) == tuple(given_)


@given(st.text(max_size=50), values)
def test_without_a_dollar_nothing_happens(text: str, known: dict[str, str]) -> None:
    plain = text.replace("$", "")
    assert substitute([plain], known) == (plain,)


@given(st.text(max_size=50))
def test_a_value_is_never_looked_at_again(value: str) -> None:
    assert substitute(["<${job}>"], {"job": value}) == (f"<{value}>",)


@given(st.integers(0, 9_000), st.integers(0, 3))
def test_no_argument_grows_beyond_the_bound(length: int, times: int) -> None:
    found = substitute(["${job}" * times], {"job": "x" * length})
    assert isinstance(found, Unfit) == (length * times > ARGUMENT_CHARS)
