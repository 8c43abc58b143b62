"""What whole commands and a warm process take beside a plain program of a hundred lines (tests/bench/plain.py).

Both embed with the packaged MiniLM, and read the same files: passages with two references, and outputs of models. The
plain program is called again after each change, and computes what differs. CPU seconds, runs of Dagster and ratios are
printed; whole processes are measured by what the kernel says of them.
"""

import json
import random
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.imports import import_outputs
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.bench import plain
from tests.bench.grid import write_jsonl_corpus
from tests.bench.test_start import ended
from tests.bench.test_updates import cpu_seconds
from tests.processes import VARIORUM
from tests.support import made_home, write_outputs

pytestmark = pytest.mark.bench

WORDS = (
    "the a of in and to with before after under over river mountain king teacher farmer child horse road city house "
    "door lamp night morning war peace law word voice song answer question gave took saw heard went came stood fell "
    "rose spoke asked old young great small dark bright silent wise bitter sweet long slowly once again never always "
    "nothing everything"
)


def sentence(draw: random.Random, like: str = "") -> str:
    """About twenty words; three quarters of another sentence's, if there is one."""
    vocabulary = WORDS.split()
    words = like.rstrip(".").split() or draw.choices(vocabulary, k=draw.randint(14, 26))
    return " ".join(word if draw.random() < 0.75 else draw.choice(vocabulary) for word in words) + "."


class Files(NamedTuple):
    """A corpus with its description, and files with the outputs of models."""

    description: Path
    outputs: list[Path]

    @property
    def passages(self) -> Path:
        """The passages with their references."""
        return self.description.parent / "passages.jsonl"

    def edit(self, translator: str = "ben") -> None:
        """Change two words of a reference."""
        lines = self.passages.read_text(encoding="utf-8").splitlines()
        row = json.loads(lines[3])
        row["references"][translator] = f"At last {row['references'][translator]}"
        lines[3] = json.dumps(row)
        self.passages.write_text("\n".join(lines), encoding="utf-8")


def files(folder: Path, passages: int, models: int) -> Files:
    """Sentences of words by lot; references and outputs of a passage share most of theirs."""
    draw, description = random.Random(1), write_jsonl_corpus(folder / "corpus", passages)
    path = description.parent / "passages.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["references"]["ann"] = sentence(draw)
        row["references"]["ben"] = sentence(draw, row["references"]["ann"])
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    outputs = [
        write_outputs(
            folder / f"m{number}.jsonl", {row["passage_id"]: sentence(draw, row["references"]["ann"]) for row in rows}
        )
        for number in range(models)
    ]
    return Files(description, outputs)


class Cost(NamedTuple):
    """CPU seconds, and runs of Dagster."""

    seconds: float
    runs: int = 0


class Commands:
    """Whole commands on a home."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def __call__(self, *commands: str) -> Cost:
        """What commands cost together."""
        before = self._runs()
        seconds = sum(ended(self._home, VARIORUM, "--quiet", *command.split())[1] for command in commands)
        return Cost(seconds, self._runs() - before)

    def _runs(self) -> int:
        path = self._home / "dagster" / "history" / "runs.db"
        if not path.exists():
            return 0
        with closing(sqlite3.connect(path)) as connection:
            return int(connection.execute("SELECT count(*) FROM runs").fetchone()[0])


def table(title: str, costs: Mapping[str, Mapping[str, Cost]], basis: str = "") -> None:
    """Print what was measured, with ratios to the plain program, if there is one."""
    print(f"\n{title}: CPU s")
    for what, by_way in costs.items():
        base = by_way[basis].seconds if basis else 0
        ways = [
            f"{way} {cost.seconds:.2f}"
            + (f" in {cost.runs} runs" if cost.runs else "")
            + (f" ({cost.seconds / base:.1f} times)" if base and way != basis else "")
            for way, cost in by_way.items()
        ]
        print(f"  {what}: {', '.join(ways)}")


@pytest.mark.large
def test_work_beside_a_plain_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size, models = 300, 10
    given = files(tmp_path, size, models + 1)
    first, further = given.outputs[:-1], given.outputs[-1]
    names = [path.stem for path in first]
    commands, store = Commands(tmp_path / "whole"), tmp_path / "plain.duckdb"

    def plainly(*outputs: Path) -> Cost:
        program = sys.executable, plain.__file__, str(store), str(given.passages), *map(str, outputs)
        return Cost(ended(tmp_path / "whole", *program)[1])

    home = made_home(monkeypatch, tmp_path)
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    definitions = build_definitions(resource_overrides={"warehouse": warehouse})
    with dg.DagsterInstance.get() as instance:

        def warm(work: Callable[[], object]) -> Cost:
            before = instance.get_runs_count()
            seconds = cpu_seconds(work)
            return Cost(seconds, instance.get_runs_count() - before)

        def begin() -> None:
            register(warehouse, given.description)
            runs.take_in(definitions, instance, "bench")
            evaluate(first)

        def evaluate(outputs: Sequence[Path]) -> None:
            for path in outputs:
                import_outputs(warehouse, path, "bench", path.stem)
            runs.evaluate(definitions, instance, *(path.stem for path in outputs))

        def correct() -> None:
            runs.look(definitions, instance)
            runs.update(definitions, instance)

        costs = {
            "everything": {
                "plain": plainly(*first),
                "commands": commands(
                    f"import corpus {given.description}",
                    f"import outputs --corpus bench {' '.join(map(str, first))}",
                    f"evaluate {' '.join(names)}",
                ),
                "warm": warm(begin),
            },
            "one more model": {
                "plain": plainly(*given.outputs),
                "commands": commands(f"import outputs --corpus bench {further}", f"evaluate {further.stem}"),
                "warm": warm(lambda: evaluate([further])),
            },
        }
        given.edit()
        costs["one passage fixed"] = {
            "plain": plainly(*given.outputs),
            "commands": commands("scan", "update"),
            "warm": warm(correct),
        }
        costs["nothing stale"] = {
            "plain": plainly(*given.outputs),
            "commands": commands("update"),
            "warm": warm(lambda: runs.update(definitions, instance)),
        }
    table(f"{size} passages × {models} models", costs, "plain")


@pytest.mark.large
def test_ten_rows_and_the_demonstration(tmp_path: Path) -> None:
    given = files(tmp_path, 10, 1)
    commands, [outputs] = Commands(tmp_path / "home"), given.outputs
    evaluate = f"import outputs --corpus bench {outputs}", f"evaluate {outputs.stem}"
    costs = {
        "import of ten rows": {"commands": commands(f"import corpus {given.description}")},
        "outputs of a model": {"commands": commands(*evaluate)},
    }
    outputs.write_text(outputs.read_text(encoding="utf-8").replace('translation": "', 'translation": "At last ', 1))
    costs["one of ten outputs edited"] = {"commands": commands(*evaluate)}
    given.edit()
    costs["one of ten references edited"] = {"commands": commands("scan", "update")}
    costs["stale"] = {"commands": commands("stale")}
    costs["demo"] = {"commands": Commands(tmp_path / "demo")("demo")}
    table("ten rows with two references", costs)
