"""One attempt against receivers of all sorts on loopback."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from components.webhooks.config import Hook
from components.webhooks.core.outbox import Delivery, DeliveryAnswer
from components.webhooks.sending import Senders, post
from infra.waiting import until
from tests.unit.webhooks.receiver import DRIP, GARBAGE, HANG, KEY, receiving
from turbine_client.signing import Tampered, verify

DELIVERY = Delivery("outcomes.v1/0", 3, "a", "17", "JobConfigChanged", b'{"id":"17","subject":"a"}')


def hook(url: str, timeout_s: int = 30) -> Hook:
    return Hook("test", url, (KEY,), timeout_s=timeout_s)


def test_what_arrives_is_signed_and_a_changed_body_is_not() -> None:
    with receiving() as receiver:
        assert post(hook(receiver.url + "?team=a"), DELIVERY) == DeliveryAnswer(
            204, "204 No Content"
        )
    [request] = receiver.taken
    assert (request.path, request.body) == ("/hook?team=a", DELIVERY.body)
    assert request.headers["Content-Type"] == "application/cloudevents+json; charset=utf-8"
    assert verify([KEY], request.headers, request.body, time.time()) == "17"
    with pytest.raises(Tampered):
        verify([KEY], request.headers, request.body.replace(b"a", b"b"), time.time())


@pytest.mark.parametrize(("status", "verdict"), [(200, "taken"), (404, "refused"), (500, "down")])
def test_the_status_is_the_answer(status: int, verdict: str) -> None:
    with receiving(lambda _: status) as receiver:
        answer = post(hook(receiver.url), DELIVERY)
    assert (answer.status, answer.verdict) == (status, verdict)


def test_a_redirect_is_not_followed() -> None:
    with receiving() as inner, receiving(lambda _: 302, Location=inner.url) as receiver:
        assert post(hook(receiver.url), DELIVERY).verdict == "refused"
    assert inner.came == []


@pytest.mark.parametrize(("text", "wait_ms"), [("7", 7_000), ("soon", 0), ("-1", 0), ("9" * 7, 0)])
def test_it_may_ask_for_patience_in_seconds(text: str, wait_ms: int) -> None:
    with receiving(lambda _: 429, Retry_After=text) as receiver:
        assert post(hook(receiver.url), DELIVERY).retry_after_ms == wait_ms


@pytest.mark.parametrize("silence", [HANG, DRIP])
def test_who_says_nothing_or_a_byte_at_a_time_has_a_deadline(silence: int) -> None:
    with receiving(lambda _: silence) as receiver:
        answer = post(hook(receiver.url, timeout_s=1), DELIVERY)
    assert answer == DeliveryAnswer(0, "no answer in 1 s")


def test_what_is_no_answer_is_told() -> None:
    with receiving(lambda _: GARBAGE) as receiver:
        assert post(hook(receiver.url), DELIVERY) == DeliveryAnswer(
            0, "what it answered is not HTTP"
        )
    assert post(hook(receiver.url), DELIVERY) == DeliveryAnswer(0, "Connection refused")
    assert post(hook("http://no-such-host.invalid/"), DELIVERY).words == "its host is not known"


def test_who_speaks_no_tls_is_told_so() -> None:
    with receiving() as receiver:
        answer = post(hook(receiver.url.replace("http:", "https:")), DELIVERY)
    assert (answer.status, answer.words) == (0, "it speaks no TLS that we speak")


def test_who_hangs_up_is_told_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        url = f"http://127.0.0.1:{door.getsockname()[1]}/"
        heard: list[DeliveryAnswer] = []
        Senders(hook(url), lambda _, answer: heard.append(answer)).send(DELIVERY)
        guest, _ = door.accept()
        guest.recv(65_536)
        guest.close()
        until(lambda: heard, "an answer")
    assert heard[0].status == 0
    assert heard[0].verdict == "down"


def test_an_id_that_is_no_header_does_not_become_two() -> None:
    with receiving() as receiver:
        post(hook(receiver.url), replace(DELIVERY, id="a\r\nx-evil: 1"))
    [request] = receiver.taken
    assert "x-evil" not in request.headers
    assert len(request.headers["webhook-id"]) == 64


def test_threads_tell_what_they_hear_and_go_on() -> None:
    heard: list[DeliveryAnswer] = []
    with receiving() as receiver:
        senders = Senders(hook(receiver.url), lambda _, answer: heard.append(answer))
        for _ in range(3):
            senders.send(DELIVERY)
        until(lambda: len(heard) == 3, "three answers")
    assert {one.status for one in heard} == {204}


def test_a_certificate_has_to_be_trusted_and_of_that_name(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl on this machine; install it to run this test")
    pair = tmp_path / "pair.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    command += ["-keyout", str(pair), "-out", str(tmp_path / "cert")]
    subprocess.run(command, check=True, timeout=60, capture_output=True)
    with pair.open("a") as file:
        file.write((tmp_path / "cert").read_text())
    trusting = ssl.create_default_context(cafile=tmp_path / "cert")
    with receiving(pair=pair) as receiver:
        url = receiver.url.replace("127.0.0.1", "localhost")
        untrusted = post(hook(url), DELIVERY)
        assert untrusted.words == "its certificate is not trusted (self-signed certificate)"
        assert post(hook(receiver.url), DELIVERY, trusting).words.startswith(
            "its certificate is not trusted (IP address mismatch"
        )
        assert post(hook(url), DELIVERY, trusting).verdict == "taken"
    assert len(receiver.taken) == 1
