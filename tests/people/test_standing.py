"""Standing of simulated people whose habits are known: who fails, who does not, what one careless person changes."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice

import polars as pl
import pytest
from scipy.stats import fisher_exact  # type: ignore[import-untyped]

from benchmark_assets.adjudication.labels import ERRORS, MAJOR, MINOR, SUBSTANTIVE, VALID
from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.people.answers import Candidate, checked
from benchmark_assets.people.controls import (
    ATTENTION,
    BALANCED,
    GROSS,
    REPEAT,
    SENTENCE,
    SOUND,
    SUBTLE,
    Control,
    balanced_checks,
    with_controls,
)
from benchmark_assets.people.form import Answer
from benchmark_assets.people.forms import LABEL_FORM, MQM_FORM
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.standing import Hits, at_most, graded, standings, unrelated, verdict
from benchmark_assets.sensitivity.languages import rules

ITEMS, WORDS = (
    120,
    [f"{a}{b}" for a in ("ka", "lo", "mi", "ren", "su", "tor", "ve") for b in ("n", "sh", "ra", "ti", "o")],
)
TRUTH = {SOUND: VALID, SUBTLE: MINOR, GROSS: MAJOR, ATTENTION: MAJOR}

Reader = Callable[[SheetItem, str, random.Random], str]
"""The label that a person gives to an item, from what is shown and from the right label."""


def sentences(key: str) -> str:
    """Three sentences of English words and invented ones, the second with a negation."""
    chance = random.Random(key)
    first, second, third = (" ".join(chance.choices(WORDS, k=7)) for _ in range(3))
    return f"The {first}. He did not {second}. Two {third}."


@cache
def sheet(seed: int) -> tuple[dict[str, list[SheetItem]], dict[str, str], pl.DataFrame, list[Control]]:
    """The lists of three people, the right label of each item, and the control items with their kinds."""
    chance = random.Random(seed)
    items = []
    for n in range(ITEMS):
        place = f"doc:{n // 2}"
        references = {name: sentences(f"{seed} {place} {name}") for name in ("ann", "ben")}
        text = sentences(f"{seed} {place} {n}")
        items.append(SheetItem(item_key("m", f"{seed} {n}", text), place, f"Fons {n // 2}", references, text))
    truth = {item.item: chance.choices(SUBSTANTIVE, [7, 2, 1])[0] for item in items}
    lists, controls = with_controls(items, ["a", "b", "c"], seed, checks=balanced_checks(items, seed, rules("en")))
    truth |= {control.shown.item: TRUTH[control.kind] for control in controls if control.kind != REPEAT}
    truth |= {control.shown.item: truth[control.original] for control in controls if control.kind == REPEAT}
    kinds = pl.DataFrame([(shown.item, kind, original) for kind, original, shown in controls],
                         schema=["item", "kind", "original"], orient="row")  # fmt: skip
    return (
        {name: [item for group in groups for item in group] for name, groups in lists.items()},
        truth,
        kinds,
        controls,
    )


def attentive(rate: float) -> Reader:
    def read(item: SheetItem, right: str, chance: random.Random) -> str:
        return right if chance.random() < rate else chance.choice([label for label in SUBSTANTIVE if label != right])

    return read


def first_sentence(item: SheetItem, right: str, chance: random.Random) -> str:
    """Reads the first sentence attentively, which is wrong only if it belongs to another passage."""
    foreign = right == MAJOR and item.place not in FIRST.get(SENTENCE.match(item.candidate)[0], item.place)  # type: ignore[index]
    return attentive(0.9)(item, MAJOR if foreign else VALID, chance)


FIRST: dict[str, str] = {}
"""Passages by the first sentence of their translations, as far as tests have filled it in."""


def labels(seed: int, readers: Mapping[str, Reader], run: int) -> pl.DataFrame:
    lists, truth, _, _ = sheet(seed)
    rows = []
    for name, reader in readers.items():
        chance = random.Random(f"{run} {name}")
        rows += [(item.item, name, reader(item, truth[item.item], chance)) for item in lists[name]]
    return answers(rows)


def answers(rows: Sequence[tuple[str, str, str]]) -> pl.DataFrame:
    """Answers with the category and severity of `simple` people, who leave no other trace."""
    table = pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row").with_columns(corpus=pl.lit("tiny"))
    return table.with_columns(error_category=pl.lit("OTHER"), severity=pl.lit("low"))


def sorted_apart(given: pl.DataFrame, chance: random.Random) -> pl.DataFrame:
    shuffled = given["label"].to_list()
    chance.shuffle(shuffled)
    return given.with_columns(label=pl.Series(shuffled))


def copied(seed: int, run: int) -> pl.DataFrame:
    """Sheet of an attentive person, and that of another, who copies it but for one answer in a hundred."""
    lists, _, kinds, _ = sheet(seed)
    own = labels(seed, {"a": attentive(0.9)}, run)
    of_item, chance = dict(own.select("item", "label").iter_rows()), random.Random(run)
    first = dict(kinds.select("item", "original").iter_rows())
    found = [of_item.get(item.item) or of_item[first[item.item]] for item in lists["b"]]
    changed = [chance.choice(SUBSTANTIVE) if chance.random() < 0.01 else label for label in found]
    return pl.concat([own, answers([(item.item, "b", label) for item, label in zip(lists["b"], changed, strict=True)])])


def failed(given: pl.DataFrame, seed: int) -> set[str]:
    found = standings(graded(given, sheet(seed)[2], LABEL_FORM), LABEL_FORM)
    return set(found.filter(standing="failed")["annotator"])


@pytest.fixture
def runs(full: bool) -> int:
    return 500 if full else 25


SEEDS = 5

CARELESS: dict[str, Reader] = {
    "always major": lambda item, right, chance: MAJOR,
    "always valid": lambda item, right, chance: VALID,
    "random": lambda item, right, chance: chance.choice(SUBSTANTIVE),
    "first sentence": first_sentence,
}


def test_checks_are_balanced_and_their_faults_come_after_the_first_sentence() -> None:
    _, _, kinds, controls = sheet(0)
    counts = dict(kinds["kind"].value_counts().iter_rows())
    assert counts[SOUND] == counts[GROSS] + counts[SUBTLE] + counts[ATTENTION] == ITEMS // BALANCED == 12
    assert (counts[GROSS], counts[SUBTLE], counts[ATTENTION]) == (8, 2, 2)
    for kind, _, shown in controls:
        own = [sentences(f"0 {shown.place} {name}") for name in ("ann", "ben")]
        if kind != REPEAT:
            assert len(shown.references) == 1
            assert (shown.candidate in own) == (kind == SOUND)
            first = SENTENCE.match(shown.candidate)
            assert first
            assert any(text.startswith(first[0]) for text in own) == (kind != ATTENTION)


@pytest.mark.proof
@pytest.mark.parametrize("name", CARELESS)
def test_who_does_not_read_fails(name: str, runs: int, full: bool) -> None:
    for seed in range(SEEDS):
        FIRST.update({SENTENCE.match(text)[0]: item.place for item in sheet(seed)[0]["a"]  # type: ignore[index]
                      for text in (item.candidate, *item.references.values())
                      if text in {sentences(f"{seed} {item.place} {who}") for who in ("ann", "ben")}})  # fmt: skip
    found = sum("a" in failed(labels(run % SEEDS, {"a": CARELESS[name]}, run), run % SEEDS) for run in range(runs))
    print(f"\n{name}: {found / runs:.1%} of {runs} sheets fail")
    assert found / runs >= (0.95 if full else 0.85)


@pytest.mark.proof
@pytest.mark.parametrize("rate", [0.75, 0.85, 0.95])
def test_attentive_people_do_not_fail(rate: float, runs: int, full: bool) -> None:
    three = dict.fromkeys("abc", attentive(rate))
    found = sum(len(failed(labels(run % SEEDS, three, run), run % SEEDS)) for run in range(runs))
    print(f"\nright in {rate:.0%}: {found / runs / 3:.2%} of {3 * runs} sheets fail")
    assert found / runs / 3 <= (0.025 if full else 0.06)


@pytest.mark.proof
def test_answers_that_were_sorted_or_copied_fail(runs: int, full: bool) -> None:
    sorted_ones = copies = originals = 0
    for run in range(runs):
        seed = run % SEEDS
        apart = sorted_apart(labels(seed, {"a": attentive(0.9)}, run), random.Random(run))
        sorted_ones += "a" in failed(apart, seed)
        both = failed(copied(seed, run), seed)
        copies, originals = copies + ("b" in both), originals + ("a" in both)
    print(f"\nsorted apart {sorted_ones / runs:.1%}, copies {copies / runs:.1%}, originals {originals / runs:.1%}")
    assert min(sorted_ones, copies) / runs >= (0.95 if full else 0.8)
    assert originals / runs <= 0.02


def test_sheets_without_texts_or_with_shuffled_keys_are_set_aside() -> None:
    ordered = sheet(0)[0]["a"]
    known = {item.item: Candidate("tiny/x", item.candidate, item.source, [*item.references.values()], shown=True)
             for item in ordered}  # fmt: skip
    valid = {"label": "VALID_VARIATION", "severity": "none"}
    keys = [item.item for item in ordered]
    random.Random(1).shuffle(keys)

    def refused(rows: Sequence[tuple[str, Mapping[str, str]]]) -> int:
        faults = 0
        for key, texts in rows:
            try:
                checked(LABEL_FORM, Answer(2, key, "a", valid, texts=texts), known)
            except ValueError:
                faults += 1
        return faults

    assert refused([(item.item, {"candidate": item.candidate}) for item in ordered]) == 0
    assert refused([(item.item, {"source": item.source}) for item in ordered]) == len(ordered)
    moved = [(key, {"candidate": item.candidate}) for key, item in zip(keys, ordered, strict=True)]
    assert refused(moved) >= 0.95 * len(ordered)


@pytest.mark.proof
@pytest.mark.parametrize("name", CARELESS)
def test_one_careless_person_of_three_hardly_moves_the_rate_of_errors(name: str, runs: int, full: bool) -> None:
    """Compared with the rate of the two attentive people, who are right in 90 %."""
    moves = []
    for run in range(runs):
        seed = run % SEEDS
        given = labels(seed, {"a": attentive(0.9), "b": attentive(0.9), "c": CARELESS[name]}, run)
        counted = given.filter(~pl.col("annotator").is_in([*failed(given, seed)]))
        two = given.filter(pl.col("annotator") != "c")
        moves.append(rate(counted, seed) - rate(two, seed))
    mean = sum(map(abs, moves)) / runs
    print(f"\n{name}: moves the rate by {100 * mean:.2f} points in the mean")
    assert mean < (0.01 if full else 0.02)


def rate(given: pl.DataFrame, seed: int) -> float:
    ordinary = given.join(sheet(seed)[2], on="item", how="anti")
    found = verdicts(ordinary.select(pl.col("item").alias("passage"), "label", "error_category", model=pl.lit("m")))
    counted = [label in ERRORS for label in found["label"] if label in SUBSTANTIVE]
    return sum(counted) / len(counted)


def test_a_score_for_everything_fails_and_the_verdict_follows_exact_tests() -> None:
    lists, _, kinds, _ = sheet(0)
    none = pl.lit([], pl.List(pl.Struct({"severity": pl.String})))
    zero = pl.DataFrame({"item": [item.item for item in lists["a"]]}).with_columns(
        annotator=pl.lit("a"), corpus=pl.lit("tiny"), esa=pl.lit(0.0), mqm=pl.lit(0.0), errors=none
    )
    for score, problem in ((0.0, "finds errors in sound texts"), (100.0, "finds no errors in faulty texts")):
        found = graded(zero.with_columns(esa=pl.lit(score)), kinds, MQM_FORM)
        ((_, _, accepted, standing, reason),) = standings(found, MQM_FORM).rows()
        assert (accepted, standing, reason) == (score / 100, "failed", problem)
    assert at_most(4, [(12, 0.75)]) == pytest.approx(0.0027815, abs=1e-6)
    assert at_most(8, [(10, 0.5), (6, 0.5)]) == pytest.approx(at_most(8, [(16, 0.5)]))
    assert verdict(Hits(), Hits(6, 6), *[Hits()] * 3) == ("undecided", None)
    assert verdict(Hits(11, 12), Hits(10, 12), Hits(12, 14), Hits(), Hits()) == ("passed", None)
    strict = Hits(1, 12), Hits(11, 12), Hits(12, 14)
    assert verdict(*strict, Hits(10, 12), Hits(9, 10)) == ("undecided", None)
    assert verdict(*strict, Hits(4, 12), Hits(9, 10))[0] == "failed"
    assert unrelated(Hits(10, 12), Hits(9, 10)) == pytest.approx(fisher_exact([[10, 2], [1, 9]], "greater")[1])


def test_a_sample_has_no_more_checks_than_it_has_translations() -> None:
    items = [SheetItem(f"i{n}", str(n), "Fons", {"ann": sentences(str(n))} if n < 4 else {}, sentences(f"x{n}"))
             for n in range(40)]  # fmt: skip
    kinds = [check.kind for check in balanced_checks(items, 1, None)]
    assert (kinds.count(SOUND), len(kinds)) == (2, 4)
    assert [*islice(kinds, 2)] == [SOUND, SOUND]
