"""Turbine's own policy: by what a job's minutes taught."""
