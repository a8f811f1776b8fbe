"""One signed POST to a receiver, which answers within a deadline or is taken for silent.

No redirect is followed and no proxy of the environment is used: a request goes where the settings
say. Of the answer only the status and Retry-After are read. A connection is made for each attempt:
a receiver that was restarted is found at once, and nothing is ever sent on a stale one.
"""

from __future__ import annotations

import http.client
import queue
import socket
import ssl
import threading
import time  # noqa: TID251 - what is signed is signed at a time of the receiver's world
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from components.webhooks.config import Hook
from components.webhooks.core.envelope import CONTENT_TYPE, header_id
from components.webhooks.core.outbox import Delivery, DeliveryAnswer
from turbine_client.signing import ID, SIGNATURE, TIMESTAMP, sign

WORDS_MAX = 200
_RETRY_DIGITS = 6

Answered = Callable[[Delivery, DeliveryAnswer], None]


def post(hook: Hook, delivery: Delivery, tls: ssl.SSLContext | None = None) -> DeliveryAnswer:
    """One attempt, whatever becomes of it."""
    at_s = int(time.time())
    name = header_id(delivery.id)
    headers = {
        "Content-Type": CONTENT_TYPE,
        "User-Agent": "turbine-webhooks/1",
        "Connection": "close",
        ID: name,
        TIMESTAMP: str(at_s),
        SIGNATURE: sign(hook.keys, name, at_s, delivery.body),
    }
    parts = urlsplit(hook.url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = _connection(hook, tls)
    deadline = _Deadline(connection, hook.timeout_s)
    try:
        connection.request("POST", path, delivery.body, headers)
        response = connection.getresponse()
        words = f"{response.status} {response.reason}"[:WORDS_MAX]
        return DeliveryAnswer(
            response.status, words, _retry_after_ms(response.getheader("Retry-After"))
        )
    except (OSError, http.client.HTTPException) as error:
        if deadline.passed or isinstance(error, TimeoutError):
            return DeliveryAnswer(0, f"no answer in {hook.timeout_s} s")
        return DeliveryAnswer(0, _why(error))
    finally:
        deadline.cancel()
        connection.close()


def _connection(hook: Hook, tls: ssl.SSLContext | None) -> http.client.HTTPConnection:
    parts = urlsplit(hook.url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        return http.client.HTTPSConnection(
            host, parts.port, timeout=hook.timeout_s, context=tls or ssl.create_default_context()
        )
    return http.client.HTTPConnection(host, parts.port, timeout=hook.timeout_s)


class _Deadline:
    """Of the whole attempt: a client's time-out is of each read, and one byte is a read."""

    def __init__(self, connection: http.client.HTTPConnection, seconds: float) -> None:
        self._connection, self.passed = connection, False
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._timer.start()

    def _end(self) -> None:
        self.passed = True
        sock: Any = self._connection.sock
        if sock is None:
            return  # it is still connecting, for which the time-out is enough
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            self._timer.cancel()  # it has just ended by itself

    def cancel(self) -> None:
        """Stops the timer, as the attempt is over."""
        self._timer.cancel()


def _why(error: Exception) -> str:
    """In words that hold nothing of what the receiver may have sent."""
    match error:
        case ssl.SSLCertVerificationError():
            why = error.verify_message.rstrip(".")
            return f"its certificate is not trusted ({why})"[:WORDS_MAX]
        case ssl.SSLError():
            return "it speaks no TLS that we speak"
        case socket.gaierror():
            return "its host is not known"
        case http.client.RemoteDisconnected():
            return "it hung up without an answer"
        case OSError():
            return (error.strerror or type(error).__name__)[:WORDS_MAX]
        case _:
            return "what it answered is not HTTP"


def _retry_after_ms(text: str | None) -> int:
    """Seconds only: a date would be told by the receiver's clock."""
    plain = (text or "").strip()
    fits = plain.isascii() and plain.isdigit() and len(plain) <= _RETRY_DIGITS
    return int(plain) * 1_000 if fits else 0


class Senders:
    """The threads that wait for one receiver. What they heard is told from their own thread."""

    def __init__(self, hook: Hook, answered: Answered) -> None:
        self._hook, self._answered = hook, answered
        self._todo: queue.SimpleQueue[Delivery] = queue.SimpleQueue()
        tls = ssl.create_default_context() if hook.url.startswith("https:") else None
        for number in range(hook.limits.parallel):
            threading.Thread(
                target=self._send, args=(tls,), name=f"{hook.name}-{number}", daemon=True
            ).start()

    def send(self, delivery: Delivery) -> None:
        """Queues a delivery for the threads, and returns at once."""
        self._todo.put(delivery)

    def _send(self, tls: ssl.SSLContext | None) -> None:
        while True:
            delivery = self._todo.get()
            try:
                answer = post(self._hook, delivery, tls)
            except Exception as error:  # noqa: BLE001 - a thread has no caller, and a lane would wait
                answer = DeliveryAnswer(0, f"it could not be asked: {type(error).__name__}")
            self._answered(delivery, answer)
