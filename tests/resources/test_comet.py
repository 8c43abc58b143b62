"""COMET's worker, with checkpoints that the tests build and the library's own loading code; nothing is fetched."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import polars as pl
import psutil
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.automation.due import due
from benchmark_assets.definitions import build_definitions
from benchmark_assets.partitions import range_tags
from resources.comet.comet import Comet
from resources.errors import BadInput
from resources.home import PROJECT
from resources.provider.registry import load
from resources.warehouse import Warehouse
from tests.resources.checkpoints import built
from tests.support import CORE, MODELS, PASSAGES, LetterEmbedder

SHORT = "A mouse runs."
LONG = "The cat sits, o " * 1250  # 20,000 characters
TRIPLES = pl.DataFrame(
    [
        (source, candidate, reference)
        for source in ("Mus currit.", "Felis sedet diu.")
        for candidate in (SHORT, LONG, "Nescio quid.\n「道可道」")
        for reference in ("The mouse is running.", "Off the mouse goes.", SHORT)
    ],
    schema=["source", "candidate", "reference"],
    orient="row",
)


class Workshop(NamedTuple):
    """Checkpoints in a folder, and what `tests/comet_checkpoints.py` found of them."""

    folder: Path
    found: dict[str, Any]

    @property
    def checkpoint(self) -> str:
        return str(self.folder / "good" / "checkpoints" / "model.ckpt")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    folder = tmp_path_factory.mktemp("workshop")
    return Workshop(folder, built("tests.comet_checkpoints", folder, TRIPLES))


@pytest.mark.proof
@pytest.mark.large
def test_scores_are_those_of_predict_and_long_texts_are_reported(
    workshop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    repeated = pl.concat([TRIPLES, TRIPLES.reverse()]).with_row_index("number")
    with caplog.at_level(logging.INFO, logger="variorum"):
        scored = Comet(checkpoint=workshop.checkpoint).score(repeated)
    assert scored.columns == ["number", "source", "candidate", "reference", "score", "cut"]
    assert scored.drop("score", "cut").equals(repeated)
    expected = workshop.found["predicted"]
    assert_allclose(scored["score"], [*expected, *expected[::-1]], atol=1e-6, rtol=0)
    assert scored.filter(pl.col("cut") != (pl.col("candidate") == LONG)).is_empty()
    assert [record.message for record in caplog.records] == [
        "COMET: loaded", "COMET: 18 triples of 7 distinct texts", "COMET: encoded 7 of 7 texts",
    ]  # fmt: skip


def test_scores_tell_texts_apart(workshop: Workshop) -> None:
    assert len({round(score, 5) for score in workshop.found["predicted"]}) == len(TRIPLES)


def test_every_distinct_text_is_encoded_once(workshop: Workshop) -> None:
    assert workshop.found["encoded"] == {"predict": 3 * len(TRIPLES), "worker": 7}


@pytest.mark.parametrize("budget", ["1", "100", "2048"])
def test_scores_do_not_depend_on_how_texts_are_batched(workshop: Workshop, budget: str) -> None:
    assert_allclose(workshop.found["scores"][budget], workshop.found["predicted"], atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("torn", ["", "cannot be loaded", "check the file"]),
        ("no weights", ["", "lacks 6 weights, for instance estimator.", "download it again"]),
        ("not finite", ["", "returns scores that are not finite", "name another"]),
        ("no GPU", ["device", "torch finds no CUDA device", "`device: cpu`"]),
    ],
)
def test_a_checkpoint_that_is_of_no_use_is_refused(workshop: Workshop, kind: str, says: Sequence[str]) -> None:
    if kind == "no GPU" and Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    for part, words in zip(workshop.found["faults"][kind], says, strict=True):
        assert words in part


@pytest.mark.parametrize(
    ("described", "says"),
    [
        ("class_identifier: referenceless_regression_metric", "with the kind kiwi, or .* Unbabel/wmt22-comet-da"),
        ("class_identifier: unified_metric", "is a unified_metric, .* with the kind kiwi or xcomet, or name another"),
        ("class_identifier: ranking_metric", "is a ranking_metric, .*; name another"),
        ("class: x", "hparams.yaml names no class_identifier"),
        ("{", "hparams.yaml names no class_identifier"),
        ("", "hparams.yaml names no class_identifier"),
        (None, "there is no file .*hparams.yaml; give a .ckpt file in its published folder structure"),
    ],
)
def test_what_is_no_regression_metric_is_bad_input(tmp_path: Path, described: str | None, says: str) -> None:
    checkpoint = tmp_path / "checkpoints" / "model.ckpt"
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(b"anything")
    if described is not None:
        (tmp_path / "hparams.yaml").write_text(described)
    with pytest.raises(BadInput, match=says) as caught:
        Comet(checkpoint=str(checkpoint)).score(TRIPLES)
    assert caught.value.where == str(checkpoint)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_an_unknown_name_are_bad_input(tmp_path: Path) -> None:
    missing = str(tmp_path / "a" / "model.ckpt")
    with pytest.raises(BadInput, match=f"{missing}: there is no file {missing}"):
        Comet(checkpoint=missing).score(TRIPLES)
    with pytest.raises(BadInput, match=r"nobody/nothing: cannot be downloaded .*; check the name and the connection"):
        Comet(checkpoint="nobody/nothing").score(TRIPLES)


def test_without_its_environment_one_is_told_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="COMET's environment is missing; run `make comet`"):
        Comet(checkpoint="a/b", python=str(tmp_path / "python")).score(TRIPLES)
    with pytest.raises(BadInput, match=r"COMET's environment .*unbabel-comet.*; run `make comet`"):
        Comet(checkpoint="a/b", python=sys.executable).score(TRIPLES)  # which has all but COMET


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("kill -9 $$", r"the COMET worker was killed \(SIGKILL\); lower `token_budget`"),
        (
            "echo first >&2; echo out of order >&2; exit 3",
            r"the COMET worker failed \(out of order\); run `make comet`",
        ),
    ],
)
def test_a_worker_that_dies_is_bad_input(tmp_path: Path, script: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Comet(checkpoint="a/b", python=program(tmp_path, script)).score(TRIPLES)


@pytest.mark.parametrize("text", ["", None])
def test_nothing_is_sent_that_holds_an_empty_text(text: str | None) -> None:
    broken = pl.concat([TRIPLES, TRIPLES.head(1).with_columns(reference=pl.lit(text, pl.String))])
    with pytest.raises(ValueError, match="null or empty"):
        Comet(checkpoint="a/b").score(broken)


def test_without_a_checkpoint_or_triples_nothing_is_scored(caplog: pytest.LogCaptureFixture) -> None:
    nowhere = "/nonexistent"
    assert Comet(checkpoint="a/b", python=nowhere).score(TRIPLES.clear()).is_empty()
    assert not caplog.records
    caplog.set_level(logging.INFO, "variorum")
    scored = Comet(python=nowhere).score(TRIPLES.with_row_index("number"))
    assert scored.is_empty()
    assert scored.columns == ["number", "source", "candidate", "reference", "score", "cut"]
    assert "Unbabel/wmt22-comet-da" in caplog.text


@pytest.mark.parametrize("cause", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.large)])
def test_the_worker_ends_with_the_run(workshop: Workshop, tmp_path: Path, cause: signal.Signals) -> None:
    interrupted(workshop, tmp_path, cause, after="")


@pytest.mark.proof
@pytest.mark.parametrize(
    "cause",
    [
        pytest.param(signal.SIGKILL, marks=pytest.mark.large),
        pytest.param(signal.SIGINT, marks=pytest.mark.large),
        signal.SIGTERM,
    ],
)
def test_the_worker_ends_with_the_run_while_it_encodes(
    workshop: Workshop, tmp_path: Path, cause: signal.Signals
) -> None:
    interrupted(workshop, tmp_path, cause, after="distinct texts")


def interrupted(workshop: Workshop, folder: Path, cause: signal.Signals, after: str) -> None:
    """Send a signal to a process that scores, once its worker runs and it has logged some words; the worker ends, and
    nothing is left."""
    texts = [f"{SHORT} {number}" for number in range(20_000)]
    pl.DataFrame({"source": texts, "candidate": texts, "reference": texts}).write_parquet(folder / "many.parquet")
    code = (
        "import logging, sys, polars as pl; from resources.comet.comet import Comet; "
        "logging.basicConfig(level=logging.INFO); "
        "Comet(checkpoint=sys.argv[1], token_budget=1).score(pl.read_parquet(sys.argv[2]))"
    )
    left = folder / "tmp"
    left.mkdir()
    arguments = [sys.executable, "-c", code, workshop.checkpoint, str(folder / "many.parquet")]
    environment = os.environ | {"TMPDIR": str(left)}
    with subprocess.Popen(arguments, cwd=PROJECT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        workers: list[psutil.Process] = []
        while not workers and process.poll() is None:
            time.sleep(0.02)
            workers = psutil.Process(process.pid).children()
        if after:
            assert any(after in line for line in process.stderr or ())
            time.sleep(0.5)
        process.send_signal(cause)
        process.communicate(timeout=60)
        assert process.returncode in (-cause, 1)
    gone, alive = psutil.wait_procs(workers, timeout=60)
    assert len(gone) == 1
    assert not alive
    assert [path for path in left.rglob("*") if path.is_file()] == []


def test_signatures_tell_apart_what_gives_other_scores(workshop: Workshop, tmp_path: Path) -> None:
    good = Path(workshop.checkpoint)
    copies = [tmp_path / name / "checkpoints" / "model.ckpt" for name in ("same", "other weights", "other settings")]
    for copy in copies:
        copy.parent.mkdir(parents=True)
        copy.write_bytes(good.read_bytes() + (b"x" if "weights" in str(copy) else b""))
        described = (good.parents[1] / "hparams.yaml").read_text() + ("pool: max\n" if "settings" in str(copy) else "")
        (copy.parents[1] / "hparams.yaml").write_text(described)
    first, same, weights, settings = (Comet(checkpoint=str(path)).signature for path in (good, *copies))
    assert first == same
    absent = Comet(checkpoint=str(tmp_path / "absent" / "model.ckpt")).signature
    named = Comet(checkpoint="Unbabel/wmt22-comet-da").signature
    assert len({first, weights, settings, absent, named, Comet().signature}) == 6
    assert named == "Unbabel/wmt22-comet-da|unbabel-comet 2.2.7"
    assert Comet(checkpoint=str(good), device="cuda", token_budget=1).signature == first
    copies[0].write_bytes(b"another")
    assert Comet(checkpoint=str(copies[0])).signature != first


def test_the_registry_names_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    base = {"embedders": {"minilm": {}}, "embedder": "minilm"}
    path.write_text(json.dumps(base))
    assert load(path).chosen_comet().checkpoint == ""
    path.write_text(json.dumps(base | {"comet": {"checkpoint": "c/checkpoints/model.ckpt", "device": "cuda"}}))
    assert load(path).chosen_comet() == Comet(checkpoint=str(tmp_path / "c/checkpoints/model.ckpt"), device="cuda")
    path.write_text(json.dumps(base | {"comet": {"checkpoint": "Unbabel/wmt22-comet-da", "token_budget": 512}}))
    assert load(path).chosen_comet() == Comet(checkpoint="Unbabel/wmt22-comet-da", token_budget=512)
    for wrong in ({"device": "tpu"}, {"token_budget": 0}, {"checkpoints": "x"}):
        path.write_text(json.dumps(base | {"comet": wrong}))
        with pytest.raises(BadInput, match=f"comet.{next(iter(wrong))}"):
            load(path)


def code_location(warehouse: Warehouse, comet: Comet) -> dg.Definitions:
    return build_definitions(
        rooms=CORE, resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder(), "comet": comet}
    )


def test_once_a_checkpoint_is_named_every_output_is_scored(
    workshop: Workshop, built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path
) -> None:
    assert warehouse.read("comet_score").select("comet_avg", "comet_best", "cut", "signature").null_count().row(0) == (
        6, 6, 6, 6
    )  # fmt: skip
    asset = dg.AssetKey("comet_score")
    assert due(built, instance, asset).rows.is_empty()
    comet = Comet(checkpoint=workshop.checkpoint)
    every = range_tags(f"{MODELS[0]}|{PASSAGES[0]}", f"{MODELS[-1]}|{PASSAGES[-1]}")

    def score(chosen: Comet) -> tuple[dg.Definitions, bool]:
        definitions = code_location(warehouse, chosen)
        job = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection={asset})
        return definitions, job.execute_in_process(instance=instance, tags=every, raise_on_error=False).success

    definitions, good = score(Comet(checkpoint=workshop.checkpoint, python=program(tmp_path, "kill -9 $$")))
    assert not good
    assert due(definitions, instance, asset).rows["reason"].to_list() == ["failed"] * 6
    assert warehouse.read("comet_score")["comet_avg"].is_null().all()

    definitions, good = score(comet)
    assert good
    assert due(definitions, instance, asset).rows.is_empty()
    rows = warehouse.read("comet_score")
    assert len(rows) == 6
    assert set(rows["signature"]) == {comet.signature}
    assert (rows["comet_avg"] < rows["comet_best"]).all()
    assert rows["cut"].any() is False


def program(folder: Path, script: str) -> str:
    """A shell script in a file, to take the place of the interpreter."""
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)
