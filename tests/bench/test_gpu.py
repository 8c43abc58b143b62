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

SECONDS = 100.0
"""Longest time of a part. On an H100, most of it went to checkpoints: they are made once and loaded three times."""

SIZES = {
    "embedder": (1500, 0, 0), "comet": (50, 1024, 12), "kiwi": (50, 1024, 12), "xcomet": (10, 1024, 12),
    "metricx-24": (20, 512, 8),
}  # fmt: skip
"""Passages (of ten candidates, but for the embedder), width and layers of each part."""

MOST = {"embedder": 1e-5, "comet": 1e-3, "kiwi": 1e-3, "xcomet": 1e-3, "metricx-24": 1e-2}
"""Greatest difference of a value from that of the CPU. A card adds up in another order, or multiplies in TF32."""


@pytest.mark.bench
@pytest.mark.skipif(not Path("/dev/nvidia0").exists(), reason="no GPU: this measures what runs on one")
@pytest.mark.parametrize("part", SIZES)
def test_values_and_texts_a_second_on_a_gpu(part: str, tmp_path: Path) -> None:
    python = sys.executable if part == "embedder" else Comet().python
    done = subprocess.run(
        [python, "-m", "tests.bench.gpu", part, "cuda", str(tmp_path), *map(str, SIZES[part])],
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
