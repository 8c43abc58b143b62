"""Commands of the project on a home, in a process of their own or in this one, and programs that work on it.

Not here: Dagster's web server and daemon (automation.dagster_ui).
"""

import logging
import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from benchmark_assets.cli import main
from resources.home import PROJECT

VARIORUM = str(Path(sys.executable).with_name("variorum"))


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
