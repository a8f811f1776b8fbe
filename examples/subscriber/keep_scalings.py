"""Follows what was decided, and keeps each verified scaling in a table: once, whatever dies.

A row's key is the outcome's id, so an outcome that is read twice is one row. The bookmark moves
when the rows are committed: who dies in between reads them again.
"""

import sqlite3
import sys
from pathlib import Path

from turbine_client import Subscriber
from turbine_client.records import ScalingVerified

BROKER, DATABASE = sys.argv[1:]

table = sqlite3.connect(DATABASE)
table.execute("CREATE TABLE IF NOT EXISTS scalings (id TEXT PRIMARY KEY, job TEXT, result TEXT)")
with Subscriber(
    bootstrap=BROKER,
    kinds=["ScalingVerified"],
    start="earliest",  # the first time; from then on the bookmark counts
    resume=Path(f"{DATABASE}.bookmark"),
) as subscriber:
    while True:
        rows = [
            (outcome.id, outcome.job, outcome.body.explanation)
            for outcome in subscriber.poll()
            if isinstance(outcome.body, ScalingVerified)
        ]
        with table:  # one transaction
            table.executemany("INSERT OR IGNORE INTO scalings VALUES (?, ?, ?)", rows)
        if rows:
            subscriber.keep()
            print(f"{len(rows)} scalings are kept", flush=True)
