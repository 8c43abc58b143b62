"""Messages: in the log always, at a webhook where one is named; one that does not arrive is a warning and no more."""

import json
import logging
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from resources.notifications import Notifications

LOG = "variorum.notifications"
SECRET = "T0KEN-of-the-webhook"


class Webhook(ThreadingHTTPServer):
    """A real server that notes what it is sent and answers with a status, or breaks off where that is 0."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.received: list[tuple[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hooks/{SECRET}?key={SECRET}"


class Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((self.headers["content-type"], json.loads(text)))
        if self.server.status:
            self.send_response(self.server.status)
            if self.server.status == 302:
                self.send_header("location", self.server.url)
            self.send_header("content-length", "0")
            self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    """A webhook, named by the variable."""
    with Webhook() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("VARIORUM_WEBHOOK", server.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server
        server.shutdown()
        thread.join(10)


@pytest.fixture(autouse=True)
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the project's own logger says."""
    caplog.set_level(logging.INFO, logger=LOG)
    return caplog


def warnings(log: pytest.LogCaptureFixture) -> list[str]:
    return [text for name, level, text in log.record_tuples if name == LOG and level == logging.WARNING]


def test_a_message_reaches_the_webhook_as_json_and_the_log_as_it_is(
    webhook: Webhook, log: pytest.LogCaptureFixture
) -> None:
    text = 'materialized: leaderboard 1\n- check "shift" of model_summary did not pass, %s: ἀρχή'
    Notifications().send(text)
    assert webhook.received == [("application/json", {"text": f"Variorum: {text}"})]
    assert log.record_tuples == [(LOG, logging.INFO, text)]


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_webhook_a_message_is_in_the_log_alone(
    monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture, value: str | None
) -> None:
    monkeypatch.delenv("VARIORUM_WEBHOOK", raising=False)
    if value is not None:
        monkeypatch.setenv("VARIORUM_WEBHOOK", value)
    Notifications().send("no stale partitions")
    assert log.record_tuples == [(LOG, logging.INFO, "no stale partitions")]


@pytest.mark.parametrize("status", [500, 404, 302])
def test_a_webhook_that_answers_otherwise_than_well_is_a_warning_with_the_status(
    webhook: Webhook, log: pytest.LogCaptureFixture, status: int
) -> None:
    webhook.status = status
    Notifications().send("hello")
    assert warnings(log) == [f"the webhook in VARIORUM_WEBHOOK answered with status {status}"]
    assert len(webhook.received) == 1
    assert SECRET not in log.text


def test_a_refused_connection_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture, closed_port: int
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("VARIORUM_WEBHOOK", f"http://127.0.0.1:{closed_port}/{SECRET}")
    Notifications().send("hello")
    assert warnings(log) == ["the webhook in VARIORUM_WEBHOOK could not be reached: ConnectError"]
    assert SECRET not in log.text


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(SECRET, id="a word"),
        pytest.param(f"{SECRET}.example.org/hooks", id="no protocol"),
        pytest.param(f"ftp://127.0.0.1/{SECRET}", id="another protocol"),
        pytest.param(f"http://127.0.0.1:{SECRET}", id="no number for a port"),
        pytest.param(f"http:///{SECRET}", id="no host"),
        pytest.param(f"http://127.0.0.1/\n{SECRET}", id="two lines"),
        pytest.param(f"http://{SECRET * 4}.example/", id="too long a name"),
        pytest.param(f"http://xn--/{SECRET}", id="no international name"),
        pytest.param(f"http://127.0.0.1/\udce9{SECRET}", id="no unicode"),
    ],
)
def test_a_url_that_is_none_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture, url: str
) -> None:
    monkeypatch.setenv("VARIORUM_WEBHOOK", url)
    Notifications().send("hello")
    assert len(warnings(log)) == 1
    assert SECRET not in log.text


def test_a_text_that_is_no_unicode_is_no_error(webhook: Webhook) -> None:
    Notifications().send("no such file: caf\udce9.json")
    assert [body for _, body in webhook.received] == [{"text": "Variorum: no such file: caf?.json"}]


def test_certificates_that_are_not_there_are_a_warning(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch, log: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    Notifications().send("hello")
    assert len(warnings(log)) == 1


@pytest.mark.parametrize("status", [200, 500])
def test_no_logger_at_any_level_tells_the_url(webhook: Webhook, log: pytest.LogCaptureFixture, status: int) -> None:
    log.set_level(logging.DEBUG)
    webhook.status = status
    Notifications().send("hello")
    assert len(webhook.received) == 1
    assert SECRET not in log.text
