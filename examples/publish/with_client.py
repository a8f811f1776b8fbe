"""Asks for a change of a job by Turbine's client alone, and prints what became of it."""

import json
import sys

from turbine_client import Accepted, Publisher

BROKER, JOB, SET = sys.argv[1:]

with Publisher(bootstrap=BROKER, author="ana") as publisher:
    # `create` lets a change make the job; without it a change is of a job that is there.
    verdict = publisher.change(JOB, json.loads(SET), create=True, wait_s=30)
print(verdict)
sys.exit(0 if isinstance(verdict, Accepted) else 1)
