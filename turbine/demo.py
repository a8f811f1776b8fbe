"""`make demo`: a broker and all components on this machine, and a story that is played on them.

They stay when the story is told, to look around in; `make demo-stop` ends them. Started again
while they run, or after they were stopped, it tells the story anew with jobs of other names.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from components.runtime.clients import BrokerUnreachable
from components.runtime.reading import Unreadably
from components.runtime.settings import BadSettings, Settings, load_settings
from turbine.fleet import FleetRuns, detach_fleet, end_fleet, lives
from turbine.local import Flags, LocalFailed, ask_broker, ask_topics, broker_directory
from turbine.story import NotAsTold, Words, tell


def main(arguments: list[str] | None = None) -> int:
    """0 when all came as told; 1 with a sentence otherwise."""
    parser = argparse.ArgumentParser(prog="python -m turbine.demo", description=__doc__)
    parser.add_argument("action", choices=["start", "stop"])
    parser.add_argument("--expiry", type=float, default=10.0, help="of the override, in seconds")
    given = parser.parse_args(arguments)
    try:
        settings = load_settings()
        directory = settings.directory / "demo"
        if given.action == "stop":
            return stop(directory)
        return start(replace(settings, directory=directory), given.expiry)
    except NotAsTold as other:
        say(f"\nThe story came otherwise: {other}.")
        say(f"The logs are in {directory / 'logs'}; `make demo-stop` ends what runs.")
    except (BadSettings, BrokerUnreachable, FleetRuns, LocalFailed, Unreadably) as bad:
        sys.stderr.write(f"turbine: {bad}\n")
    return 1


def start(settings: Settings, expiry_s: float) -> int:
    """Brings up what is not there yet, and tells the story."""
    directory, running = settings.directory, lives(settings.directory)
    if running:
        say("The demo runs already: its story is told again, with new jobs.")
    else:
        say("A broker, a clock, a publisher and two job services start on this machine.")
        say("(The first time, Maven fetches the jars of Kafka.)")
    broker = ask_broker("start", broker_directory(settings))
    flags = Flags(bootstrap=broker["bootstrap"])
    differing = [step for step in ask_topics("apply", flags) if step["kind"] == "differs"]
    if differing:
        raise LocalFailed(
            f"the log in {directory} was made by another build ({differing[0]['topic']} differs);"
            f" `make demo-stop`, then remove {directory}"
        )
    if not running:
        detach_fleet(directory, flags)
    prefix = f"{program()} --bootstrap {broker['bootstrap']}"
    tell(replace(settings, bootstrap=broker["bootstrap"]), Words(say, prefix), expiry_s)
    say("\nAll came as told, and all of it still runs. Look around:")
    for command in ("get jobs -o wide", "log tail -f", "subscribe outcomes --from earliest"):
        say(f"    $ {prefix} {command}")
    say(f"The logs of the processes: {directory / 'logs'}. To end them: make demo-stop")
    return 0


def stop(directory: Path) -> int:
    """Ends the processes; the log stays, and the next story goes on in it."""
    fleet = end_fleet(directory)
    broker = ask_broker("stop", directory / "broker")["stopped"]
    say("The demo has ended." if fleet or broker else "No demo runs.")
    return 0


def program() -> str:
    """How a person calls the command line from where they stand."""
    script = Path(sys.executable).with_name("turbine")
    if shutil.which("turbine") == str(script):
        return "turbine"
    if not script.exists():
        return f"{sys.executable} -m turbine"
    here = Path.cwd()
    return str(script.relative_to(here) if script.is_relative_to(here) else script)


def say(text: str) -> None:
    """A line of the story."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
