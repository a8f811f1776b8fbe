"""The board of a fleet as Grafana imports it. Pure.

Made here and kept in `infra/grafana`, so that a metric that is called otherwise is a failing test
and not an empty panel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from turbine.exporter.panels import ROWS, Panel

UID = "turbine-fleet"
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDTH = 24
"""Columns of Grafana's grid."""
ROW_HEIGHT, STAT_HEIGHT, GRAPH_HEIGHT = 1, 4, 8


def board() -> dict[str, Any]:
    """The dashboard, as Grafana imports it."""
    return {
        "uid": UID,
        "title": "Turbine: the fleet",
        "description": "Made by `turbine monitoring export`; edit a copy.",
        "tags": ["turbine"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "timezone": "utc",
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {
            "list": [
                {
                    "name": "source",
                    "label": "Prometheus",
                    "type": "datasource",
                    "query": "prometheus",
                    "current": {},
                }
            ]
        },
        "annotations": {"list": []},
        "panels": list(_panels()),
    }


def _panels() -> Iterator[dict[str, Any]]:
    """Row by row, from left to right; a panel that does not fit any more begins a line."""
    number, top = 1, 0
    for title, panels in ROWS:
        place = {"x": 0, "y": top, "w": WIDTH, "h": ROW_HEIGHT}
        yield {"id": number, "type": "row", "title": title, "collapsed": False, "gridPos": place}
        number, top, left, height = number + 1, top + ROW_HEIGHT, 0, 0
        for panel in panels:
            if left + panel.width > WIDTH:
                top, left = top + height, 0
            height = STAT_HEIGHT if panel.sort == "stat" else GRAPH_HEIGHT
            place = {"x": left, "y": top, "w": panel.width, "h": height}
            yield _plain(panel, number, place)
            number, left = number + 1, left + panel.width
        top += height


def _plain(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": number,
        "type": panel.sort,
        "title": panel.title,
        "description": panel.about,
        "datasource": SOURCE,
        "gridPos": place,
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": SOURCE,
                "expr": query.expr,
                "legendFormat": query.legend or "__auto",
                "instant": panel.sort != "timeseries",
            }
            for at, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _options(panel),
    }


def _defaults(panel: Panel) -> dict[str, Any]:
    found: dict[str, Any] = {"unit": panel.unit, "min": 0}
    if panel.bounds is not None:
        warn, red = panel.bounds
        steps = [("green", None), ("orange", warn), ("red", red)]
        found["thresholds"] = {
            "mode": "absolute",
            "steps": [{"color": color, "value": value} for color, value in steps],
        }
    if panel.sort == "timeseries":
        custom: dict[str, Any] = {"lineWidth": 1, "fillOpacity": 30 if panel.stacked else 5}
        if panel.stacked:
            custom["stacking"] = {"mode": "normal", "group": "A"}
        found["custom"] = custom
    return found


def _options(panel: Panel) -> dict[str, Any]:
    if panel.sort == "timeseries":
        return {
            "legend": {"displayMode": "list", "placement": "bottom"},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }
    shown = {"calcs": ["lastNotNull"], "fields": "", "values": False}
    if panel.sort == "stat":
        return {"reduceOptions": shown, "colorMode": "background", "graphMode": "area"}
    return {"reduceOptions": shown, "displayMode": "basic", "orientation": "horizontal"}
