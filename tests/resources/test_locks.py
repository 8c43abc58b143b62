"""Locks between processes, and the refusal of systems without them."""

import subprocess
import sys
from pathlib import Path

import pytest

from resources import locks
from resources.home import PROJECT

HOLDING = """
import sys
from resources import locks
file = open(sys.argv[1])
getattr(locks, sys.argv[2])(file)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["exclusive", "shared"])
def test_a_lock_of_another_process_lasts_until_it_is_killed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    command = [sys.executable, "-c", HOLDING, str(path), kind]
    with (
        path.open() as file,
        subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
    ):
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert not locks.tried(file)
        other.kill()
        other.wait()
        assert locks.tried(file)


def test_shared_locks_exclude_only_exclusive_ones(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as one, path.open() as another, path.open() as third:
        locks.shared(one)
        locks.shared(another)
        assert not locks.tried(third)


def test_windows_is_refused_by_name_with_a_remedy() -> None:
    program = "import sys; sys.platform = 'win32'; import resources.locks"
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("resources.errors.BadInput: Windows: lacks the file locks")
    assert "wsl --install" in done.stderr
