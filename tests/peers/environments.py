"""Environments of the peers: one folder per peer in `.peers`, with the exact versions of its requirements file.

Here: making an environment, running its programs, versions. Not here: what a peer is asked (the tests).
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from resources import locks
from resources.home import PROJECT

REQUIREMENTS = Path(__file__).with_name("requirements")
FOLDER = PROJECT / ".peers"
INSTALLED = "installed"
"""File of an environment with the digest of the requirements that it was made from; written last."""

PYTHON = re.compile(r"# Python (\d+\.\d+)$")
"""First line of a requirements file whose peer needs another Python than this one."""


class Missing(Exception):  # noqa: N818
    """A peer cannot be installed; the message names what is missing."""


class Peer(NamedTuple):
    """An installed peer. `programs` is the folder of its executables."""

    name: str
    programs: Path

    def run(self, program: str, *arguments: str, **settings: str) -> str:
        """Standard output of a program of the peer that has to succeed. `settings` are environment variables."""
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=900)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def python(self, code: str, *arguments: str, **settings: str) -> str:
        """Standard output of Python code that runs in the peer's environment."""
        return self.run("python", "-c", code, *arguments, **settings)


def installed(name: str) -> Peer:
    """The environment of a peer, made again if its requirements changed.

    Raises
    ------
    Missing
        If the Python that the peer needs is absent, or pip cannot install its packages.
    """
    requirements = REQUIREMENTS / f"{name}.txt"
    digest = sha256(requirements.read_bytes()).hexdigest()
    folder = FOLDER / name
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.lock").open("w") as lock:
        locks.exclusive(lock)
        done = folder / INSTALLED
        if not done.is_file() or done.read_text() != digest:
            shutil.rmtree(folder, ignore_errors=True)
            _make(requirements, folder)
            done.write_text(digest)
    return Peer(name, folder / "bin")


def version(name: str) -> str:
    """The version of a peer according to its requirements file, whose first requirement is the peer itself."""
    pins = (line for line in (REQUIREMENTS / f"{name}.txt").read_text().splitlines() if "==" in line)
    return next(pins).partition("==")[2]


def _make(requirements: Path, folder: Path) -> None:
    lines = requirements.read_text().splitlines()
    wanted = PYTHON.match(lines[0])
    python = _python(wanted[1]) if wanted else sys.executable
    subprocess.run([python, "-m", "venv", str(folder)], check=True, capture_output=True, timeout=300)
    pip = [str(folder / "bin/pip"), "install", "--quiet", "--no-compile", "--no-deps"]
    done = subprocess.run([*pip, "--requirement", str(requirements)], capture_output=True, text=True, timeout=1800)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no message"]
        raise Missing(f"pip cannot install {requirements.name}: {errors[-1]}")


def _python(wanted: str) -> str:
    """An interpreter of a version. A command of that name may be a placeholder of pyenv, so it is tried."""
    for candidate in _interpreters(wanted):
        found = subprocess.run([candidate, "--version"], capture_output=True, text=True)
        if found.returncode == 0 and found.stdout.startswith(f"Python {wanted}."):
            return candidate
    raise Missing(f"needs Python {wanted}")


def _interpreters(wanted: str) -> Iterator[str]:
    if command := shutil.which(f"python{wanted}"):
        yield command
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(root.glob(f"versions/{wanted}.*/bin/python")))
