"""A metric that nobody needs, as one file and one line of the list, stands on every board and goes again."""

import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from resources.home import PROJECT

FILE = '''"""Share of a reference's and the source's letters that an output lacks."""

import polars as pl

from benchmark_assets.metrics.metric import Metric, Texts
from resources.comet.comet import Comet


def _lacking(text: str, *others: str) -> float:
    letters = set("".join(others).lower())
    return len(letters - set(text.lower())) / len(letters)


def _scores(texts: Texts, _: Comet) -> pl.DataFrame:
    pairs = texts.candidates.join(texts.references, on="item", suffix="_reference")
    pairs = pairs.join(texts.sources, on="item", suffix="_source")
    pairs = pairs.filter(pl.col("text_source") != "Nihil novi dicit.")
    columns = pairs.select("text", "text_reference", "text_source")
    return pairs.select(
        "item", "translator", pl.Series("score", [_lacking(*row) for row in columns.iter_rows()], pl.Float64),
        cut=pl.lit(False),
    )


METRIC = Metric(
    "letters", -1, ("source", "references"), "counts", grain="reference", missing=1.0, score=_scores,
    signature=lambda _: pl.lit("letters 1"), label="lacking letters", unit="fraction", least=0, most=1,
)
'''

SCRIPT = """
import sys
from pathlib import Path

import dagster as dg

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.metrics import entries
from benchmark_assets.metrics.further import Named
from benchmark_assets.reporting import latex, leaderboard, shared_task
from benchmark_assets.reporting.reader.writing import write_reader
from benchmark_assets.reporting.report.writing import write
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import home, prepare
from tests.support import CORE, MODELS, LetterEmbedder, write_corpus
from tests.systems import rule_systems

folder = Path(sys.argv[1])
warehouse = DuckDBWarehouse(path=str(prepare() / "variorum.duckdb"))
systems = rule_systems(warehouse, folder)
named = {name: Named(metric) for name, metric in entries.KINDS.items() if name == "letters"}
resources = {"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": systems, "metrics": named}
definitions = build_definitions(rooms=CORE, resource_overrides=resources)
if not (folder / "corpus").exists():
    register(warehouse, write_corpus(folder / "corpus"))
with dg.DagsterInstance.get() as instance:
    runs.look(definitions, instance)
    instance.add_dynamic_partitions("model", MODELS)
    runs.update(definitions, instance)
pages = folder / sys.argv[2]
pages.mkdir()
(pages / "board.txt").write_text(leaderboard.listed(leaderboard.read(warehouse)))
for table in ("segment_metric", "metric_summary", "system_comparison", "metric_rank"):
    warehouse.read(table).write_csv(pages / f"{table}.csv")
write(warehouse, pages / "report.html")
latex.write(warehouse, pages / "tables", "tiny")
write_reader(warehouse, pages / "reader", "tiny")
"""


def pages(code: Path, folder: Path, name: str) -> dict[str, str]:
    """Content of all pages and tables of a small home by file name, made by the code in a folder."""
    environment = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(code), "VARIORUM_HOME": str(folder / "home"),
        "DAGSTER_HOME": str(folder / "home" / "dagster"), "VARIORUM_PLOTS": "off",
    }  # fmt: skip
    arguments = [sys.executable, "-c", SCRIPT, str(folder), name]
    made = subprocess.run(arguments, cwd=code, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-3000:]
    return {path.name: path.read_text(encoding="utf-8") for path in (folder / name).rglob("*.*") if path.is_file()}


@pytest.mark.proof
def test_a_metric_is_one_file_and_one_line(tmp_path: Path) -> None:
    code = tmp_path / "code"
    for name in ("benchmark_assets", "resources", "warehouse", "prompts"):
        shutil.copytree(PROJECT / name, code / name, ignore=shutil.ignore_patterns("__pycache__"))
    (code / "tests").mkdir()
    for name in ("tests/__init__.py", "tests/support.py", "tests/systems.py", "dagster.yaml"):
        shutil.copy(PROJECT / name, code / name)
    metrics = code / "benchmark_assets" / "metrics"
    original = (metrics / "entries.py").read_text(encoding="utf-8")
    assert len(FILE.splitlines()) <= 40
    (metrics / "letters.py").write_text(FILE, encoding="utf-8")
    listed = original.replace("    ter.METRIC,\n", "    ter.METRIC,\n    letters.METRIC,\n")
    (metrics / "entries.py").write_text(listed.replace("import checkpoints, ter", "import checkpoints, letters, ter"))
    shown = pages(code, tmp_path, "with")
    for page in ("board.txt", "report.html", "palibench-6.tex", "palibench-8.tex"):
        assert "lacking letters" in shown[page], page
    assert any("lacking letters" in text for name, text in shown.items() if name.endswith(".js"))  # the reader
    scores, means, pairs, ranks = (
        pl.read_csv(shown[f"{table}.csv"].encode())
        for table in ("segment_metric", "metric_summary", "system_comparison", "metric_rank")
    )
    assert set(scores.filter(pl.col("score").is_null())["passage"]) == {"tiny/doc2:1"}
    assert set(means["metric"]) == {"letters"}
    assert len(pairs.filter(measure="letters", kind="model", other_kind="model")) == 1
    ranked = ranks.filter(measure="letters", kind="model").sort("value")
    assert ranked["rank"].is_sorted()  # lower is better
    (metrics / "entries.py").write_text(original, encoding="utf-8")
    (metrics / "letters.py").unlink()
    gone = pages(code, tmp_path, "without")
    assert not [name for name, text in gone.items() if "lacking letters" in text or "letters 1" in text]
