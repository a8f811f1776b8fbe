"""The text of a position vector; see `turbine_client.positions`. Pure."""

from __future__ import annotations

from turbine_client.positions import TEXT_MAX, VectorError, format_vector, parse_vector

__all__ = ["TEXT_MAX", "VectorError", "format_vector", "parse_vector"]
