"""A new study is one module, a prompt, a table declaration and a line that makes the asset: such a project works."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from resources.home import PROJECT
from tests.pairwise.arena import FIRST, SECOND, Arena, made_arena
from tests.provider.server import Server, dumps
from tests.support import PASSAGES, made_home

NEW = Path(__file__).with_name("new_study")
PLACES = {
    "figures.py": "benchmark_assets/pairwise/figures.py",
    "figures.yaml": "prompts/figures.yaml",
    "figure.yaml": "warehouse/schema/figure.yaml",
}
ASSET = """
from benchmark_assets.pairwise.figures import Figures

figure = study_asset(Figures, GRID, "pairwise", [model_output, SOURCE])
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project that has the new study."""
    copy = tmp_path / "project"
    for folder in ("benchmark_assets", "resources", "prompts", "warehouse/schema"):
        shutil.copytree(PROJECT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, place in PLACES.items():
        shutil.copy(NEW / name, copy / place)
    with (copy / "benchmark_assets/pairwise/assets.py").open("a", encoding="utf-8") as assets:
        assets.write(ASSET)
    return copy


def test_the_new_study_is_small() -> None:
    assert len((NEW / "figures.py").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.proof
@pytest.mark.large
def test_a_new_study_is_asked_stored_checked_and_never_asked_twice(
    project: Path, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_arena(tmp_path / "world")
    made_home(monkeypatch, tmp_path / "world")
    Arena(tmp_path / "world", server.url)
    listed = {"words": "dog", "kind": "image", "origin": "kept"}
    made_up = {"words": "unicorn", "kind": "irony", "origin": "added"}
    judgements = {
        "comparer": [dumps({"figures": []})], "marker": [dumps({"figures": []})],
        f"marker|{FIRST}": ["Certainly!", f"```json\n{dumps({'figures': [listed, made_up]})}\n```"],
        f"comparer|{SECOND}": [dumps({"figures": [{"words": "sun", "kind": "sound", "origin": "adapted"}]})],
    }  # fmt: skip
    server.configure(answer="judge", judgements=judgements)
    environment = os.environ | {
        "PYTHONPATH": f"{project}{os.pathsep}{PROJECT}", "VARIORUM_MODELS": str(tmp_path / "world" / "models.yaml"),
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, str(NEW / "flow.py"), str(tmp_path / "world"), server.url],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-4000:]
    steps = json.loads(ran.stdout.splitlines()[-1])

    assert (steps["undescribed"]["stale"], steps["undescribed"]["cost"]) == ([], None)
    assert steps["before"]["stale"] == PASSAGES
    calls, recorded, about = steps["before"]["cost"]
    assert (calls, recorded) == (12, 0)  # two models; one is materialized
    assert about > 0

    after = steps["after"]
    assert (after["stale"], after["cost"][:2]) == (
        [],
        [6, 6],
    )  # the other model says the same: in the ledger
    assert after["rows"] == [
        [PASSAGES[0], "marker", 1, "dog", "image", "kept", 2],
        [PASSAGES[0], "marker", 2, "unicorn", "irony", "added", None],
        [PASSAGES[1], "comparer", 1, "sun", "sound", "adapted", 4],
    ]
    assert after["calls"] == [
        [passage, judge, *([2, "repaired"] if (passage, judge) == (PASSAGES[0], "marker") else [1, "strict"])]
        for passage in PASSAGES for judge in ("comparer", "marker")
    ]  # fmt: skip
    assert after["known"]
    assert after["others"] == {"figure": 6, "rubric_vote": 6}
    assert after["asked"] == 7
    assert after["paid"] > 0
    assert steps["sound"]

    assert steps["again"] == after
    changed, renewed = steps["changed"], steps["renewed"]
    assert changed["stale"] == [PASSAGES[1]]
    assert changed["cost"][:2] == [6 + 2, 6]
    assert renewed["stale"] == []
    assert renewed["asked"] == 9
    assert [row for row in renewed["rows"] if row[0] == PASSAGES[1]] == []
    assert renewed["others"] == after["others"]
    assert steps["stray"] == 0
