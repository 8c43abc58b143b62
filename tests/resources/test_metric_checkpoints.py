"""Reference-free and unified COMET and MetricX in COMET's environment, with checkpoints that the tests build."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.metrics.entries import KINDS
from benchmark_assets.metrics.further import Named, named, scores
from resources.comet.comet import Comet
from resources.comet.worker import EXAMPLES
from resources.errors import BadInput
from resources.provider.registry import load
from tests.resources.checkpoints import built

LONG = "The cat sits, o the cat, " * 12  # more than the small encoders read
ROWS = pl.DataFrame(
    [
        (source, candidate, reference)
        for source in ("Mus currit.", "Felis sedet diu.")
        for candidate in ("A mouse runs.", "Nescio quid.\n「道可道」", LONG)
        for reference in ("The mouse is running.", "Off the mouse goes.")
    ],
    schema=["source", "candidate", "reference"],
    orient="row",
)
BASE = {"embedders": {"minilm": {}}, "embedder": "minilm"}


class Workshop(NamedTuple):
    """Checkpoints in a folder, and what `tests/metric_checkpoints.py` found of them."""

    folder: Path
    found: dict[str, Any]

    def checkpoint(self, name: str, kind: Any, **settings: Any) -> Comet:
        if kind.startswith("metricx"):
            settings = {"tokenizer": str(self.folder / "metricx"), **settings}
            return Comet(checkpoint=str(self.folder / "metricx"), kind=kind, **settings)
        return Comet(checkpoint=str(self.folder / name / "checkpoints" / "model.ckpt"), kind=kind, **settings)


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    folder = tmp_path_factory.mktemp("workshop")
    return Workshop(folder, built("tests.metric_checkpoints", folder, ROWS))


FULL = [pytest.mark.large, pytest.mark.proof]


@pytest.mark.parametrize(
    ("name", "kind", "budget"),
    [
        pytest.param("kiwi", "kiwi", 300, marks=FULL), ("xcomet", "xcomet", 500), ("metricx-24", "metricx-24", 2048),
        pytest.param("old kiwi", "kiwi", 2048, marks=FULL), pytest.param("metricx-23", "metricx-23", 100, marks=FULL),
        pytest.param("metricx-23-qe", "metricx-23-qe", 2048, marks=FULL),
        pytest.param("metricx-24-qe", "metricx-24-qe", 1, marks=FULL),
    ],
)  # fmt: skip
def test_scores_are_those_of_the_library(workshop: Workshop, name: str, kind: str, budget: int) -> None:
    scored = workshop.checkpoint(name, kind, token_budget=budget).score(ROWS.with_row_index("number"))
    assert scored.drop("score", "cut", "spans", strict=False).equals(ROWS.with_row_index("number"))
    expected = workshop.found[name]["scores"]
    assert len({round(score, 5) for score in expected}) > 3
    assert_allclose(scored["score"], expected, atol=1e-5, rtol=0)
    assert scored["cut"].to_list() == [
        name in ("kiwi", "old kiwi", "xcomet") and candidate == LONG for candidate in ROWS["candidate"]
    ]


@pytest.mark.proof
@pytest.mark.large
def test_errors_are_those_of_the_library_and_lie_in_the_candidate(workshop: Workshop) -> None:
    scored = workshop.checkpoint("xcomet", "xcomet", token_budget=500).score(ROWS)
    found = [[[error[key] for key in ("start", "end", "severity")] for error in errors] for errors in scored["spans"]]
    assert found == workshop.found["xcomet"]["spans"]
    assert sum(map(len, found)) > 10
    for candidate, errors in zip(scored["candidate"], scored["spans"], strict=True):
        for error in errors:
            assert 0 <= error["start"] < error["end"] <= len(candidate)
            assert error["severity"] in ("minor", "major", "critical")
            assert 0.25 < error["confidence"] <= 1


@pytest.mark.proof
@pytest.mark.large
def test_entries_store_scores_and_errors_of_every_reference(workshop: Workshop) -> None:
    """Of outputs and of translators; what is stored is not computed again."""
    metrics = {name: Named(KINDS[name], workshop.checkpoint(name, name)) for name in ("xcomet", "kiwi")}
    passages = {name: str(n) for n, name in enumerate(ROWS["source"].unique(maintain_order=True))}
    rows = ROWS.with_columns(passage=pl.col("source").replace_strict(passages), tokenizer=pl.lit("13a"))
    outputs = rows.select("passage", "tokenizer", text="candidate", model="candidate").unique(maintain_order=True)
    references = rows.select("passage", text="reference", translator="reference").unique(maintain_order=True)
    sources = rows.select("passage", text="source").unique(maintain_order=True)
    on = ["model", "passage"]
    scored, spans = scores(metrics, outputs, references, sources, on)
    found = scored.filter(metric="xcomet").join(outputs, on=on, maintain_order="left")["score"]
    predicted = workshop.found["xcomet"]["scores"]
    assert_allclose(found, [(a + b) / 2 for a, b in zip(predicted[::2], predicted[1::2], strict=True)], atol=1e-5)
    assert_allclose(scored.filter(metric="kiwi")["score"], workshop.found["kiwi"]["scores"][::2], atol=1e-5)
    marks = [
        (candidate, reference, place, *error)
        for (candidate, reference), errors in zip(
            ROWS.select("candidate", "reference").iter_rows(), workshop.found["xcomet"]["spans"], strict=True
        )
        for place, error in enumerate(errors, 1)
    ]
    columns = ["model", "translator", "place", "start", "end", "severity"]
    assert sorted(spans.select(columns).iter_rows()) == sorted(marks)
    away = {
        name: Named(metric, checkpoint.model_copy(update={"python": "/nonexistent"}))
        for name, (metric, checkpoint) in metrics.items()
    }
    again, spans_again = scores(away, outputs, references, sources, on, scored, spans)
    assert again.equals(scored)
    assert sorted(spans_again.iter_rows()) == sorted(spans.iter_rows())
    humans = rows.select("passage", "tokenizer", text="reference", own="reference").unique(maintain_order=True)
    of_humans, errors = scores({"xcomet": metrics["xcomet"]}, humans, references, sources, ["passage", "own"])
    assert of_humans["score"].null_count() == 0
    assert (errors["own"] != errors["translator"]).all()


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("kiwi", "xcomet", "reads .*mt.*, but the kind xcomet reads .*; name another .* Unbabel/XCOMET-XL"),
        ("xcomet", "kiwi", "is a xcomet_metric, .* kind kiwi; name it under `metrics`, with the kind xcomet"),
        (
            "old kiwi",
            "comet",
            "is a referenceless_regression_metric, .*with the kind kiwi, or .* Unbabel/wmt22-comet-da",
        ),
    ],
)
def test_a_checkpoint_of_another_kind_is_bad_input(workshop: Workshop, name: str, kind: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        workshop.checkpoint(name, kind).score(ROWS)


@pytest.mark.proof
@pytest.mark.large
def test_what_is_no_metricx_is_bad_input(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nobody/nothing: cannot be loaded .*; give a folder .* google/metricx-24"):
        Comet(checkpoint="nobody/nothing", kind="metricx-24", tokenizer="x").score(ROWS)
    with pytest.raises(BadInput, match=r"tokenizer: cannot be loaded .*google/mt5-xl"):
        workshop.checkpoint("", "metricx-24", tokenizer="nobody/nothing").score(ROWS)


def test_without_rows_nothing_is_scored() -> None:
    empty = Comet(checkpoint="a/b", kind="xcomet").score(ROWS.clear())
    assert empty.is_empty()
    assert empty.columns == [*ROWS.columns, "score", "cut", "spans"]


def test_signatures_tell_metrics_apart(workshop: Workshop) -> None:
    kinds = ["metricx-23", "metricx-23-qe", "metricx-24", "metricx-24-qe"]
    signatures = [workshop.checkpoint("", kind).signature for kind in kinds]
    signatures.append(workshop.checkpoint("", "metricx-24", tokenizer="another").signature)
    signatures += [workshop.checkpoint(name, "kiwi").signature for name in ("kiwi", "old kiwi")]
    assert len(set(signatures)) == 7
    other = Comet(checkpoint="google/metricx-24-hybrid-large-v2p6", kind="metricx-24", tokenizer="google/mt5-large")
    assert other.signature == (
        "metricx-24: google/metricx-24-hybrid-large-v2p6|tokenizer google/mt5-large|transformers 4.57.6"
    )


def test_the_registry_names_metrics(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    metrics = {
        "ter": {}, "kiwi": {"checkpoint": "k/checkpoints/model.ckpt"}, "kiwi-xl": {"kind": "kiwi", "checkpoint": "a/b"},
        "metricx-24-qe": {"checkpoint": "c/d", "tokenizer": "google/mt5-large", "token_budget": 9},
    }  # fmt: skip
    path.write_text(json.dumps(BASE | {"metrics": metrics}))
    expected = {
        "ter": ("ter", Comet()),
        "kiwi": ("kiwi", Comet(kind="kiwi", checkpoint=str(tmp_path / "k/checkpoints/model.ckpt"))),
        "kiwi-xl": ("kiwi", Comet(kind="kiwi", checkpoint="a/b")),
        "metricx-24-qe": (
            "metricx-24-qe",
            Comet(kind="metricx-24-qe", checkpoint="c/d", tokenizer="google/mt5-large", token_budget=9),
        ),
    }
    found = named(load(path).metrics)
    assert {name: (metric.name, checkpoint) for name, (metric, checkpoint) in found.items()} == expected


@pytest.mark.parametrize(
    ("name", "entry", "says"),
    [
        *((kind, {"tokenizer": "t"}, f"{kind}.checkpoint: is missing; name a checkpoint, for instance {example},")
          for kind, example in EXAMPLES.items() if kind != "comet"),
        ("metricx-24", {"checkpoint": "c"}, "tokenizer: is missing; name the mT5 of the checkpoint's size"),
        ("mine", {"checkpoint": "c"}, "kind: 'mine' is not a kind of metric; give one of ter"),
        ("mine", {"kind": "comet"}, "metrics.mine.kind"),
        ("ter", {"checkpoint": "c"}, "metrics.ter.checkpoint: ter uses no checkpoint"),
    ],
)  # fmt: skip
def test_the_registry_says_what_a_metric_lacks(tmp_path: Path, name: str, entry: dict[str, str], says: str) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(BASE | {"metrics": {name: entry}}))
    with pytest.raises(BadInput, match=says):
        named(load(path).metrics)
