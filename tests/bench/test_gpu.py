"""Embedder, COMET's worker and learned metrics on this machine's GPU: right values, and texts a second beside the
stock libraries on the same card. Skipped where there is no GPU. It ends in five minutes; an environment whose torch has
no CUDA fails, and says so.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from resources.comet.comet import Comet
from resources.home import PROJECT

SECONDS = 60.0
"""Longest time of a part."""

MOST = {"embedder": 1e-5, "comet": 1e-3, "kiwi": 1e-3, "xcomet": 1e-3, "metricx-24": 1e-2}
"""Greatest difference of a value from that of the CPU. A card adds up in another order, and multiplies in TF32."""


@pytest.mark.bench
@pytest.mark.skipif(not Path("/dev/nvidia0").exists(), reason="no GPU: this measures what runs on one")
@pytest.mark.parametrize("part", MOST)
def test_values_and_texts_a_second_on_a_gpu(part: str, tmp_path: Path) -> None:
    python, size = (sys.executable, (5000, 0, 0)) if part == "embedder" else (Comet().python, (100, 1024, 24))
    done = subprocess.run(
        [python, "-m", "tests.bench.gpu", part, "cuda", str(tmp_path), *map(str, size)],
        cwd=PROJECT, env=os.environ | {"HF_HUB_OFFLINE": "1"}, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    ratio = found["ours"] / found["stock"]
    print(
        f"\n{part}: {found['texts']:,} texts, {found['ours']:.0f} a second, {found['stock']:.0f} by the stock library "
        f"({ratio:.2f} times); values differ from the CPU's by at most {found['difference']:.0e}"
    )
    assert found["difference"] <= MOST[part]
