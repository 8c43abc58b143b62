"""Commands of the project on a home, in a process of their own or in this one; servers that run while a test does.

Not here: Dagster's web server and daemon (automation.dagster_ui).
"""

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from click.testing import CliRunner, Result

from benchmark_assets.cli import main
from resources.home import PROJECT

VARIORUM = str(Path(sys.executable).with_name("variorum"))

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
"""The browser for tests of pages; None if there is none."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """That of a process that works on a home."""
    return os.environ | {"VARIORUM_HOME": str(home), "DAGSTER_HOME": str(home / "dagster")} | more


def begin(home: Path, *command: str) -> subprocess.Popen[str]:
    """Start a process on a home, with a pipe to its input and from each of its outputs."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, cwd=PROJECT, env=environment(home), stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def variorum(home: Path, *arguments: str, code: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a home that VARIORUM_HOME alone names, to its end, which is to be this exit code."""
    known = environment(home, **more)
    del known["DAGSTER_HOME"]
    done = subprocess.run([VARIORUM, *arguments], cwd=PROJECT, env=known, capture_output=True, text=True, timeout=900)
    assert done.returncode == code, done.stderr
    return done


def measured(program: Sequence[str], folder: Path, env: Mapping[str, str]) -> tuple[str, float]:
    """Run a program in a folder to its end, which is to be a success; return what it writes to both outputs, and the
    CPU seconds that it takes."""
    with subprocess.Popen(
        program, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        written = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, written[-3000:]
    return written, used.ru_utime + used.ru_stime


def here(home: Path, *arguments: str, code: int = 0) -> Result:
    """Run a command as `variorum` does, in this process: to import everything anew takes 3 s of a core."""
    logger = logging.getLogger("variorum")
    handlers, level = list(logger.handlers), logger.level
    try:
        done = CliRunner().invoke(main, arguments, env={"VARIORUM_HOME": str(home), "DAGSTER_HOME": None})
    finally:
        logger.handlers, logger.level = handlers, level  # the command's own write where it said its words
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.stderr
    return done


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def started(command: Sequence[str], url: str, log: Path, env: Mapping[str, str]) -> Iterator[None]:
    """Run a server until the block ends, which begins with its first reply at a URL. It works in its log's folder."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=log.parent, env=env, stdout=output, stderr=output, start_new_session=True
        )

    def answers() -> bool:
        assert process.poll() is None, log.read_text()[-5000:]
        try:
            urllib.request.urlopen(url, timeout=20).close()
        except OSError:
            return False
        return True

    try:
        until(answers, 600, log)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def until(holds: Callable[[], object], seconds: float, log: Path) -> None:
    """Wait until something holds; if it does not, show the end of a log."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, log.read_text()[-5000:]
        time.sleep(0.3)
