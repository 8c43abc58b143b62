"""What the provider of the tests puts on the wire: clients are proved against it, so it must be what it says."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.provider.server import FAULTS, Server, digest

PASSAGES = {"mn1:1": "evaṁ me sutaṁ", "mn1:2": "ekaṁ samayaṁ"}
GOOD = {"mn1:1": "EN: evaṁ me sutaṁ", "mn1:2": "EN: ekaṁ samayaṁ"}
FIRST = GOOD["mn1:1"]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, headers={"authorization": "Bearer secret"}) as client:
        yield client


def request(message: str | dict[str, str] = PASSAGES) -> dict[str, Any]:
    content = message if isinstance(message, str) else json.dumps(message)
    system = {"role": "system", "content": "Translate."}
    return {"model": "maker/model", "messages": [system, {"role": "user", "content": content}]}


def ask(client: httpx.Client, server: Server, **kwargs: Any) -> httpx.Response:
    return client.post(f"{server.url}/chat/completions", json=request(**kwargs))


def choice(response: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = response.json()["choices"][0]
    return found


def content(response: httpx.Response) -> str:
    return str(choice(response)["message"]["content"])


def settled(server: Server) -> None:
    """Wait until the server serves no request, as where a client hung up."""
    deadline = time.monotonic() + 5
    while server.in_flight():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wire(server: Server) -> tuple[bytes, bytes]:
    """Head and body of a response, as they come until the server closes the connection."""
    body = json.dumps(request()).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        head, _, rest = b"".join(iter(lambda: connection.recv(65536), b"")).partition(b"\r\n\r\n")
    return head, rest


def test_good_reply_and_its_line_in_the_log(server: Server, client: httpx.Client) -> None:
    server.configure(answers={"mn1:2": "Once"}, keep_bodies=True, reasoning_tokens=5, cost_per_token=0.5)
    response = ask(client, server)
    assert json.loads(content(response)) == {**GOOD, "mn1:2": "Once"}
    assert choice(response)["finish_reason"] == "stop"
    assert response.json()["model"] == "maker/model"
    usage = response.json()["usage"]
    assert usage["completion_tokens"] == len(content(response).encode()) // 4 + 5
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 5}
    assert usage["cost"] == 0.5 * (usage["prompt_tokens"] + usage["completion_tokens"]) == 0.5 * usage["total_tokens"]
    (seen,) = server.log()
    assert (seen.ordinal, seen.fault, seen.status, seen.finished, seen.paid) == (0, "ok", 200, True, True)
    assert (seen.model, seen.keys, seen.authorization) == ("maker/model", list(PASSAGES), True)
    assert seen.body == request()
    assert seen.digest == digest(dict(reversed(request().items())))
    assert seen.arrived <= seen.ended <= time.monotonic()


ERRORS: dict[str, tuple[int, str | None]] = {
    "rate_limited": (429, "rate_limit_exceeded"),
    "bad_request": (400, "invalid_value"),
    "context_length": (400, "context_length_exceeded"),
    "unauthorized": (401, "invalid_api_key"),
    "no_credit": (402, "insufficient_credits"),
    "forbidden": (403, "unsupported_country_region_territory"),
    "not_found": (404, "model_not_found"),
    "server_error": (500, "server_error"),
    "bad_gateway": (502, None),
    "overloaded": (503, "overloaded"),
}


@pytest.mark.parametrize("fault", ERRORS)
def test_errors(server: Server, client: httpx.Client, fault: str) -> None:
    server.configure(script=[fault])
    response = ask(client, server)
    status, code = ERRORS[fault]
    assert response.status_code == status
    if code is None:
        assert response.text.startswith("<html>")
    else:
        assert response.json()["error"]["code"] == code
    assert response.headers.get("retry-after") == ("0.05" if status in (429, 503) else None)
    (seen,) = server.log()
    assert (seen.fault, seen.status, seen.finished, seen.paid) == (fault, status, True, False)
    assert content(ask(client, server)), "the script has ended"


# What comes with status 200, and whether it was paid for.
REPLIES: dict[str, tuple[bool, Callable[[httpx.Response], bool]]] = {
    "error_in_200": (False, lambda got: got.json()["error"]["code"] == 429 and "choices" not in got.json()),
    "html": (False, lambda got: got.headers["content-type"].startswith("text/html") and b"<form" in got.content),
    "empty_body": (False, lambda got: got.content == b""),
    "empty_choices": (False, lambda got: got.json()["choices"] == []),
    "null_choices": (False, lambda got: got.json()["choices"] is None),
    "null_content": (False, lambda got: choice(got)["message"]["content"] is None),
    "empty_content": (False, lambda got: content(got) == ""),
    "refusal": (True, lambda got: choice(got)["message"]["refusal"] and choice(got)["message"]["content"] is None),
    "content_filter": (False, lambda got: choice(got)["finish_reason"] == "content_filter" and content(got) == ""),
    "length": (True, lambda got: choice(got)["finish_reason"] == "length" and begins(content(got))),
    "cut_with_stop": (True, lambda got: choice(got)["finish_reason"] == "stop" and begins(content(got))),
    "prose": (True, lambda got: "{" not in content(got)),
    "fenced": (True, lambda got: json.loads(content(got).split("```json\n")[1].removesuffix("\n```")) == GOOD),
    "trailing_comma": (True, lambda got: json.loads(content(got).replace(",}", "}")) == GOOD),
    "bare_quotes": (
        True,
        lambda got: json.loads(re.sub(r' and he said "so be it" and left', "", content(got))) == GOOD,
    ),
    "missing_key": (True, lambda got: json.loads(content(got)) == {"mn1:1": FIRST}),
    "extra_key": (True, lambda got: json.loads(content(got)).items() > GOOD.items()),
    "renamed_key": (True, lambda got: json.loads(content(got)) == {"mn1:1": FIRST, "mn1:2_en": GOOD["mn1:2"]}),
    "wrong_type": (True, lambda got: json.loads(content(got)) == {"mn1:1": FIRST, "mn1:2": 7}),
    "null_value": (True, lambda got: json.loads(content(got)) == {"mn1:1": FIRST, "mn1:2": None}),
    "swapped_keys": (True, lambda got: json.loads(content(got)) == {"mn1:1": GOOD["mn1:2"], "mn1:2": FIRST}),
    "duplicate_key": (True, lambda got: content(got).count('"mn1:2"') == 2 and len(json.loads(content(got))) == 2),
}


def begins(text: str) -> bool:
    whole = json.dumps(GOOD, ensure_ascii=False)
    return whole.startswith(text) and len(text) == len(whole) // 2


@pytest.mark.parametrize("fault", REPLIES)
def test_faults_under_status_200(server: Server, client: httpx.Client, fault: str) -> None:
    server.configure(script=[fault], error_code=429)
    response = ask(client, server)
    paid, holds = REPLIES[fault]
    assert response.status_code == 200
    assert holds(response)
    (seen,) = server.log()
    assert (seen.fault, seen.status, seen.finished, seen.paid) == (fault, 200, True, paid)


@pytest.mark.parametrize("fault", ["trailing_comma", "bare_quotes", "fenced", "prose", "cut_with_stop"])
def test_spoilt_json_is_no_json(server: Server, client: httpx.Client, fault: str) -> None:
    server.configure(script=[fault])
    with pytest.raises(json.JSONDecodeError):
        json.loads(content(ask(client, server)))


@pytest.mark.parametrize(
    ("fault", "error"),
    [("dropped", "without sending a response"), ("cut", "complete message body"), ("cut_chunked", "chunked read")],
)
def test_broken_connections(server: Server, client: httpx.Client, fault: str, error: str) -> None:
    server.configure(rates={fault: 1}, cut_at=0.25)
    with pytest.raises(httpx.RemoteProtocolError, match=error):
        ask(client, server)
    head, rest = wire(server)
    if fault == "dropped":
        assert head == rest == b""
    else:
        assert head.startswith(b"HTTP/1.1 200")
    if fault == "cut":
        promised = int(re.findall(rb"content-length: (\d+)", head)[0])
        assert len(rest) == promised // 4 > 0
    if fault == "cut_chunked":
        size, _, chunk = rest.partition(b"\r\n")
        assert b"transfer-encoding: chunked" in head
        assert len(chunk) == int(size, 16) + 2, "one whole chunk, and not the last"
    paid = fault != "dropped"
    told = [(seen.fault, seen.status, seen.finished, seen.paid) for seen in server.log()]
    assert told == [(fault, 200 if paid else 0, False, paid)] * 2
    server.configure()
    assert content(ask(client, server)), "only the connection was closed"


def test_timeout_answers_late_and_notices_who_left(server: Server, client: httpx.Client) -> None:
    server.configure(script=["timeout"], hang=0.1)
    assert content(ask(client, server))
    server.configure(script=["timeout"], hang=30)
    with pytest.raises(httpx.ReadTimeout):
        client.post(f"{server.url}/chat/completions", json=request(), timeout=0.1)
    settled(server)
    late, left = server.log()
    assert (late.status, late.finished, late.paid) == (200, True, True)
    assert late.ended - late.arrived > 0.09  # a timer may fire a tick of its clock early
    assert (left.status, left.finished, left.paid) == (0, False, False)
    assert left.ended - left.arrived < 30


def test_every_fault_is_proved() -> None:
    assert {*ERRORS, *REPLIES, "dropped", "cut", "cut_chunked", "timeout", "redirect"} == FAULTS


@pytest.mark.parametrize("wrong", [{"script": ["tired"]}, {"rates": {"cut": 0.6, "html": 0.6}}, {"answer": "sing"}])
def test_wrong_settings_are_refused(server: Server, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"tired|sum to|sing"):
        server.configure(**wrong)


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_server_ends_with_its_parent() -> None:
    code = "from tests.provider.server import serve\nwith serve() as s: print(s.port, flush=True); input()"
    root = Path(__file__).parents[2]
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], cwd=root, stdin=pipe, stdout=pipe, text=True) as parent:
        assert parent.stdout is not None
        port = int(parent.stdout.readline())
        assert listens(port)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        deadline = time.monotonic() + 5
        while listens(port):
            assert time.monotonic() < deadline, "the server outlives its parent"
            time.sleep(0.02)
