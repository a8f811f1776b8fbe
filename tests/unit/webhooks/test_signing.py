"""Signatures of webhooks: the standard's own example, two secrets at once, and what is forged."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.webhooks.receiver import KEY, SECRET
from turbine_client.signing import (
    ID,
    SIGNATURE,
    TIMESTAMP,
    BadSecret,
    Tampered,
    read_secret,
    show_secret,
    sign,
    verify,
)

NAME, AT_S, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
OTHER = read_secret(show_secret(b"another key of 32 bytes, as it is"))


def headers(**changed: str) -> dict[str, str]:
    found = {ID: NAME, TIMESTAMP: str(AT_S), SIGNATURE: sign([KEY], NAME, AT_S, BODY)}
    return found | {name.replace("_", "-"): value for name, value in changed.items()}


def test_it_is_the_signature_of_the_standards_example() -> None:
    assert sign([KEY], NAME, AT_S, BODY) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_while_a_secret_is_changed_either_of_them_will_do() -> None:
    both = headers(webhook_signature=sign([OTHER, KEY], NAME, AT_S, BODY))
    assert verify([KEY], both, BODY, AT_S) == verify([OTHER], both, BODY, AT_S) == NAME
    assert verify([OTHER, KEY], headers(), BODY, AT_S) == NAME


def test_names_of_headers_have_no_case() -> None:
    assert verify([KEY], {name.title(): one for name, one in headers().items()}, BODY, AT_S) == NAME


@given(
    body=st.binary(max_size=200), name=st.text("abc-_09", min_size=1), at_s=st.integers(0, 10**9)
)
def test_what_is_signed_is_taken_and_nothing_else(body: bytes, name: str, at_s: int) -> None:
    found = {ID: name, TIMESTAMP: str(at_s), SIGNATURE: sign([KEY], name, at_s, body)}
    assert verify([KEY], found, body, at_s) == name
    for wrong in (body + b" ", body[:-1] if body else b"x"):
        with pytest.raises(Tampered):
            verify([KEY], found, wrong, at_s)
    with pytest.raises(Tampered):
        verify([KEY], found | {ID: name + "x"}, body, at_s)
    with pytest.raises(Tampered):
        verify([KEY], found | {TIMESTAMP: str(at_s + 1)}, body, at_s)


@pytest.mark.parametrize(
    ("found", "body", "now_s", "sentence"),
    [
        (headers(), BODY + b"!", AT_S, "no signature fits: the body, the id or the time were"),
        (headers(webhook_id="msg_2"), BODY, AT_S, "no signature fits"),
        (headers(webhook_timestamp=str(AT_S + 1)), BODY, AT_S, "no signature fits"),
        (headers(webhook_signature=sign([OTHER], NAME, AT_S, BODY)), BODY, AT_S, "no signature"),
        (headers(webhook_signature="v2,abc"), BODY, AT_S, "no signature fits"),
        (headers(webhook_signature="v1,"), BODY, AT_S, "no signature fits"),
        (headers(webhook_signature="v1,é"), BODY, AT_S, "no signature fits"),
        (headers(webhook_signature=""), BODY, AT_S, "the header webhook-signature is missing"),
        (headers(webhook_id=""), BODY, AT_S, "the header webhook-id is missing; only what"),
        (headers(webhook_timestamp="soon"), BODY, AT_S, "the header webhook-timestamp is no"),
        (headers(webhook_timestamp="-1"), BODY, AT_S, "the header webhook-timestamp is no"),
        (headers(webhook_timestamp="٣"), BODY, AT_S, "the header webhook-timestamp is no"),
        (headers(), BODY, AT_S + 301, "it was signed 301 s from now, and 300 s are allowed; it"),
        (headers(), BODY, AT_S - 301, "it was signed 301 s from now"),
    ],
)
def test_what_is_forged_is_told(
    found: dict[str, str], body: bytes, now_s: int, sentence: str
) -> None:
    with pytest.raises(Tampered) as refused:
        verify([KEY], found, body, now_s)
    assert str(refused.value).startswith(sentence)


def test_both_sides_of_the_tolerance() -> None:
    assert verify([KEY], headers(), BODY, AT_S + 300) == verify([KEY], headers(), BODY, AT_S - 300)


@pytest.mark.parametrize("size", [24, 64])
def test_a_secret_is_read_as_it_is_shown(size: int) -> None:
    assert read_secret(f" {show_secret(bytes(size))}\n") == bytes(size)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("hunter2", "a secret begins with whsec_; `turbine webhooks secret` makes one"),
        ("whsec_?", "what follows whsec_ is not base64"),
        ("whsec_é", "what follows whsec_ is not base64"),
        (show_secret(bytes(23)), "a secret has 24 to 64 bytes and this one has 23; `turbine"),
        (show_secret(bytes(65)), "a secret has 24 to 64 bytes and this one has 65"),
    ],
)
def test_what_is_no_secret_is_told_and_not_shown(text: str, sentence: str) -> None:
    with pytest.raises(BadSecret) as refused:
        read_secret(text)
    assert str(refused.value).startswith(sentence)
    assert text.removeprefix("whsec_")[:12] not in str(refused.value) or "?" in text


def test_the_examples_secret_is_its_key() -> None:
    assert base64.b64encode(KEY).decode() == SECRET.removeprefix("whsec_")
