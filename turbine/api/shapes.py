"""The form of the answers about jobs, decisions and alerts: the document /openapi.json is of these.

Named as the command line's `-o json` names them. What is unknown is null, never 0.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from turbine.read.answers.alerts import Alert
from turbine.read.answers.jobs import Layer
from turbine.read.answers.journal import DecisionLine
from turbine.read.answers.lines import JobLine
from turbine.read.answers.scaling import Sizing

Json = dict[str, Any]


class AnswerShape(BaseModel):
    """Part of an answer. A newer build may say more than is told here; a test sees that this one
    does not."""

    model_config = ConfigDict(extra="allow", frozen=True)


class JobAnswer(AnswerShape):
    """One job in full, as `turbine describe job -o json` shows it."""

    job: str
    alive: bool
    versions: dict[str, int]
    expected: Json
    origins: dict[str, str]
    layers: dict[str, Layer]
    sync: Json = Field(description="Its way from expected to running; empty where nobody told.")
    scaling: Sizing
    decisions: list[DecisionLine]
    line: JobLine
    open_alerts: list[Alert]


class LogLine(AnswerShape):
    """One line of what a task printed."""

    at_ms: int
    run: str = Field(description="Of its container's life: one start of the task.")
    stream: str = Field(description="engine, output, stdout, stderr or log.")
    text: str


class TaskLogAnswer(AnswerShape):
    """What a task printed last."""

    job: str
    task: int
    name: str
    container: str
    host: str | None
    read_ms: int
    cut: bool = Field(description="There were more lines than an answer holds.")
    lines: list[LogLine]


class SeriesAnswer(AnswerShape):
    """How a job did over time; null where nothing was reported."""

    job: str
    t_ms: list[int] = Field(description="Where each bucket begins.")
    end_ms: int = Field(description="Where the last of them ends.")
    rate_in: list[float | None]
    rate_out: list[float | None]
    lag_seconds: list[float | None]
    lag_records: list[float | None]
    tasks: list[float | None] = Field(description="That had reported as the bucket began.")
    cores: list[float | None]


class DecisionsAnswer(AnswerShape):
    """A page of decisions, the newest first."""

    items: list[DecisionLine]
    next: str | None


class MarkersAnswer(AnswerShape):
    """What was decided when, for a bar of time."""

    t_ms: list[int]
    config: list[int]
    sync: list[int]
    scaling: list[int]
    placement: list[int]
    alert: list[int]
