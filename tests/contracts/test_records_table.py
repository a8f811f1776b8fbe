"""The table of records in ARCHITECTURE.md is the written one, and the table of topics names every
writer that decides.
"""

from __future__ import annotations

from typing import Any

import pytest

from components.runtime.core.component import Component
from events.topics import BY_SHORT, TOPICS
from turbine.contract.records_table import DECIDERS, FOLDERS, PAGE, line_of, named, page_with, table


def test_the_page_has_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with(page), "write it again with `python -m turbine.contract.records_table`"


def test_an_older_table_is_replaced() -> None:
    page = PAGE.read_text(encoding="utf-8")
    older = page.replace("| `TaskLoadReported` |", "| `TaskLoadForgotten` |")
    assert older != page
    assert page_with(older) == page


def test_every_record_of_every_topic_has_a_line() -> None:
    written = table()
    for topic in TOPICS:
        assert {kind for kind in topic.records if f"`{kind}`" not in written} == set()
        assert {kind for kind in topic.records if not line_of(topic, kind).writers} == set()


@pytest.mark.parametrize("component", DECIDERS, ids=named)
def test_a_topic_names_each_component_that_decides_on_it(component: Component[Any]) -> None:
    topic = BY_SHORT[component.output]
    assert named(component) in topic.written_by
    assert component.says <= set(topic.records)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_row_is_moved_only_by_records_of_the_topics_that_its_reader_reads(folder: Any) -> None:
    carried = {kind for short in folder.topics for kind in BY_SHORT[short].records}
    assert folder.kinds <= carried


def test_a_writer_of_one_record_is_not_told_of_the_others() -> None:
    containers = BY_SHORT["containers.v1"]
    assert line_of(containers, "ContainerFailedOver").writers == ("shard manager",)
    assert line_of(containers, "ContainerHeartbeat").writers == ("task managers",)
    assert line_of(BY_SHORT["tiers.v1"], "TierDefined").writers == ("operators",)
