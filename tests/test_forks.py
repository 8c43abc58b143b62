"""Forked processes report what one process would report."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from resources.home import PROJECT

RUN = "import sys, pytest; from tests.forks import Forks; sys.exit(pytest.main(sys.argv[1:], [Forks(2)]))"
GOOD = "import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_it(n): pass\n"


def forked(folder: Path, *options: str, **modules: str) -> subprocess.CompletedProcess[str]:
    for name, code in modules.items():
        (folder / f"test_{name}.py").write_text(code, encoding="utf-8")
    options += (f"--rootdir={folder}", f"--basetemp={folder}/t", "-c", os.devnull)
    command = [sys.executable, "-c", RUN, str(folder), *options]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def test_tests_of_all_processes_count_and_a_failure_shows_what_its_test_printed(tmp_path: Path) -> None:
    done = forked(tmp_path, bad="def test_it():\n    print('so far')\n    assert 0\n", good=GOOD, other=GOOD)
    assert done.returncode == 1
    assert "1 failed, 18 passed" in done.stdout
    assert "so far" in done.stdout


def test_a_process_that_dies_is_a_failure_that_names_its_test(tmp_path: Path) -> None:
    done = forked(tmp_path, good=GOOD, mortal="import os\ndef test_it(): os._exit(0)\n")
    assert done.returncode == 1
    assert "the process of test_mortal.py::test_it died" in done.stdout


@pytest.mark.parametrize("end", ["assert 0", "os.kill(os.getppid(), 9)"])
def test_when_the_first_process_ends_so_do_the_others(tmp_path: Path, end: str) -> None:
    (seen := tmp_path / "seen").touch()  # a slow process may end before its first test
    long = "import pytest, time\n@pytest.mark.parametrize('n', range(99))\ndef test_it(n):\n    time.sleep(0.1)\n"
    long += f"    open({str(seen)!r}, 'a').write('.')\n"
    done = forked(tmp_path, "-x", long=long, mortal=f"import os\ndef test_it():\n    {end}\n")
    assert done.returncode != 0
    assert seen.stat().st_size < 90


def test_polars_is_not_forked_once_it_has_computed(tmp_path: Path) -> None:
    done = forked(tmp_path, early="import polars as pl\nONE = pl.DataFrame({'a': 1}).sum()\ndef test_it(): pass\n")
    assert "a module computes a frame when it is imported" in done.stderr + done.stdout
