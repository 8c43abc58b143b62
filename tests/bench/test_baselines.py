"""How long baselines of understanding take on the tasks of DharmaBench, in processor seconds of one core."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.leakage import leakage
from benchmark_assets.understanding.samples import read
from resources.home import PROJECT

pytestmark = [pytest.mark.bench, pytest.mark.realdata]

MOST = 10.0
"""Seconds for training on a task and labelling its test split."""

TIMED = """
import sys, time
from pathlib import Path
from benchmark_assets.understanding.baselines import answers
from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.samples import read

description = load(Path(sys.argv[1]))
samples = read(description, Path(sys.argv[2])).samples.gather_every(int(sys.argv[3]))
begun = time.process_time()
answers([description], samples)
print(time.process_time() - begun)
"""


def test_all_baselines_of_a_task(realdata: Path, full: bool) -> None:
    for code in ("VPCT", "AACT", "SCCT", "THCT", "RCMS") if full else ("RCMS",):
        seconds = seconds_of(code, realdata, every=1 if full else 10)
        print(f"\n{code}: {seconds:.1f} s (at most {MOST:.0f})")
        assert not full or seconds < MOST


def seconds_of(code: str, realdata: Path, every: int) -> float:
    """What the baselines of a task take on every so manieth of its samples."""
    path = PROJECT / "warehouse/benchmarks/dharmabench/tasks" / f"{code}.yaml"
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", TIMED, str(path), str(realdata / "dharmabench"), str(every)]
    done = subprocess.run(command, env={**os.environ, **single}, capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_the_leakage_report_of_all_tasks_with_a_train_split(realdata: Path, full: bool) -> None:
    total = 0.0
    for code in ("VPCT", "AACT", "SCCT", "THCT", "QUDS", "QUDT", "RCMS", "RCMT", "RCDS") if full else ("QUDS",):
        description = load(PROJECT / "warehouse/benchmarks/dharmabench/tasks" / f"{code}.yaml")
        samples = read(description, realdata / "dharmabench").samples
        begun = time.process_time()
        leakage(samples)
        total += time.process_time() - begun
    print(f"\nleakage of all tasks: {total:.1f} s")
    assert not full or total < MOST
