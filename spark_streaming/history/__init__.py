"""The history of all jobs: what tasks reported, kept as files by day and folded into profiles.

    DIR/checkpoint                              how far the stream has come, Spark's own
    DIR/batches/LINEAGE/BATCH/day=DAY/*.parquet what one batch of the stream brought, by day
    DIR/days/DAY/NUMBER-ATTEMPT/*.parquet       a day that is over, sorted by job and time
    DIR/manifests/NUMBER.json                   which of these files are the history

`layout` knows which files count, `rows` what stands in them, `writing` and `compaction` make them,
and `profile` says what they come to.
"""
