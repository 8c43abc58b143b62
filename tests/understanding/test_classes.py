"""Scores of classes, beside scikit-learn's."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import (  # type: ignore[import-untyped]
    confusion_matrix,
    f1_score,
    precision_recall_fscore_support,
)

from benchmark_assets.understanding.task_scores import class_scores, confusion, macro_f1

CLASSES = ["EPIC", "HYMN", "LAW", "TALE"]
ANSWERS = st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), min_size=1, max_size=40)


@given(ANSWERS)
def test_scores_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    counts = confusion(pl.DataFrame({"gold": gold, "predicted": predicted}))
    assert_allclose(macro_f1(counts), f1_score(gold, predicted, average="macro", zero_division=0), atol=1e-12)
    ours = class_scores(counts, CLASSES)
    precision, recall, f1, support = precision_recall_fscore_support(gold, predicted, labels=CLASSES, zero_division=0)
    for name, values in (("precision", precision), ("recall", recall), ("f1", f1), ("gold", support)):
        assert_allclose(ours[name].to_numpy(), values, atol=1e-12)
    table = confusion_matrix(gold, predicted, labels=CLASSES)
    cells = {(CLASSES[i], CLASSES[j]): int(table[i, j]) for i in range(4) for j in range(4) if table[i, j]}
    assert {(g, p): n for g, p, n in counts.iter_rows()} == cells


def test_a_class_that_nobody_speaks_of_has_no_part_in_the_macro_score() -> None:
    counts = confusion(pl.DataFrame({"gold": ["EPIC", "HYMN"], "predicted": ["EPIC", "EPIC"]}))
    assert_allclose(macro_f1(counts), (2 / 3 + 0) / 2)
    assert class_scores(counts, CLASSES).filter(pl.col("class") == "LAW").row(0) == ("LAW", 0, 0, 0, 0.0, 0.0, 0.0)


@given(ANSWERS, st.integers(1, 40))
def test_an_answer_that_is_no_class_is_as_if_its_sample_were_only_missed(
    pairs: list[tuple[str, str]], without: int
) -> None:
    gold = [one for one, _ in pairs]
    predicted = [None if number < without else other for number, (_, other) in enumerate(pairs)]
    counts = confusion(pl.DataFrame({"gold": gold, "predicted": predicted}, schema_overrides={"predicted": pl.String}))
    named = [each or "NONE" for each in predicted]
    occurring = sorted({*gold, *filter(None, predicted)})
    ours = f1_score(gold, named, labels=occurring, average="macro", zero_division=0)
    assert_allclose(macro_f1(counts), ours, atol=1e-12)
