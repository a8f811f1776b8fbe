"""Operators to begin with: each is `spark_streaming.operators.<module>:<function>` in a job."""
