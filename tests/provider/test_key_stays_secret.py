"""A key stands in no file of a home, output, package or list of processes, though its endpoint repeats it."""

import json
import logging
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from traceback import format_exception

import psutil
import pytest
import yaml
from click.testing import CliRunner

from benchmark_assets.cli import main
from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.provider.registry import default_path
from tests.automation.dagster_ui import serving
from tests.processes import free_port
from tests.support import copy_finished, write_corpus
from tests.systems import provider

KEY = "sk-planted-0123456789abcdef"
WAYS = ("error", "page", "content", "header", "broken", "redirected", "garbage")


class Echo(BaseHTTPRequestHandler):
    """Repeats the key of a request, in the way that the name of the model says."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Authorization"].removeprefix("Bearer ")
        way, texts = body["model"], re.findall(r"tiny/[\w:.]+|doc\d:\d", str(body["messages"]))
        content = json.dumps(dict.fromkeys([*texts, "word"], f"A text with {key}."))
        answers = {
            "error": (401, json.dumps({"error": {"message": f"Incorrect API key provided: {key}"}})),
            "page": (403, f"<html>{key}</html>"),
            "content": (200, completion(content, f"tiny-{key}")),
            "header": (200, completion(content, "tiny")),
            "broken": (200, completion(content, "tiny")),
            "redirected": (302, ""),
            "garbage": (200, f"no JSON but {key}"),
        }
        status, answer = answers[way]
        if way == "broken":
            self.wfile.write(f"HTTP/1.1 200 OK\r\nbad {key}\x00header\r\n\r\n".encode())
            return
        self.send_response(status)
        if way == "header":
            self.send_header("x-request-id", key)
        if way == "redirected":
            self.send_header("Location", f"http://{key}.invalid/?key={key}")
        self.send_header("Content-Length", str(len(answer.encode())))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


def completion(content: str, served: str) -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": 50}
    return json.dumps({"model": served, "choices": [choice], "usage": usage})


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A registry with a model for each way, whose endpoint has the key."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        models = {way: {"endpoint": "echo", "id": way, "family": way} for way in WAYS}
        path = tmp_path / "models.yaml"
        content = yaml.safe_load(default_path().read_text(encoding="utf-8"))
        content |= {"endpoints": {"echo": {"url": url, "key": "PLANTED_KEY"}}, "models": models}
        path.write_text(
            yaml.safe_dump({name: content[name] for name in ("endpoints", "models", "embedders", "embedder")})
        )
        monkeypatch.setenv("VARIORUM_MODELS", str(path))
        monkeypatch.setenv("PLANTED_KEY", KEY)
        yield path
        server.shutdown()
        thread.join()


@pytest.mark.proof
def test_a_key_that_is_repeated_stands_nowhere(finished: Path, registry: Path, tmp_path: Path, full: bool) -> None:
    home, said = tmp_path / "home", []
    copy_finished(finished, home, write_corpus(tmp_path / "corpus"))

    def run(*words: str) -> str:
        """All that a command prints; of an error that ends it, too."""
        logger = logging.getLogger("variorum")
        handlers, level = list(logger.handlers), logger.level
        done = CliRunner().invoke(main, words, env={"VARIORUM_HOME": str(home), "DAGSTER_HOME": None})
        logger.handlers, logger.level = handlers, level
        said.append(f"{done.output}\n{done.stderr}\n{''.join(format_exception(done.exception))}")
        return said[-1]

    checked = {way: run("check", "model", way) for way in WAYS}
    assert "Incorrect API key provided: ..." in checked["error"]  # the server repeated it
    assert "answered by tiny-..." in checked["content"]
    assert "Invalid header token" in checked["broken"]
    assert "another host: http://....invalid" in checked["redirected"]
    run("backup", str(tmp_path / "backups"))
    if full:
        for way in ("error", "content"):
            run("evaluate", "--accept", way)
        warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
        assert "A text with ...." in warehouse.read("model_output").filter(model="content")["text"].to_list()
        for number, words in enumerate(
            (["export"], ["reader"], ["export", "--as", "latex"], ["export", "--as", "shared-task"])
        ):
            run(*words, str(tmp_path / f"out{number}"), "tiny")
        run("report", str(tmp_path / "report.html"), "tiny")
        run("backup", str(tmp_path / "backups"))
        with serving(home, free_port()):
            running = psutil.Process().children(recursive=True)
            assert any("code-server" in each.cmdline() for each in running)
            assert KEY not in str([each.cmdline() for each in running])
        for table in catalogue.tables():
            assert KEY not in warehouse.read(table).write_json()
    assert KEY not in "\n".join(said)
    for way in WAYS:
        replies = list(provider(home).ledger.replies(way))
        assert KEY.encode() not in b"".join(raw.body + str(raw).encode() for _, _, raw in replies)
    for path in tmp_path.rglob("*"):
        assert KEY not in path.name
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
