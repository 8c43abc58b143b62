"""DharmaBench's chance rows, eval4ner on its gold spans, and how far two ways to score spans are apart."""

import random
from math import floor
from pathlib import Path

import polars as pl
import pytest
from eval4ner.muc import evaluate_one

from benchmark_assets.understanding import samples
from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.muc import MODES, ScoredSpan, pooled, type_f1
from benchmark_assets.understanding.task_scores import Gold, chances, gold, marked, task_scores
from resources.home import PROJECT

pytestmark = pytest.mark.realdata

SPANS = ["SMDS", "QUDS", "RCDS", "QUDT"]
Case = tuple[list[tuple[str, str]], list[tuple[str, str]], str]


def read(folder: Path, task: str) -> tuple[Gold, pl.DataFrame]:
    """What is right in a task, and its train split."""
    description = load(PROJECT / f"warehouse/benchmarks/dharmabench/tasks/{task}.yaml")
    found = samples.read(description, folder / "dharmabench")
    return gold(description, found.samples, found.spans), found.samples.filter(split="train")


@pytest.mark.parametrize(
    ("task", "score", "printed"),
    [
        ("SMDS", 55.6098, 55.60), ("QUDS", 12.25, 12.25), ("RCDS", 48.75, 48.75), ("QUDT", 60.0985, 60.09),
        ("RCMS", 50, 50), ("VPCS", 50, 50), ("MCS", 10, 10), ("RCMT", 50, 50),
        ("VPCT", 50, 50), ("AACT", 50, 50), ("SCCT", 50, 50), ("THCT", 7.6923, 7.69),
    ],
)  # fmt: skip
def test_chance(realdata: Path, task: str, score: float, printed: float) -> None:
    rows = chances(*read(realdata, task))
    found = dict(rows.select("baseline", "score").iter_rows())
    assert round(found["chance"], 4) == score
    assert floor(100 * found["chance"]) / 100 == printed
    assert found.get("empty", score) == pytest.approx(score, abs=1e-4)
    assert ("majority" in found) is (task not in SPANS)


def cases(folder: Path, number: int, seed: int) -> list[Case]:
    """Predictions made from the gold spans of random samples, with these and the text."""
    rows: list[tuple[list[tuple[str, str]], str]] = []
    for task in SPANS:
        own = read(folder, task)[0]
        by_sample = own.spans.group_by("sample", maintain_order=True).agg(pl.struct("type", "text"))
        right = {sample: [(each["type"], each["text"]) for each in spans] for sample, spans in by_sample.iter_rows()}
        texts = own.samples.select("sample", pl.col("texts").str.json_path_match(f"$.{own.task.marked}"))
        rows += [(right.get(sample, []), text) for sample, text in texts.iter_rows()]
    rng = random.Random(seed)
    return [(damaged(spans, text, rng), spans, text) for spans, text in rng.choices(rows, k=number)]


def damaged(spans: list[tuple[str, str]], text: str, rng: random.Random) -> list[tuple[str, str]]:
    """Gold spans, dropped, added, shifted, of another type, cut short or given twice, up to five times."""
    found = list(spans)
    for _ in range(rng.randint(0, 5)):
        change = rng.choice(["drop", "add", "shift", "retype", "truncate", "duplicate"])
        if change == "add":
            first = rng.randrange(len(text))
            words = text[first : first + rng.choice([1, 3, 20, 200])]
            found.insert(rng.randint(0, len(found)), (rng.choice(["MET", "SIM", "COMM", "QUOTE", "Quote"]), words))
        elif found:
            at = rng.randrange(len(found))
            kind, words = found[at]
            if change == "drop":
                found.pop(at)
            elif change == "shift":
                first = max(text.find(words) + rng.randint(-30, 30), 0)
                found[at] = kind, text[first : first + len(words)]
            elif change == "retype":
                found[at] = rng.choice(["MET", "SIM", "COMM", "QUOTE", "Quote"]), words
            elif change == "truncate":
                found[at] = kind, words[: rng.randint(0, len(words))]
            else:
                found.insert(rng.randint(0, len(found)), found[at])
    return found


def test_scores_of_5000_perturbed_predictions_are_those_of_eval4ner(realdata: Path) -> None:
    tried = cases(realdata, 5000, seed=9)
    ours = [type_f1(*case) for case in tried]
    theirs = [evaluate_one(*case)["type"]["f1_score"] for case in tried]
    assert sum(one != other for one, other in zip(ours, theirs, strict=True)) == 0
    assert sum(0 < score < 1 for score in ours) > 500


@pytest.mark.parametrize(
    ("task", "paper", "muc"), [("SMDS", 55.6, 0), ("QUDS", 12.2, 0), ("RCDS", 48.8, 0), ("QUDT", 60.1, 0)]
)
def test_silence_scores_half_in_the_papers_way_and_nothing_in_the_pooled_one(
    realdata: Path, task: str, paper: float, muc: float
) -> None:
    own = read(realdata, task)[0]
    found = {row["baseline"]: row["score"] for row in chances(own, pl.DataFrame()).iter_rows(named=True)}
    places = own.spans.group_by("sample").agg(pl.struct("type", "first", "last"))
    right = [[ScoredSpan(**each) for each in spans] for spans in places["type"]]
    assert round(found["empty"], 1) == paper
    assert pooled([[] for _ in right], right).f1["pooled_type"] == muc
    found_ones = own.spans["first"].is_not_null().mean()  # a gold span that does not occur is missed in any case
    assert pooled(right, right).f1 == pytest.approx(dict.fromkeys(MODES, found_ones))


@pytest.mark.parametrize(
    ("task", "change", "expected"),
    [
        ("RCDS", "every second", (74.5, 66.9, 66.9)), ("RCDS", "first third", (100.0, 100.0, 0.0)),
        ("RCDS", "one more", (34.2, 50.6, 50.6)), ("RCDS", "half a percent", (76.2, 3.9, 0.0)),
        ("QUDT", "every second", (84.4, 65.6, 65.6)), ("QUDT", "first third", (98.5, 96.7, 0.0)),
        ("QUDT", "one more", (30.5, 60.4, 60.2)), ("QUDT", "half a percent", (80.7, 8.4, 0.0)),
    ],
)  # fmt: skip
def test_two_ways_to_score_spans_disagree(
    realdata: Path, task: str, change: str, expected: tuple[float, float, float]
) -> None:
    """The table of docs/decisions/understanding.md: the paper's score, pooled by type, pooled by exact place."""
    own = read(realdata, task)[0]
    texts = dict(own.samples.select("sample", pl.col("texts").str.json_path_match(f"$.{own.task.marked}")).iter_rows())
    (kind,) = own.task.types
    spans = own.spans["sample", "text"].rows()
    if change == "every second":
        spans = spans[::2]
    elif change == "one more":
        spans = sorted([*spans, *((sample, text[-30:]) for sample, text in texts.items())], key=lambda pair: pair[0])
    else:
        share = {"first third": 3, "half a percent": 200}[change]
        spans = [(sample, words[: max(len(words) // share, 1)]) for sample, words in spans]
    rows = [(sample, number, words, texts[sample].find(words)) for number, (sample, words) in enumerate(spans)]
    found = pl.DataFrame(rows, schema=["sample", "number", "text", "first"], orient="row").with_columns(
        pl.when(pl.col("first") >= 0).then("first"), system=pl.lit("m"), seed=pl.lit(1), type=pl.lit(kind),
        last=pl.when(pl.col("first") >= 0).then(pl.col("first") + pl.col("text").str.len_chars()),
        located=pl.when(pl.col("first") >= 0).then(pl.lit("exact")).otherwise(pl.lit("absent")),
    )  # fmt: skip
    given = own.samples.select(
        "sample", system=pl.lit("m"), seed=pl.lit(1), label=pl.lit(None, pl.String), usable=pl.lit(True)
    )
    (row,) = task_scores(own, marked(own, given, found), found, {"m": "damaged"})[0].iter_rows(named=True)
    assert tuple(round(row[name], 1) for name in ("score", "pooled_type", "pooled_exact")) == expected
