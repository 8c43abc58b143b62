import random

import pytest

from benchmark_assets.contamination.judging import COPIES, INDEPENDENT, IS_RELATED
from tests.contamination.texts import exchanged, judged, translations

NAMES = ["ann", "ben", "cleo", "model"]
PLANTED = ["c/3", "c/11", "c/12", "c/25", "c/38"]


def planted(kind: str, texts: dict[str, dict[str, str]], of: str = "ann") -> dict[str, str]:
    """The model's texts, five of them those of a translator."""
    rng = random.Random(1)
    own, source = dict(texts["model"]), texts[of]
    for passage in PLANTED:
        match kind:
            case "verbatim":
                own[passage] = source[passage]
            case "exchanged":
                own[passage] = exchanged(source[passage], rng)
            case "elsewhere":
                own[passage] = source[f"c/{(int(passage[2:]) + 7) % 40}"]
    return own


@pytest.mark.parametrize("kind", ["verbatim", "exchanged", "elsewhere"])
@pytest.mark.parametrize("names", [NAMES, ["ann", "model"]], ids=["three translators", "one translator"])
def test_five_copied_passages_are_found_and_the_reference_is_named(kind: str, names: list[str]) -> None:
    texts = translations(names, 40, 60)
    people = {name: texts[name] for name in names if name != "model"}
    rows, passages, _ = judged({"model": planted(kind, texts)}, people)
    assert dict(rows.select("translator", "verdict").iter_rows()) == {
        name: COPIES if name == "ann" else INDEPENDENT for name in people
    }
    assert passages["passage"].to_list() == sorted(PLANTED)
    assert set(passages["translator"]) == {"ann"}
    there = {passage: f"c/{(int(passage[2:]) + 7) % 40}" if kind == "elsewhere" else "" for passage in PLANTED}
    assert dict(passages.select("passage", "copied_from").iter_rows()) == there
    (row,) = rows.filter(translator="ann").rows(named=True)
    assert row["copied_passages"] == 5
    assert row["share_low"] < row["share"] == 5 / 40 < row["share_high"]
    assert row["longest"] >= (60 if kind != "exchanged" else 10)
    assert row["log_ratio"] > 20


def test_independent_translations_are_not_marked() -> None:
    texts = translations(NAMES, 40, 60)
    rows, passages, kinships = judged({"model": texts["model"]}, {name: texts[name] for name in NAMES[:3]})
    assert set(rows["verdict"]) | set(kinships["verdict"]) == {INDEPENDENT}
    assert passages.is_empty()
    assert rows.select("copied_passages", "share").rows() == [(0, 0.0)] * 3
    assert rows["near"].is_between(0.2, 0.6).all()


def test_a_system_that_copies_every_passage_has_no_level_of_its_own() -> None:
    texts = translations(NAMES, 12, 40)
    rows, passages, _ = judged({"copy": texts["ann"]}, {name: texts[name] for name in NAMES[:2]})
    assert dict(rows.select("translator", "verdict").iter_rows()) == {"ann": COPIES, "ben": INDEPENDENT}
    assert len(passages) == 12


def test_a_reviser_is_kin_and_does_not_hide_a_copy_of_the_text_that_he_revised() -> None:
    texts, rng = translations(NAMES, 40, 60), random.Random(2)
    people = {name: texts[name] for name in NAMES[:3]}
    people["reviser"] = {passage: exchanged(text, rng, 0.28) for passage, text in texts["ann"].items()}
    rows, passages, kinships = judged({"model": planted("exchanged", texts)}, people)
    found = {(translator, other) for translator, other, verdict in kinships.select(
        "translator", "other", "verdict").iter_rows() if verdict == IS_RELATED}  # fmt: skip
    assert found == {("ann", "reviser"), ("reviser", "ann")}
    assert rows.filter(translator="ann")["verdict"].item() == COPIES
    assert set(passages["translator"]) == {"ann"}


def test_too_few_or_too_short_passages_have_no_verdict() -> None:
    short, few = translations(NAMES, 20, 7), translations(NAMES, 4, 60)
    for texts in (short, few):
        rows, passages, _ = judged({"copy": texts["ann"]}, {"ann": texts["ann"], "ben": texts["ben"]})
        assert passages.is_empty()
        assert set(rows["verdict"]) <= {None}
    assert rows.select("passages", "copied_passages", "share", "log_ratio").rows() == [(4, None, None, None)] * 2


def test_other_corpora_and_systems_change_nothing() -> None:
    texts = translations(NAMES, 40, 60)
    people = {name: texts[name] for name in NAMES[:3]}
    alone, *_ = judged({"model": planted("exchanged", texts)}, people)
    both, *_ = judged({"model": planted("exchanged", texts), "other": texts["ann"]}, people)
    assert both.filter(model="model").equals(alone)
