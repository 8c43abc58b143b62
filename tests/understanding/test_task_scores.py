"""Scores of systems on a task: what is counted, seeds, intervals, and the assets that hold them."""

from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets import views
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.partitions import BY_TASK, TASK, TASK_GRID, range_tags
from benchmark_assets.reporting.plots import plots
from benchmark_assets.understanding import assets, samples
from benchmark_assets.understanding.assets import task_leakage, task_sample
from benchmark_assets.understanding.baselines import BASELINE_ANSWER
from benchmark_assets.understanding.description import load
from benchmark_assets.understanding.exhibits import of_scores, two_ways
from benchmark_assets.understanding.stored import confusions
from benchmark_assets.understanding.task_scores import Gold, baseline_scores, gold, marked, once, summary, task_scores
from benchmark_assets.understanding.task_scores import confusions as confusion_rows
from benchmark_assets.understanding.tasks import import_tasks
from resources.warehouse import Warehouse
from tests.understanding.conftest import FORM_LINES, FORMS, write_task

SPAN = {
    "system": pl.String, "seed": pl.Int32, "sample": pl.String, "number": pl.Int32, "type": pl.String,
    "text": pl.String, "first": pl.Int32, "last": pl.Int32, "located": pl.String,
}  # fmt: skip
ANSWER = {"system": pl.String, "seed": pl.Int32, "sample": pl.String, "label": pl.String, "usable": pl.Boolean}
NO_SPANS = pl.DataFrame(schema=SPAN)
HOW = {name: f"asked {name}" for name in ("sure", "mute", "half", "m", "silent")}


def read(description: Path) -> Gold:
    task = load(description)
    found = samples.read(task, description.parent)
    return gold(task, found.samples, found.spans)


def answers(*rows: tuple[str, int, str, str | None]) -> pl.DataFrame:
    """System, seed, sample and label; an answer in the form '?LABEL' was unusable."""
    whole = [
        (system, seed, sample, label and label.removeprefix("?"), not (label or "").startswith("?"))
        for system, seed, sample, label in rows
    ]
    return pl.DataFrame(whole, schema=ANSWER, orient="row")


def spans(*rows: tuple[str, int, str, str, str, int | None]) -> pl.DataFrame:
    """System, seed, sample, type, string and place."""
    whole = [
        (*row[:3], number, *row[3:], None if row[5] is None else row[5] + len(row[4]), "exact" if row[5] else "absent")
        for number, row in enumerate(rows)
    ]
    return pl.DataFrame(whole, schema=SPAN, orient="row")


# Classes.


def test_what_no_answer_says_counts_as_the_negative_class(form: Path) -> None:
    """Sample 1 is prose, the negative class, sample 2 is verse; nobody asked for sample 9."""
    own = read(form)
    given = answers(
        ("sure", 1, "1", "PROSE"), ("sure", 1, "2", "VERSE"), ("sure", 1, "9", "VERSE"),
        ("mute", 1, "1", "?PROSE"), ("mute", 1, "2", "?PROSE"), ("half", 1, "2", "VERSE"),
    )  # fmt: skip
    marks = marked(own, given, NO_SPANS)
    rows, classes = task_scores(own, marks, NO_SPANS, HOW)
    counts = confusion_rows(own, marks)
    found = {row["model"]: (row["score"], row["unusable"], row["samples"]) for row in rows.iter_rows(named=True)}
    assert found == {"sure": (100.0, 0, 2), "mute": (50.0, 2, 2), "half": (100.0, 1, 2)}
    assert rows["macro"].to_list() == pytest.approx([100.0, 100 / 3, 100.0])  # half, mute, sure
    assert rows.select("spans", "hallucinated", "pooled_type").null_count().row(0) == (3, 3, 3)
    assert counts.filter(model="mute").rows() == [
        ("mute", "FORM", "PROSE", "PROSE", 1),
        ("mute", "FORM", "VERSE", "PROSE", 1),
    ]
    assert classes.filter(model="mute").select("class", "gold", "predicted", "correct").rows() == [
        ("VERSE", 1, 0, 0), ("PROSE", 1, 2, 1),
    ]  # fmt: skip


def test_without_a_negative_class_what_no_answer_says_is_wrong_and_of_no_class(tmp_path: Path) -> None:
    """Table 4, MCS, DeepSeek-R1: it rarely came to an answer (appendix B) and has 0.00, though a class is never 0."""
    own = read(write_task(tmp_path, FORMS, FORM_LINES, negative=None))
    given = answers(("mute", 1, "1", None), ("half", 1, "2", "VERSE"))
    given = given.with_columns(usable=pl.col("label").is_not_null())
    marks = marked(own, given, NO_SPANS)
    rows, classes = task_scores(own, marks, NO_SPANS, HOW)
    counts = confusion_rows(own, marks)
    assert rows.select("model", "score", "macro", "unusable").rows() == [("half", 50.0, 50.0, 1), ("mute", 0.0, 0.0, 2)]
    assert counts.drop("task").rows() == [
        ("half", "PROSE", "(none)", 1), ("half", "VERSE", "VERSE", 1),
        ("mute", "PROSE", "(none)", 1), ("mute", "VERSE", "(none)", 1),
    ]  # fmt: skip
    assert classes.filter(model="half").select("class", "gold", "predicted", "correct").rows() == [
        ("VERSE", 1, 1, 1), ("PROSE", 1, 0, 0),
    ]  # fmt: skip
    assert rows["signature"][0].startswith("asked half; micro-F1 over 2 classes; no usable answer counts as wrong; ")


def test_sd_over_seeds_is_the_papers() -> None:
    """Table 4, VPCS, Claude 3 Haiku: 77.42±0.14 over three seeds of 400 samples is 310, 310 and 309 right ones."""
    right = np.array([310, 310, 309])
    table = np.arange(400) < right[:, None]
    found = summary(marks_of(table.astype(float)))
    assert f"{found['score']:.2f}±{found['score_sd']:.2f}" == "77.42±0.14"
    assert summary(marks_of(table[:1].astype(float)))["score_sd"] is None
    assert summary(marks_of(np.array([[1.0, 0.0], [1.0, 1.0]])))["score_sd"] == pytest.approx(25 * 2**0.5)


def marks_of(table: Floats) -> pl.DataFrame:
    seeds, positions = np.indices(table.shape)
    rows = pl.DataFrame({"seed": seeds.ravel(), "position": positions.ravel(), "score": table.ravel()})
    return rows.with_columns(unit=pl.col("position").cast(pl.String))


def test_intervals_are_of_works_and_not_of_samples() -> None:
    marks = marks_of(np.repeat((np.random.default_rng(4).random(40) < 0.7).astype(float), 5)[None])
    whole = summary(marks.with_columns(unit=(pl.col("position") // 5 * 5).cast(pl.String)))
    single = summary(marks.filter(pl.col("position") % 5 == 0))
    for name in ("score", "score_low", "score_high"):
        assert whole[name] == pytest.approx(single[name])
    few = summary(marks.with_columns(unit=(pl.col("position") // 50).cast(pl.String)))
    assert (few["score"], few["score_low"], few["score_high"]) == (whole["score"], None, None)


def test_the_unit_of_a_sample_is_its_work_or_the_sample(form: Path) -> None:
    own = read(form)
    given = answers(("m", 1, "1", "PROSE"), ("m", 1, "2", "PROSE"))
    assert marked(own, given, NO_SPANS)["unit"].to_list() == ["De sole", "De sole"]
    unknown = own._replace(samples=own.samples.with_columns(source=pl.lit(None, pl.String)))
    assert marked(unknown, given, NO_SPANS)["unit"].to_list() == ["FORM 1", "FORM 2"]


def test_intervals_resample_samples_and_not_answers() -> None:
    """Three seeds that say the same are no more evidence than one."""
    table = (np.random.default_rng(4).random((1, 400)) < 0.7).astype(float)
    one, three = summary(marks_of(table)), summary(marks_of(np.repeat(table, 3, axis=0)))
    low, high = one["score_low"], one["score_high"]
    assert (low, high) == pytest.approx((three["score_low"], three["score_high"]))
    half = 196 * np.sqrt(0.7 * 0.3 / 400)
    assert low is not None
    assert high is not None
    assert_allclose(high - low, 2 * half, rtol=0.15)


MADE = {"linear": "C 10", "tiny": "an encoder"}


def test_trained_baselines_are_scored_without_near_neighbours_too(form: Path) -> None:
    own = read(form)
    given = answers(
        ("linear", 1, "1", "PROSE"), ("linear", 1, "2", "PROSE"), ("tiny", 7, "1", "PROSE"), ("tiny", 7, "2", "VERSE"),
    )  # fmt: skip
    near = pl.DataFrame({
        "task": ["FORM"] * 2, "sample": ["1", "2"], "nearest": ["7", "8"], "similarity": [0.9, 0.01],
    })  # fmt: skip
    rows = baseline_scores(own, marked(own, given, NO_SPANS), near, MADE)
    columns = ["baseline", "score", "near", "far_score"]
    assert rows.select(columns).rows() == [("linear", 50.0, 0.5, 0.0), ("tiny", 100.0, 0.5, 100.0)]
    assert ["C 10" in words for words in rows["signature"]] == [True, False]
    all_near = baseline_scores(own, marked(own, given, NO_SPANS), near.with_columns(similarity=pl.lit(1.0)), MADE)
    assert all_near.select(columns).row(0) == ("linear", 50.0, 1.0, None)
    no_train = near.with_columns(pl.lit(None, pl.String).alias("nearest"), pl.lit(None, pl.Float64).alias("similarity"))
    assert baseline_scores(own, marked(own, given, NO_SPANS), no_train, MADE).select(columns).row(0) == (
        "linear",
        50.0,
        None,
        None,
    )


# Spans.


def test_spans_in_two_ways(speech: Path) -> None:
    """Sample a has 'mus' of WHO and 'veni' twice of SAID, which the paper's score puts in one place; b has nothing."""
    own = read(speech)
    given = answers(*(("m", 1, sample, None) for sample in "ab"), *(("silent", seed, "a", None) for seed in (1, 2)))
    marks = spans(
        ("m", 1, "a", "SAID", "veni", 5), ("m", 1, "a", "SAID", "veni", 18), ("m", 1, "a", "WHO", "canis", None),
        ("m", 1, "b", "SAID", "nemo", 9),
    )  # fmt: skip
    marked_answers = marked(own, given, marks)
    rows, classes = task_scores(own, marked_answers, marks, HOW)
    of_m, silent = rows.sort("model").iter_rows(named=True)
    assert of_m["score"] == pytest.approx(100 * (2 / 3 + 0) / 2)
    assert of_m["pooled_type"] == pytest.approx(100 * 2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3))
    assert (of_m["spans"], of_m["hallucinated"], of_m["unusable"]) == (4, 1, 0)
    assert (silent["score"], silent["pooled_type"], silent["spans"], silent["unusable"]) == (50.0, 0.0, 0, 2)
    assert of_m["macro"] is None
    assert confusion_rows(own, marked_answers).is_empty()
    assert classes.filter(model="m").select("class", "gold", "predicted", "correct").rows() == [
        ("SAID", 2, 3, 2), ("WHO", 1, 1, 0),
    ]  # fmt: skip
    assert two_ways(rows)["pooled less score"].to_list() == ["-50.0", "23.8"]


def test_a_span_given_twice_counts_once_in_pooled_scores() -> None:
    given = [("m", 1, "a", "SAID", "veni", 5), ("m", 1, "a", "SAID", "veni", 18), ("m", 1, "a", "WHO", "canis", None)]
    others = [("m", 2, "a", "SAID", "veni", 5), ("m", 1, "a", "WHO", "veni", 5), ("m", 1, "a", "WHO", "feles", None)]
    assert once(spans(*given, *given, *others)).equals(
        spans(*given, *given, *others).filter(~pl.col("number").is_in([3, 4, 5]))
    )


def test_counts_of_types_are_summed_over_seeds_also_where_a_seed_lacks_the_type(speech: Path) -> None:
    """Seed 2 marks a type that the task does not have, seed 1 does not: what a seed lacks adds nothing."""
    own = read(speech)
    given = answers(*(("m", seed, sample, None) for seed in (1, 2) for sample in "ab"))
    marks = spans(("m", 1, "a", "SAID", "veni", 5), ("m", 2, "a", "SUNG", "veni", 5), ("m", 2, "b", "SUNG", "nemo", 9))
    classes = task_scores(own, marked(own, given, marks), marks, HOW)[1]
    assert classes.select("class", "gold", "predicted", "correct").rows() == [
        ("SAID", 4, 1, 1), ("WHO", 2, 0, 0), ("SUNG", 0, 2, 0),
    ]  # fmt: skip


# Assets: what models answer is stored by assets of the tests, scores by those of the project.

SAID = [("echo", "FORM", "1", "PROSE"), ("echo", "FORM", "2", "PROSE"), ("wise", "FORM", "1", "PROSE"),
        ("wise", "FORM", "2", "VERSE"), ("echo", "SPEECH", "a", None), ("echo", "SPEECH", "b", None)]  # fmt: skip


def upstream(said: Sequence[tuple[str, str, str, str | None]]) -> list[dg.AssetsDefinition]:
    """Assets `answer`, `baseline_answer` and `encoder_answer` that store these answers; what is trained says what the
    model `echo` does."""

    @dg.asset(
        partitions_def=TASK_GRID, deps=[dg.AssetDep("task_sample", partition_mapping=BY_TASK)],
        metadata={"tables": ["answer_span"]},
    )  # fmt: skip
    def answer(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
        rows = pl.DataFrame(said, schema=["model", "task", "sample", "label"], orient="row").with_columns(
            pl.col("label").cast(pl.String), seed=pl.lit(1, pl.Int32), usable=pl.lit(True), steps=pl.lit(""),
            problem=pl.lit(None, pl.String), agreement=pl.lit(None, pl.Float64), how=pl.lit("said by a test"),
        )  # fmt: skip
        applies = rows.select("model", "task").unique()

        def compute(due: pl.DataFrame) -> Computed:
            none = warehouse.empty("answer_span").drop("fingerprint")
            return Computed({"answer": rows.join(due, on=["model", "task"], how="semi"), "answer_span": none})

        return refresh(
            context, warehouse, compute,
            lambda asked: asked.select("model", "task").join(applies, on=["model", "task"], how="semi").with_columns(
                settings=pl.lit(repr(said))
            ), sparse=True,
        )  # fmt: skip

    def baseline(name: str, system: str, seed: int) -> dg.AssetsDefinition:
        @dg.asset(name=name, partitions_def=TASK, deps=["task_sample"])
        def answers_of_one(
            context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
        ) -> dg.Output[None]:
            rows = [("FORM", system, seed, sample, "PROSE", "made by a test") for sample in "12"]
            frame = pl.DataFrame(rows, schema=BASELINE_ANSWER, orient="row")
            return refresh(
                context, warehouse, lambda due: Computed({name: frame.join(due, on="task", how="semi")}),
                lambda asked: asked.filter(task="FORM").select("task", settings=pl.lit("")), sparse=True,
            )  # fmt: skip

        return answers_of_one

    return [answer, baseline("baseline_answer", "linear", 1), baseline("encoder_answer", "tiny", 7)]


def brought_up(
    warehouse: Warehouse,
    instance: dg.DagsterInstance,
    said: Sequence[tuple[str, str, str, str | None]],
    only: slice = slice(None),
) -> None:
    """Materialize what has tasks as partitions, then models by tasks, then what has none; or only some of these."""
    answer, *trained = upstream(said)
    by_task = [task_sample, task_leakage, *trained, assets.task_chance]
    of_models = [answer, assets.task_score]
    of_all = [assets.understanding_board, assets.understanding_comparison]
    resources = {"warehouse": warehouse, "plots": plots}
    definitions = dg.Definitions(assets=[*by_task, *of_models, *of_all], resources=resources)
    whole = definitions.resolve_implicit_global_asset_job_def()
    by_models = range_tags("echo|FORM", "wise|SPEECH")
    parts: list[tuple[list[dg.AssetsDefinition], dict[str, str]]] = [
        (by_task, range_tags("FORM", "SPEECH")), (of_models, by_models), (of_all, {}),
    ]  # fmt: skip
    for own, tags in parts[only]:
        job = whole.get_subset(asset_selection={asset.key for asset in own})
        job.execute_in_process(instance=instance, tags=tags)


def test_assets_hold_scores_and_follow_answers_and_descriptions(
    warehouse: Warehouse, instance: dg.DagsterInstance, form: Path, speech: Path
) -> None:
    for each in (form, speech):
        each.write_text(f"{each.read_text(encoding='utf-8')}benchmark: LatinBench\n", encoding="utf-8")
    import_tasks(warehouse, [form, speech], form.parent)
    instance.add_dynamic_partitions("task", ["FORM", "SPEECH"])
    instance.add_dynamic_partitions("model", ["echo", "wise"])
    brought_up(warehouse, instance, SAID)
    scores = warehouse.read("task_score")
    assert scores.select("model", "task", "score").rows() == [
        ("echo", "FORM", 50.0), ("echo", "SPEECH", 50.0), ("wise", "FORM", 100.0),
    ]  # fmt: skip
    assert views.read(warehouse, "baseline_score").select("baseline", "score").rows() == [("linear", 50.0)]
    assert views.read(warehouse, "encoder_score").select("baseline", "score").rows() == [("tiny", 50.0)]
    assert all(words.startswith("said by a test; ") for words in scores["signature"])
    columns = ["system", "kind", "task", "score", "missing"]
    board = {row[:3]: row[3:] for row in warehouse.read("understanding_board", columns=columns).iter_rows()}
    assert board["echo", "model", ""] == (50.0, "")
    assert board["wise", "model", ""] == (None, "SPEECH")
    assert board["linear", "trained", ""] == (None, "SPEECH")
    assert board["tiny", "trained", "FORM"] == (50.0, "")
    assert board["chance", "baseline", ""] == (50.0, "")
    columns = ["task", "model", "other", "difference"]
    assert warehouse.read("understanding_comparison", columns=columns).rows() == [("FORM", "echo", "wise", -50.0)]
    assert len(views.read(warehouse, "class_score")) == 6
    assert len(confusions(warehouse)) == 4
    found = of_scores(warehouse)
    assert "| FORM | echo | VERSE | 1 | 0 | 0 | 0.0 | 0.0 | 0.0 |" in found["classes"]
    assert found["confusions"].split("\n")[2:] == ["| FORM | echo | VERSE | PROSE | 1 | 100.0 |"]

    # Another answer of one model, and a type of spans that is evaluated no longer: the samples stay the same.
    text = speech.read_text(encoding="utf-8")
    speech.write_text(text.replace("SAID:", "MARK:").replace("  WHO: who says them\n", ""), encoding="utf-8")
    brought_up(warehouse, instance, [*SAID[:3], ("wise", "FORM", "2", "PROSE"), *SAID[4:]], slice(1, 3))
    assert views.read(warehouse, "class_score").filter(task="SPEECH")["class"].to_list() == ["MARK"]
    assert warehouse.read("understanding_comparison")["difference"].to_list() == [0.0]
    now = warehouse.read("task_score")
    assert now["score"].to_list() == [50.0, 50.0, 50.0]
    kept = now.join(scores, on=["model", "task", "updated_at"], how="semi")
    assert kept.select("model", "task").rows() == [("echo", "FORM")]

    speech.write_text("task: [", encoding="utf-8")  # `task_sample` says so; scores stay as they are
    brought_up(warehouse, instance, SAID, slice(1, 2))
    kept = warehouse.read("task_score").join(now, on=["model", "task", "updated_at"], how="semi")
    assert kept.select("model", "task").rows() == [("echo", "FORM"), ("echo", "SPEECH")]
