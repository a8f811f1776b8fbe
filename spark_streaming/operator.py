"""Finds a job's operator, calls it, and brings what it returns into the form of a Kafka record."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from spark_streaming.context import (
    TEXT_CHARS,
    BadOperator,
    OperatorFailed,
    TaskContext,
    spark_said,
    whole_input,
)

Operator = Callable[[DataFrame, TaskContext], DataFrame]

SQL = "sql"
"""No function has this name: functions have a colon."""
_MADE_BY_KAFKA = frozenset({"topic", "partition", "offset", "timestampType"})


_OURS = frozenset({"pyspark", "spark_streaming"})
_versions: dict[str, str] = {}
_importing = threading.Lock()


def renew(name: str, release: str) -> None:
    """Forgets the operator's package where another version of it was imported: else its old code
    would go on under the new version's name. What runs already keeps what it has."""
    root = name.partition(":")[0].partition(".")[0]
    with _importing:
        known = _versions.setdefault(root, release)
        if known == release or root in _OURS:
            return
        for one in [one for one in sys.modules if one == root or one.startswith(f"{root}.")]:
            del sys.modules[one]
        invalidate_caches()
        _versions[root] = release


def check_installed(name: str, package: str, wanted: str) -> None:
    """BadOperator where another version of the job's package is installed than its config names:
    else the log would name code that never ran. Of one that was not installed by its name, such as
    a folder on the path, nobody knows the version."""
    if name == SQL:
        return  # none of it is anybody's code
    invalidate_caches()  # it may have been installed since the container began
    try:
        found = version(package)
    except PackageNotFoundError:
        return
    if found != wanted:
        raise BadOperator(
            f"operator {name}: the config names {package} {wanted}, and {package} {found} is"
            f" installed in the container; install {wanted}, or set package.version to {found}"
        )


def load_operator(name: str) -> Operator:
    """The function that `package.module:function` names; BadOperator where there is none."""
    module_name, _, function = name.partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as missing:
        raise BadOperator(
            f"operator {name}: there is no module {missing.name}; install the job's package in the"
            " container, or correct the name"
        ) from None
    except (Exception, SystemExit) as error:
        raise OperatorFailed(
            f"operator {name}: importing {module_name} failed with {_said(error)}"
        ) from error
    found = getattr(module, function, None)
    if not callable(found):
        raise BadOperator(f"operator {name}: {module_name} has no function {function}")
    try:
        inspect.signature(found).bind(None, None)
    except TypeError:
        raise BadOperator(
            f"operator {name}: it has to take two arguments, a DataFrame and a TaskContext"
        ) from None
    return found  # type: ignore[no-any-return]  # what it returns is looked at when it is called


def apply_operator(name: str, query: str, context: TaskContext) -> DataFrame:
    """What the task writes, as columns key and value."""
    return write_records(name, call_operator(name, query, context))


def write_records(name: str, found: DataFrame) -> DataFrame:
    """What the operator has returned, in the form of Kafka's records."""
    with _explained(name):
        return as_records(found)


def call_operator(name: str, query: str, context: TaskContext) -> DataFrame:
    """What the operator returns, in columns of its own."""
    with _explained(name, context):
        if name == SQL:
            found = _query(query, context)
        else:
            found = load_operator(name)(whole_input(context.raw, context.sources), context)
    if not isinstance(found, DataFrame):
        raise BadOperator(
            f"operator {name}: it has to return a DataFrame, and returned a {type(found).__name__}"
        )
    _check_source(name, found)
    return found


@contextmanager
def _explained(name: str, context: TaskContext | None = None) -> Iterator[None]:
    """Whatever is raised within becomes a sentence about the operator."""
    try:
        yield
    except (BadOperator, OperatorFailed):
        raise
    except PySparkException as error:
        known = ""
        if context is not None and error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
            names = ", ".join(f"`{one.topic}`" for one in context.sources)
            known = f"; the job reads {names}"
        # What the query says comes out the same again; what it needs may be there the next time.
        kind = BadOperator if isinstance(error, AnalysisException) else OperatorFailed
        raise kind(f"operator {_called(name)}: {spark_said(error)}{known}") from error
    # A module that ends the program it is imported by would end the task without a word.
    except (Exception, SystemExit) as error:
        raise OperatorFailed(f"operator {_called(name)} failed with {_said(error)}") from error


def _query(query: str, context: TaskContext) -> DataFrame:
    """The query over views that are named after the inputs, in a session of its own: views of two
    tasks may have one name."""
    session = context.raw.sparkSession
    for one in context.sources:
        context.input(one.topic).createOrReplaceTempView(f"`{one.topic}`")
    return session.sql(query)


def _check_source(name: str, rows: DataFrame) -> None:
    """What a batch has read is committed as the offsets of one source. Another one, or the same one
    read twice, has other offsets, which nobody would commit."""
    found: list[Any] = []
    for node in _nodes(rows._jdf.queryExecution().analyzed()):
        is_read = node.nodeName().startswith("StreamingRelation")
        if is_read and not any(map(node.equals, found)):
            found.append(node)
    if len(found) > 1:
        raise BadOperator(
            f"operator {_called(name)}: it reads {len(found)} streams; take each use of an input"
            " from context.input(topic), and read no stream beside them"
        )
    if not found:
        raise BadOperator(
            f"operator {_called(name)}: what it returns is no stream; make it of the input"
        )


def as_records(rows: DataFrame) -> DataFrame:
    """A row without a value becomes one JSON object, of all columns but the key and what Kafka had
    said of its input."""
    types = dict(rows.dtypes)
    columns = [F.col("key") if "key" in types else F.lit(None).alias("key")]
    if "value" in types:
        columns.append(_bytes_of(F.col("value"), types["value"]).alias("value"))
    else:
        said = [f"`{name}`" for name in rows.columns if name not in {"key", *_MADE_BY_KAFKA}]
        packed = F.to_json(F.struct(*said)) if said else F.lit("{}")
        columns.append(packed.cast("binary").alias("value"))
    columns[0] = _bytes_of(columns[0], types.get("key", "string")).alias("key")
    return rows.select(*columns)


def _bytes_of(column: Column, type_name: str) -> Column:
    if type_name == "binary":
        return column
    if type_name.startswith(("struct", "array", "map", "variant")):
        return F.to_json(column).cast("binary")
    return column.cast("string").cast("binary")


def is_stateful(rows: DataFrame) -> bool:
    """Does the query keep anything from one batch to the next? Then its checkpoint has to be kept,
    and what it holds has to move with it."""
    return any(_holds_state(node) for node in _nodes(rows._jdf.queryExecution().analyzed()))


def _holds_state(node: Any) -> bool:
    """Of tables nothing is kept, and a join with one needs to keep nothing of the stream."""
    name, streams = node.nodeName(), [one.isStreaming() for one in _children(node)]
    return name in _STATEFUL and (all(streams) if name == "Join" else any(streams))


_STATEFUL = frozenset(
    {
        "Aggregate",
        "Deduplicate",
        "DeduplicateWithinWatermark",
        "Distinct",
        "FlatMapGroupsInPandasWithState",
        "FlatMapGroupsWithState",
        "GlobalLimit",
        "Join",
        "TransformWithState",
        "TransformWithStateInPySpark",
    }
)
"""Nodes of a plan that hold state where their input is a stream."""


def _nodes(plan: Any) -> list[Any]:
    nodes, todo = list[Any](), [plan]
    while todo:
        nodes.append(todo.pop())
        todo += _children(nodes[-1])
    return nodes


def _children(node: Any) -> list[Any]:
    children = node.children()
    return [children.apply(at) for at in range(children.size())]


def _called(name: str) -> str:
    return "query" if name == SQL else name


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:TEXT_CHARS]}" if text else type(error).__name__
