"""A relay between each container and the broker: what it is told to hold back, it holds back.

Arguments: for each relay `listen:target`, two ports. Orders are lines of JSON on standard input,
`{"port": 15000, "hold": ["up"], "reset": false}`, each answered by a line. What is held is neither
lost nor refused, as behind a link that is down: the sender's system goes on trying, and all of it
arrives late. With `reset` the connections end instead, and what was held is lost with them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Sequence

HOST = "127.0.0.1"
UP, DOWN = "up", "down"
"""To the broker, and from it."""
CHUNK = 65_536


class Relay:
    """One port that leads to another."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._gates = {UP: asyncio.Event(), DOWN: asyncio.Event()}
        self._ends: set[asyncio.StreamWriter] = set()
        self.hold((), reset=False)

    async def listen(self, port: int) -> asyncio.Server:
        """From now on it takes connections."""
        return await asyncio.start_server(self._take, HOST, port)

    def hold(self, ways: Sequence[str], *, reset: bool) -> None:
        """Holds these ways, and lets the others pass."""
        if reset:
            for end in list(self._ends):
                end.transport.abort()
        for way, gate in self._gates.items():
            if way in ways:
                gate.clear()
            else:
                gate.set()

    async def _take(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            far, on = await asyncio.open_connection(HOST, self._target)
        except OSError:
            back.close()  # the broker is away, and so are we
            return
        ends = {back, on}
        self._ends |= ends
        await asyncio.gather(self._pump(near, on, UP), self._pump(far, back, DOWN))
        self._ends -= ends

    async def _pump(self, source: asyncio.StreamReader, to: asyncio.StreamWriter, way: str) -> None:
        gate = self._gates[way]
        # Reset by one of both, the other is told by the close.
        with contextlib.closing(to), contextlib.suppress(OSError):
            while chunk := await source.read(CHUNK):
                await gate.wait()
                to.write(chunk)
                await to.drain()
            await gate.wait()  # the end of a connection is held back as well


async def serve(pairs: Sequence[tuple[int, int]]) -> None:
    """Relays until standard input ends."""
    relays = {port: Relay(target) for port, target in pairs}
    servers = [await relay.listen(port) for port, relay in relays.items()]
    print("{}", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        relays[order["port"]].hold(order["hold"], reset=order["reset"])
        print("{}", flush=True)
    for server in servers:
        server.close()


def main(*given: str) -> None:
    pairs = [(int(listen), int(target)) for listen, _, target in (g.partition(":") for g in given)]
    asyncio.run(serve(pairs))


if __name__ == "__main__":
    main(*sys.argv[1:])
