"""Faults of the way to an endpoint that do not pass: named at once, with what to do, instead of waited for."""

import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from resources.provider.client import CallFailed
from resources.provider.reading import Outcome
from resources.provider.sqlite_ledger import SqliteLedger
from tests.processes import here
from tests.provider.faults import AWAY
from tests.provider.faulty import completion, misbehaving, response
from tests.provider.server import Server
from tests.provider.support import Result
from tests.provider.test_faults import ask
from tests.provider.test_trial import written

CERTIFICATES = {
    "expired": ("localhost", "20200101000000Z", "20200102000000Z"),
    "wrong name": ("other.example", "20200101000000Z", "20990101000000Z"),
    "self-signed": ("localhost", "20200101000000Z", "20990101000000Z"),
}
"""Name, beginning and end of each certificate. All but the last are trusted."""

AUTHORITY = """
    [ca]
    default_ca = own
    [own]
    database = index
    new_certs_dir = .
    serial = serial
    default_md = sha256
    policy = any
    x509_extensions = names
    [any]
    commonName = supplied
    [names]
    subjectAltName = DNS:{name}
"""


def certified(folder: Path, kind: str) -> Path:
    """A certificate of this kind and its key, in one file."""
    name, start, end = CERTIFICATES[kind]
    for file, content in {"index": "", "serial": "01", "authority": AUTHORITY.format(name=name)}.items():
        (folder / file).write_text(content)
    key = "req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -out request"
    sign = (
        f"ca -batch -selfsign -config authority -keyfile key -in request -out signed -startdate {start} -enddate {end}"
    )
    for command in ([*key.split(), "-subj", f"/CN={name}"], [*sign.split(), "-notext"]):
        subprocess.run(["openssl", *command], cwd=folder, check=True, capture_output=True)
    (folder / "server.pem").write_text((folder / "signed").read_text() + (folder / "key").read_text())
    return folder / "server.pem"


@contextmanager
def speaking_tls(certificate: Path) -> Iterator[str]:
    """The URL of a server that does no more than agree on TLS, until the block ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listening = socket.create_server(("127.0.0.1", 0))

    def shake_hands() -> None:
        with suppress(OSError):  # the socket was closed
            while True:
                connection, _ = listening.accept()
                with suppress(OSError), context.wrap_socket(connection, server_side=True):
                    pass

    thread = Thread(target=shake_hands, daemon=True)
    thread.start()
    try:
        yield f"https://localhost:{listening.getsockname()[1]}/v1"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def stopped(result: Result) -> str:
    """Why a model was stopped."""
    assert isinstance(result, CallFailed)
    assert str(result).startswith("stopped: ")
    return str(result)


@pytest.mark.parametrize(
    ("kind", "words"), [("expired", "expired"), ("wrong name", "not valid for 'localhost'"), ("self-signed", "self")]
)
def test_a_certificate_that_is_not_valid_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, words: str
) -> None:
    certificate = certified(tmp_path, kind)
    if kind != "self-signed":
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with speaking_tls(certificate) as url:
        reason = stopped(ask(SqliteLedger(tmp_path / "ledger.sqlite"), url, "m"))
    assert "the certificate of localhost is not valid" in reason
    assert words in reason
    assert "SSL_CERT_FILE" in reason


def test_a_server_without_tls_is_named(tmp_path: Path, server: Server) -> None:
    url = server.url.replace("http:", "https:")
    assert "should begin with http:" in stopped(ask(SqliteLedger(tmp_path / "ledger.sqlite"), url, "m"))


LOCAL = {name: url for name, url in AWAY.items() if "another" not in name}


@pytest.mark.parametrize("url", LOCAL.values(), ids=list(LOCAL))
def test_the_command_names_a_server_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: Callable[[], str]
) -> None:
    monkeypatch.setenv("VARIORUM_MODELS", str(written(tmp_path, url())))
    done = here(tmp_path / "home", "check", "model", "ours", code=1)
    assert "endpoints.place: " in done.stderr
    assert "`url`" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("free", ["", "hidden.example,other.example"])
def test_a_proxy_of_the_environment_is_used_except_for_the_hosts_that_are_excluded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: str
) -> None:
    """The server of the test is the proxy: it answers in place of a host that nobody else could find."""
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    with misbehaving({"m": lambda _: iter([response(200, completion("Sing."))])}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("NO_PROXY", free)
        result = ask(ledger, "http://hidden.example/v1", "m")
        assert proxy.requests["m"] == (not free)
        assert ("hidden.example is unknown" in str(result)) == bool(free)


def test_no_proxy_is_used_for_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://nobody.invalid:3128")
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    with misbehaving({"m": lambda _: iter([response(200, completion("Sing."))])}) as faulty:
        ask(ledger, faulty.url, "m")
    assert ledger.attempts()["outcome"].to_list() == [Outcome.ANSWERED]


@pytest.mark.parametrize(("is_there", "words"), [(False, "cannot be reached"), (True, "answers with status 4")])
def test_a_proxy_that_is_away_or_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: Server, is_there: bool, words: str
) -> None:
    url = server.url if is_there else LOCAL["connection refused by this machine"]()
    monkeypatch.setenv("HTTPS_PROXY", url.removesuffix("/v1"))
    reason = stopped(ask(SqliteLedger(tmp_path / "ledger.sqlite"), "https://hidden.example/v1", "m"))
    assert words in reason
    assert "check HTTP_PROXY, HTTPS_PROXY and NO_PROXY" in reason


def test_a_command_names_a_database_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = LOCAL["connection refused by this machine"]().removeprefix("http://").removesuffix("/v1")
    monkeypatch.setenv("VARIORUM_DATABASE", f"postgresql://me:secret@{url}/texts")
    done = here(tmp_path / "home", "status", code=1)
    assert done.stderr.startswith("Error: VARIORUM_DATABASE (postgresql://127.0.0.1/texts): cannot be reached")
    assert "refused" in done.stderr
    assert done.stderr.endswith("start the server, or correct the URL\n")
    assert "secret" not in done.stderr
