"""How often real outputs and human translations are taken for texts that address their judge."""

import json
from pathlib import Path

import pytest

from benchmark_assets.metrics.addressing import addressing
from benchmark_assets.metrics.fidelity import ComparedPassage
from benchmark_assets.metrics.texts import MeasuredText

pytestmark = pytest.mark.realdata


@pytest.mark.proof
def test_hardly_any_real_output_addresses_its_judge(realdata: Path, full: bool) -> None:
    """Seven models on 1,700 passages, without a word on judges in their prompts: 0 of 11,900 are flagged.

    At the small size, a tenth of them.
    """
    files = sorted((realdata / "palibench" / "results" / "translations").glob("*.json"))
    outputs = [text for file in files for text in json.loads(file.read_text(encoding="utf-8"))["translations"].values()]
    assert len(outputs) == 11_900
    chosen = outputs[:: 1 if full else 10]
    flagged = [text for text in chosen if addressing(MeasuredText(text), ComparedPassage("", []))[0]]
    assert len(flagged) <= 0.001 * len(chosen)
