"""What encoding every distinct text once saves: encodes and time beside one `predict` per reference.

10 systems, 3 references; both in one process and on one thread, one after the other, with the checkpoint loaded;
`predict` with its default batches of 16, the worker with its default of 2,048 tokens. Time is that of the processor.
Figures are printed beside their targets.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from resources.comet.comet import Comet
from resources.home import PROJECT

pytestmark = pytest.mark.bench


@pytest.mark.large
@pytest.mark.parametrize(
    ("checkpoint", "width", "layers", "passages", "least"),
    [("tiny", 16, 2, 40, 0), ("larger", 256, 6, 5, 5_000_000)],
)
def test_distinct_texts_against_one_predict_per_reference(
    tmp_path: Path, checkpoint: str, width: int, layers: int, passages: int, least: int
) -> None:
    sizes = [str(each) for each in (width, layers, passages, 10, 3)]
    done = subprocess.run(
        [Comet().python, "-m", "tests.comet_bench", str(tmp_path), *sizes],
        cwd=PROJECT, env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    plain, once = found["predict"], found["worker"]
    fewer, faster = plain["encoded"] / once["encoded"], plain["seconds"] / once["seconds"]
    print(
        f"\n{checkpoint}, {found['parameters']:,} parameters, {passages} passages, {found['tokens']:.0f} tokens each: "
        f"{once['encoded']:,} encodes instead of {plain['encoded']:,} ({fewer:.2f} times fewer; wanted: 6), "
        f"{once['seconds']:.2f} s instead of {plain['seconds']:.2f} ({faster:.1f} times faster; wanted: 5), "
        f"scores differ by at most {found['difference']:.0e} (wanted: 1e-06)"
    )
    assert found["parameters"] >= least
    assert once["encoded"] == found["texts"]
    assert fewer >= 6
    assert faster >= 5
    assert found["difference"] <= 1e-6
