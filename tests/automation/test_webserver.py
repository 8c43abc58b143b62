"""`variorum ui` ends whole: with a signal, killed, or with one of the processes that it started."""

import signal
from pathlib import Path

import psutil
import pytest

from tests.automation.dagster_ui import Ui, loaded
from tests.processes import VARIORUM, begin, free_port, until, variorum
from tests.support import copy_finished, write_corpus

pytestmark = [pytest.mark.proof, pytest.mark.large]


@pytest.mark.parametrize(
    ("ended", "by", "code"),
    [
        ("ui", signal.SIGINT, 0),
        ("ui", signal.SIGTERM, 0),
        ("ui", signal.SIGKILL, -9),
        ("run", signal.SIGKILL, 1),
        ("code-server", signal.SIGKILL, 1),
    ],
)
def test_no_process_is_left(ended: str, by: signal.Signals, code: int, finished: Path, tmp_path: Path) -> None:
    home, port = tmp_path / "home", free_port()
    copy_finished(finished, home, write_corpus(tmp_path / "corpus"))
    server = begin(home, VARIORUM, "ui", "--port", str(port))
    until(lambda: loaded(Ui(port)), 90, home / "logs" / "variorum.log")
    own = psutil.Process(server.pid)
    started = own.children(recursive=True)
    (chosen,) = [each for each in [own, *started] if ended in each.cmdline()[2:3]]
    chosen.send_signal(by)
    said, errors = server.communicate(timeout=120)  # Dagster's loader of definitions outlives a killed server by 60 s
    assert server.returncode == code, errors
    assert f"http://127.0.0.1:{port}/readers/" in said
    assert ("ended (exit code -9)" in errors) == (code == 1)
    assert psutil.wait_procs(started, 60)[1] == []


def test_private_readers_for_other_machines_are_refused_before_anything_starts(tmp_path: Path) -> None:
    refused = variorum(tmp_path, "ui", "--host", "0.0.0.0", "--private", code=1)
    assert "would show restricted texts to all machines that reach 0.0.0.0" in refused.stderr
    assert list(tmp_path.iterdir()) == []
