"""What the provider of the tests puts on the wire: clients are proved against it, so it must be what it says."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.provider.server import FAULTS, Server, digest, serve

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


def test_plain_message_and_named_model(server: Server, client: httpx.Client) -> None:
    server.configure(served_model="other", served_provider="Host", system_fingerprint="fp", usage=False, prefix="> ")
    response = ask(client, server, message="evaṁ")
    assert content(response) == "> evaṁ"
    told = response.json()
    assert (told["model"], told["provider"], told["system_fingerprint"]) == ("other", "Host", "fp")
    assert "usage" not in told
    assert server.log()[0].keys == []


@pytest.mark.parametrize("size", [600, 3600, 100_000])
def test_reply_of_a_size(server: Server, client: httpx.Client, size: int) -> None:
    server.configure(answer="bytes", reply_bytes=size)
    response = ask(client, server)
    assert len(response.content) == size
    assert set(content(response)) == {"x"}


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


def test_client_that_leaves_amid_the_reply(server: Server) -> None:
    server.configure(answer="bytes", reply_bytes=20_000_000)
    body = json.dumps(request()).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
    settled(server)
    (seen,) = server.log()
    assert (seen.status, seen.finished, seen.paid) == (200, False, True)


def test_redirect(server: Server) -> None:
    server.configure(script=["redirect"], location="http://127.0.0.1:9/v1")
    body = json.dumps(request()).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        head = connection.recv(1000)
    assert head.startswith(b"HTTP/1.1 307")
    assert b"location: http://127.0.0.1:9/v1" in head


def test_every_fault_is_proved() -> None:
    assert {*ERRORS, *REPLIES, "dropped", "cut", "cut_chunked", "timeout", "redirect"} == FAULTS


def test_latency_and_requests_in_flight(server: Server, client: httpx.Client) -> None:
    server.configure(latency=0.3, jitter=0.1)
    with ThreadPoolExecutor(3) as pool:
        under_way = [pool.submit(ask, client, server) for _ in range(3)]
        while server.in_flight() < 3:
            assert not all(each.done() for each in under_way)
    took = [seen.ended - seen.arrived for seen in server.log()]
    assert min(took) >= 0.3
    assert len(set(took)) == 3
    assert server.in_flight() == 0


def test_rates_are_seeded(server: Server, client: httpx.Client) -> None:
    rates = {"rate_limited": 0.3, "fenced": 0.2}

    def faults(seed: int) -> list[str]:
        server.configure(rates=rates, seed=seed)
        server.clear()
        for _ in range(100):
            ask(client, server)
        return [seen.fault for seen in server.log()]

    first = faults(1)
    assert first == faults(1) != faults(2)
    share = Counter(first)
    assert share["rate_limited"] > share["fenced"] > 0 < share["ok"]


def test_script_comes_before_keys_and_keys_before_rates(server: Server, client: httpx.Client) -> None:
    server.configure(script=["ok", "html"], by_key={"mn1:2": "prose"}, by_key_times=2, rates={"no_credit": 1})
    for _ in range(5):
        ask(client, server)
    ask(client, server, message={"mn1:1": "evaṁ"})
    assert [seen.fault for seen in server.log()] == ["ok", "html", "prose", "prose", "no_credit", "no_credit"]


@pytest.mark.parametrize(
    ("retry_after", "header", "value"),
    [({"seconds": 1.5}, "retry-after", "1.5"), ({"ms": 20}, "retry-after-ms", "20"), ({}, "retry-after", None)],
)
def test_retry_after(
    server: Server, client: httpx.Client, retry_after: dict[str, float], header: str, value: str | None
) -> None:
    server.configure(rates={"rate_limited": 1}, retry_after=retry_after)
    assert ask(client, server).headers.get(header) == value


def test_retry_after_a_date(server: Server, client: httpx.Client) -> None:
    server.configure(rates={"overloaded": 1}, retry_after={"date": 10})
    ahead = parsedate_to_datetime(ask(client, server).headers["retry-after"]).timestamp() - time.time()
    assert 9 < ahead <= 11


def test_rate_limit_is_kept(server: Server, client: httpx.Client) -> None:
    server.configure(per_second=20)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        ask(client, server)
    log = server.log()
    passed = [seen.arrived for seen in log if seen.status == 200]
    assert {seen.fault for seen in log if seen.status != 200} == {"per_second"}
    assert 2 <= len(passed) <= 2 + 20 * (log[-1].arrived - log[0].arrived) + 1
    assert len(passed) < len(log)


def test_most_in_flight_is_kept(server: Server, client: httpx.Client) -> None:
    server.configure(latency=0.3, most_in_flight=2)
    with ThreadPoolExecutor(5) as pool:
        statuses = sorted(got.status_code for got in pool.map(lambda _: ask(client, server), range(5)))
    assert statuses == [200, 200, 429, 429, 429]
    assert {seen.fault for seen in server.log()} == {"ok", "most_in_flight"}


def test_configure_counts_anew_and_keeps_the_log(server: Server, client: httpx.Client) -> None:
    for _ in range(2):
        server.configure(script=["html"])
        ask(client, server)
        ask(client, server)
    log = server.log()
    assert [(seen.ordinal, seen.fault) for seen in log] == [(0, "html"), (1, "ok")] * 2
    assert all(one.arrived < next.arrived for one, next in pairwise(log))


@pytest.mark.parametrize("wrong", [{"script": ["tired"]}, {"rates": {"cut": 0.6, "html": 0.6}}, {"answer": "sing"}])
def test_wrong_settings_are_refused(server: Server, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"tired|sum to|sing"):
        server.configure(**wrong)


def listens(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_server_ends_with_its_block() -> None:
    with serve() as server:
        assert listens(server.port)
    assert not listens(server.port)


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
