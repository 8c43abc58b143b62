"""The sensitivity suite on two real corpora with the real MiniLM: its tables, and what must hold of them."""

import json
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.corpus.description import Sensitivity
from benchmark_assets.metrics.further import SOUND
from benchmark_assets.sensitivity.detection import ALL, detection, thresholds
from benchmark_assets.sensitivity.exhibits import readable_detection, readable_thresholds
from benchmark_assets.sensitivity.sample import VARIANT, chosen, variants
from benchmark_assets.sensitivity.scoring import variant_scores
from resources.embedders import PackagedEmbedder
from resources.tables import plain

SEED = Sensitivity().seed

pytestmark = [pytest.mark.realdata, pytest.mark.proof]


def scored(path: Path, count: int) -> pl.DataFrame:
    """Scores of all variants of a sample of passages, from a file of passages with their references."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    by_passage = {line["passage_id"]: line for line in lines}
    own = [by_passage[passage] for passage in chosen(list(by_passage), count, SEED)]
    sources = pl.DataFrame([(line["passage_id"], line["source"]) for line in own], ["passage", "text"], orient="row")
    texts = [(line["passage_id"], name, text) for line in own for name, text in line["references"].items() if text]
    references = pl.DataFrame(texts, ["passage", "translator", "text"], orient="row")
    sound = references.with_columns(kind=pl.lit(SOUND), severity=pl.lit(0, pl.Int32), extent=pl.lit(0.0))
    every = pl.concat([sound.select(list(VARIANT)), variants(sources, references, "en", SEED)])
    distinct = every["text"].unique(maintain_order=True)
    vectors, cut = PackagedEmbedder().embed(distinct.to_list())
    embedded = pl.DataFrame({"text": distinct, "vector": vectors, "cut": cut})
    scores = variant_scores(every.join(embedded, on="text"), references.join(embedded, on="text"))
    return scores.join(every, on=["passage", "translator", "kind", "severity"]).with_columns(unit="passage")


@pytest.mark.parametrize(
    ("file", "count"),
    [
        pytest.param("daodejing/daodejing.jsonl", 40, marks=pytest.mark.large),
        ("dhammapada/dhammapada_units.jsonl", 150),
    ],
)
def test_what_each_metric_sees(realdata: Path, file: str, count: int, full: bool) -> None:
    scores = scored(realdata / file, count if full else 3)
    found, limits = detection(scores, "en"), thresholds(scores)
    named = pl.lit(Path(file).stem).alias("corpus")
    print(f"\n{plain(readable_detection(found.with_columns(named)))}")
    print(f"\n{plain(readable_thresholds(limits.with_columns(named)))}")

    cells = {(row["metric"], row["kind"], row["severity"]): row for row in found.iter_rows(named=True)}
    for kind in ("truncation", "untranslated", "term") if full else ():  # drift sees more of more
        assert cells["drift", kind, 1]["auc"] < cells["drift", kind, 2]["auc"] < cells["drift", kind, 3]["auc"], kind
    for kind in ("negation", "agent") if full else ():  # what is most wrong in few letters is what drift sees least
        assert cells["drift", kind, 1]["auc"] < cells["drift", "untranslated", 2]["auc"], kind
        # seen beside its own sound text, and drowned in what divides translators
        assert cells["drift", kind, 3]["win_rate_low"] > cells["drift", kind, 3]["auc_high"], kind
    costs = limits.filter(kind=ALL, severity=0).sort("rule")
    assert costs["false_alarms"].is_between(0, 1).all()
    recalls = costs.filter(pl.col("rule").str.starts_with("recall"))
    assert recalls["threshold"].is_sorted(descending=True)
    assert recalls["false_alarms"].is_sorted()
