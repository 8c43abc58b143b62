import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.metrics.intervals import Floats, bounds
from benchmark_assets.metrics.measures import Estimate
from benchmark_assets.pairwise.base_sets import JudgeRecord
from benchmark_assets.pairwise.bradley_terry import fit, fit_fixed, log_shares, on_scale
from benchmark_assets.pairwise.scores import (
    ANCHOR_SCORE,
    PAIRWISE_SCORE,
    anchor_matches,
    anchor_scores,
    candidate_matches,
    candidate_scores,
    contract,
    fields,
    fixed_lt,
    slices,
)
from resources.tables import ENDS
from tests.pairwise.simulated import ANCHORS, NAMES, expected, items, judged, sigma
from tests.support import slack

SPREAD = ANCHORS[::4]
CONTRACT = "one and the same"


def judgments(won: Floats) -> pl.DataFrame:
    """Rows of `anchor_judgment` in both orders; where a match is a tie, who stands first wins."""
    passages, rows = items(len(won))["passage"], []
    for number, one, other in np.argwhere(np.triu(np.ones(won.shape), 1)):
        for first, second in ((one, other), (other, one)):
            share = won[number, one, other]
            winner = first if share == 0.5 else one if share == 1 else other
            rows.append((passages[int(number)], NAMES[first], NAMES[second], NAMES[winner]))
    return pl.DataFrame(rows, schema=["passage", "first", "second", "winner"], orient="row")


def comparisons(won: Floats, model: str = "m") -> pl.DataFrame:
    """Rows of `comparison` of the last system with the others, in both orders."""
    passages, rows = items(len(won))["passage"], []
    for number, anchor in np.argwhere(won[:, -1, :-1] >= 0):
        for shown in ("A", "B"):
            share = won[number, -1, anchor]
            output = shown == "A" if share == 0.5 else share == 1
            rows.append((model, passages[int(number)], NAMES[anchor], shown, "output" if output else "anchor", 1))
    return pl.DataFrame(rows, schema=["model", "passage", "anchor", "shown", "winner", "asked"], orient="row")


def verdicts(*rows: tuple[str, str, str, str | None]) -> pl.DataFrame:
    """Comparisons of the model m with: passage, anchor, where it stood, who won."""
    frame = pl.DataFrame(rows, schema=["passage", "anchor", "shown", "winner"], orient="row")
    return frame.with_columns(model=pl.lit("m"), asked=pl.lit(1))


def test_two_orders_are_one_match_and_a_winner_that_changes_with_them_is_a_tie() -> None:
    found = candidate_matches(verdicts(
        ("x/0", "a", "A", "output"), ("x/0", "a", "B", "output"),
        ("x/0", "b", "A", "anchor"), ("x/0", "b", "B", "anchor"),
        ("x/0", "c", "A", "output"), ("x/0", "c", "B", "anchor"),
        ("x/1", "a", "A", None), ("x/1", "a", "B", "output"),
        ("x/1", "b", "A", None), ("x/1", "b", "B", None),
        ("x/1", "c", "B", "anchor"),
    ))  # fmt: skip
    assert found.rows() == [
        ("m", "x/0", "a", 1), ("m", "x/0", "b", 0), ("m", "x/0", "c", 0.5),
        ("m", "x/1", "a", 1), ("m", "x/1", "b", None), ("m", "x/1", "c", 0),
    ]  # fmt: skip


def test_matches_of_anchors_are_the_same_whoever_is_named_first() -> None:
    rows = [
        ("x", "b", "a", "a"),
        ("x", "a", "b", "a"),
        ("x", "c", "a", "c"),
        ("x", "a", "c", "a"),
        ("y", "c", "b", None),
    ]
    found = anchor_matches(pl.DataFrame(rows, schema=["passage", "first", "second", "winner"], orient="row"))
    assert found.rows() == [("x", "a", "b", 1), ("x", "a", "c", 0.5), ("y", "b", "c", None)]


def test_the_nine_slices_of_two_directions_and_two_difficulties() -> None:
    found = {name: len(passages) for name, passages in slices(items(70)).items()}
    assert list(found.items()) == [
        ("overall", 70), ("en-ja", 35), ("ja-en", 35), ("easy", 36), ("hard", 34),
        ("en-ja easy", 18), ("en-ja hard", 17), ("ja-en easy", 18), ("ja-en hard", 17),
    ]  # fmt: skip


def estimates(tables: Floats) -> dict[str, Floats]:
    """Scores of the last system from tables of wins, shape (..., n, n), as log-odds."""
    strengths, alone = fit(tables), fit(tables[..., :-1, :-1])
    return {
        "strength": strengths[..., -1],
        "lt": strengths[..., -1],
        "en": np.array([log_shares(each)[0][-1] for each in strengths.reshape(-1, strengths.shape[-1])]),
        "lt_fixed": fit_fixed(alone, tables[..., -1, :-1], tables[..., :-1, -1]),
    }


def test_scores_are_those_of_the_sums_in_every_slice() -> None:
    """Intervals are compared with those from scores without each item (jackknife)."""
    won = judged(np.append(SPREAD, 0.7), 0.5, np.random.default_rng(3))
    rows = candidate_scores(comparisons(won), judgments(won[:, :-1, :-1]), items(), CONTRACT)
    assert rows.schema == PAIRWISE_SCORE
    assert len(rows) == 9
    anchors = anchor_scores(judgments(won[:, :-1, :-1]), items(), [], CONTRACT)
    assert anchors.schema == ANCHOR_SCORE
    assert len(anchors) == 9 * 5
    places = {passage: number for number, passage in enumerate(items()["passage"])}
    for name_of_slice, passages in slices(items()).items():
        inside = won[[places[passage] for passage in passages]]
        count, total = len(inside), inside.sum(axis=0)
        score = rows.row(by_predicate=pl.col("slice") == name_of_slice, named=True)
        without = estimates(total - inside)
        for name, (value,) in ((name, np.ravel(value)) for name, value in estimates(total).items()):
            influences = (1 - 1 / count) * (value - without[name])
            below, above = bounds(influences[:, None], np.full((count, 1), 1 / count))
            found = np.array([score[name + bound] for bound in ("", "_low", "_high")])
            found = found if name == "strength" else np.log(found / (10 - found))
            assert found[0] == pytest.approx(value, abs=1e-6)
            assert found[1] < found[0] < found[2]
            if count > 60:  # of few items, strengths without one differ by more than a Newton step, and so do skews
                assert_allclose(found[1:] - found[0], [-below[0], above[0]], rtol=0.15)
        assert score["win_rate"] == pytest.approx(inside[:, -1].sum() / (5 * count))
        assert score["win_rate_low"] < score["win_rate"] < score["win_rate_high"]
        assert (score["items"], score["matches"], score["excluded"]) == (count, 5 * count, 0)
        assert (score["wins"], score["ties"]) == (inside[:, -1].sum(), (inside[:, -1, :-1] == 0.5).sum())
        of_anchors, strengths = anchors.filter(slice=name_of_slice), fit(total[:-1, :-1])
        assert_allclose(of_anchors["lt"], on_scale(strengths), atol=1e-7)
        assert_allclose(of_anchors["en"], on_scale(log_shares(strengths)[0]), atol=1e-7)
        assert_allclose(of_anchors["win_rate"], inside[:, :-1, :-1].sum(axis=(0, 2)) / (4 * count))
        assert (of_anchors["ties"].sum() / 2, of_anchors["items"].max()) == (
            (np.triu(inside[:, :-1, :-1]) == 0.5).sum(), count,
        )  # fmt: skip
        for name in ("win_rate", "strength", "lt", "en"):
            low, high = (of_anchors[f"{name}_{end}"] for end in ("low", "high"))
            assert ((low < of_anchors[name]) & (of_anchors[name] < high)).all()


def test_one_model_does_not_touch_the_scores_of_another() -> None:
    chance = np.random.default_rng(4)
    won = judged(np.append(SPREAD, 0.7), 0.5, chance, items=20)
    frozen = judgments(won[:, :-1, :-1])
    own, other = comparisons(won), comparisons(judged(np.append(SPREAD, 3), 0.5, chance, items=20), "n")
    alone = candidate_scores(own, frozen, items(20), CONTRACT)
    both = candidate_scores(
        pl.concat([other, own]).sample(fraction=1, shuffle=True, seed=1), frozen, items(20), CONTRACT
    )
    assert both.filter(model="m").equals(alone)
    assert set(both["model"]) == {"m", "n"}


def test_items_of_documents_that_are_alike_are_no_more_evidence_than_documents() -> None:
    won = judged(np.array([-1.0, -0.5, 0.0, 0.5, 0.7]), 0.5, np.random.default_rng(3), items=12)
    copied = np.repeat(won, 4, axis=0)  # neighboring items are in different slices, so that only `overall` is the same
    in_documents = items(48).with_columns(unit=pl.col("passage").str.slice(2).cast(pl.Int64) // 4)
    apart, together = (
        candidate_scores(comparisons(table), judgments(table[:, :-1, :-1]), rows, CONTRACT).filter(slice="overall")
        for table, rows in ((won, items(12)), (copied, in_documents))
    )
    names = [f"{name}{bound}" for name in ("win_rate", "lt", "lt_fixed") for bound in ("", "_low", "_high")]
    assert_allclose(together.select(names).row(0), apart.select(names).row(0), atol=1e-6)
    few = candidate_scores(
        comparisons(won), judgments(won[:, :-1, :-1]), items(12).with_columns(unit=pl.lit("a document")), CONTRACT
    )
    assert few["lt"].null_count() == 0
    assert few["lt_low"].null_count() == len(few)


def test_there_is_no_win_rate_where_only_near_anchors_were_met() -> None:
    """What adaptive mode leaves out are the anchors that are far away, so that the share of what it asks is no rate."""
    won = judged(np.append(SPREAD, 3.5), 0, np.random.default_rng(4), items=16)
    rows = comparisons(won)
    frozen = judgments(won[:, :-1, :-1])
    near = rows.filter(pl.col("anchor").is_in(NAMES[:3]) | (pl.col("passage") == "x/000"))
    score = candidate_scores(near, frozen, items(16), CONTRACT)
    overall = score.row(by_predicate=pl.col("slice") == "overall", named=True)
    assert [overall[f"win_rate{bound}"] for bound in ("", "_low", "_high")] == [None] * 3
    assert overall["lt"] is not None
    assert overall["matches"] == 15 * 3 + 5
    # On items that were left out, nobody was met at all: what there is of the others is whole.
    half = candidate_scores(rows.filter(pl.col("passage") < "x/008"), frozen, items(16), CONTRACT)
    assert half.filter(slice="overall")["win_rate"].item() == pytest.approx(won[:8, -1, :-1].mean())


def test_an_undefeated_model_has_a_win_rate_and_a_reason_instead_of_strengths() -> None:
    won = judged(np.append(SPREAD[1:4], 60), 0, np.random.default_rng(5), items=30)
    rows = candidate_scores(comparisons(won), judgments(won[:, :-1, :-1]), items(30), CONTRACT)
    assert set(rows["problem"]) == {"no finite strengths exist: m has lost no match"}
    assert set(rows["win_rate"]) == {1.0}
    numbers = [f"{name}{bound}" for name in ("strength", "lt", "lt_fixed") for bound in ("", "_low", "_high")]
    assert rows.select(numbers).null_count().row(0) == (len(rows),) * len(numbers)


def test_a_judge_who_always_says_the_same_leaves_the_width_of_independent_verdicts() -> None:
    """Every match is a tie: the items agree, and say nothing."""
    won = np.full((40, 7, 7), 0.5) * (1 - np.eye(7))
    overall = candidate_scores(comparisons(won), judgments(won[:, :-1, :-1]), items(40), CONTRACT).row(0, named=True)
    error = 1 / np.sqrt(40 * 6 * 2 * 0.25)  # of the log-odds from 480 tosses; the mean of the anchors is fixed at 0
    assert overall["lt"] == pytest.approx(5)
    assert overall["lt_fixed_high"] == pytest.approx(on_scale(np.array(1.96 * error)), abs=1e-4)
    assert overall["lt_high"] - 5 == pytest.approx(5 - overall["lt_low"])
    assert overall["lt_high"] > 5.15
    assert overall["win_rate_high"] == pytest.approx(0.5 + 1.96 / np.sqrt(480) / 2, abs=1e-4)


def test_where_the_judge_refuses_a_pair_does_not_count() -> None:
    won = judged(np.append(SPREAD[1:4], 0), 0, np.random.default_rng(6), items=16)
    rows = comparisons(won)
    refused = (pl.col("passage") == "x/003") & (pl.col("anchor") == NAMES[0])
    once = (pl.col("passage") == "x/004") & (pl.col("shown") == "A")
    rows = rows.with_columns(winner=pl.when(refused | once).then(None).otherwise("winner"))
    kept = candidate_matches(rows).drop_nulls("won")
    score = candidate_scores(rows, judgments(won[:, :-1, :-1]), items(16), CONTRACT).filter(slice="overall")
    assert score.select("items", "matches", "excluded", "wins").row(0) == (16, 16 * 3 - 1, 1, kept["won"].sum())
    assert score["win_rate"].item() == pytest.approx(kept["won"].mean())


def test_how_often_the_first_text_wins_counts_only_what_the_judge_saw() -> None:
    rows = verdicts(
        ("x/000", NAMES[0], "A", "output"), ("x/000", NAMES[0], "B", "anchor"), ("x/001", NAMES[0], "A", "output"),
        ("x/001", NAMES[0], "B", "output"), ("x/002", NAMES[0], "A", None), ("x/003", NAMES[0], "A", "anchor"),
    ).with_columns(asked=pl.when(pl.col("passage") == "x/003").then(0).otherwise(1))  # fmt: skip
    frozen = judgments(judged(np.array([0.0, 0.0]), 0, np.random.default_rng(1), items=4))
    score = candidate_scores(rows, frozen, items(4), CONTRACT).filter(slice="overall")
    assert score["first_rate"].item() == 0.75


def test_the_contract_names_all_that_scores_hang_on() -> None:
    judged = JudgeRecord(id="gpt-1", temperature=0.0, max_tokens=512, prompt="compare 1 (d1ce)")
    row = {
        "base_set": "jp@1.0.0", "content": "c0ffee", "judge": "umpire", "settings": '{"orders": "both"}',
        "judged": judged.model_dump_json(),
    }  # fmt: skip
    own = contract(row)
    for part in ("jp@1.0.0 (c0ffee)", "umpire: gpt-1, temperature 0.0, max_tokens 512, compare 1 (d1ce)", '"both"',
                 "aggregation 1"):  # fmt: skip
        assert part in own
    other_ones = {"id": "gpt-2", "served": "v2", "temperature": 1.0, "seed": 1, "prompt": "compare 2 (f00d)"}
    others = [judged.model_copy(update={name: value}) for name, value in other_ones.items()]
    changed = [contract(row | {key: "other"}) for key in ("base_set", "content", "judge", "settings")]
    changed += [contract(row | {"judged": other.model_dump_json()}) for other in others]
    assert len({own, *changed}) == 10
    assert contract(row, others[0]) == own  # nobody else may judge models
    unknown = row | {"judged": None}
    assert "judge umpire: not recorded; " in contract(unknown)
    assert f"judge umpire: of anchors not recorded, of models {judged}; " in contract(unknown, judged)


TAILS = 3
"""Degrees of freedom of t, as which item effects with heavy tails are distributed."""


def level_of(lt: float, anchors: Floats, effect: float) -> float:
    """Log-strength of a candidate whose LT is `lt` on infinitely many items."""
    low, high = -9.0, 9.0
    while high - low > 0.01:
        middle = (low + high) / 2
        below = on_scale(fit(mean_wins(np.append(anchors, middle), effect)))[-1] < lt
        low, high = (middle, high) if below else (low, middle)
    return low


def mean_wins(systems: Floats, effect: float) -> Floats:
    """What `tailed` gives on average, shape (n, n), from 20,000 items."""
    chance = np.random.default_rng(7)
    return np.asarray(np.mean([chances(systems, effect, chance, 1000).mean(axis=0) for _ in range(20)], axis=0))


def chances(systems: Floats, effect: float, chance: np.random.Generator, count: int) -> Floats:
    own = systems + effect / np.sqrt(TAILS) * chance.standard_t(TAILS, size=(count, len(systems)))
    return sigma(own[:, :, None] - own[:, None, :]) * (1 - np.eye(len(systems)))


def tailed(systems: Floats, effect: float, chance: np.random.Generator, count: int) -> Floats:
    """Shares of matches won, as `judged` returns them, where item effects have heavy tails."""
    won = chance.binomial(2, chances(systems, effect, chance, count)) / 2
    upper = np.triu(np.ones(won.shape[1:]), 1)
    found: Floats = won * upper + ((1 - won) * upper).swapaxes(1, 2)
    return found


def test_a_win_rate_has_the_lt_of_its_wins_and_its_interval_has_room_for_the_anchors() -> None:
    won = judged(np.roll(SPREAD, -3), 0.5, np.random.default_rng(3), items=20)
    (field, *_) = fields(judgments(won[:, :-1, :-1]), items(20), NAMES[:4])
    (row, *_) = candidate_scores(comparisons(won), judgments(won[:, :-1, :-1]), items(20), CONTRACT).to_dicts()
    matches = np.full(4, 20.0)
    lt = fixed_lt(field, matches, Estimate(row["win_rate"], row["win_rate_low"], row["win_rate_high"]))
    beside = [row[f"lt_fixed{end}"] for end in ENDS]
    assert_allclose(np.array(lt, dtype=np.float64), beside, atol=0.6)
    assert lt.value == pytest.approx(beside[0])
    exact = fixed_lt(field, matches, Estimate(0.3, 0.3, 0.3))
    assert np.diff(np.array([exact.low, exact.value, exact.high], dtype=np.float64)).min() > 0.1
    assert fixed_lt(field, matches, Estimate(0.3, 0, 1))[1:] == (0, 10)
    assert fixed_lt(field, matches, Estimate(0.3, None, None)) == (exact.value, None, None)
    assert fixed_lt(field, matches, Estimate(0, 0, 0.3)) == (None, None, None)


@pytest.mark.proof
@pytest.mark.parametrize("effect", [0.5, 1.0])
def test_intervals_hold_the_truth_in_95_percent(effect: float, full: bool) -> None:
    """Every other anchor of the published twenty; the candidate at LT 2, 5, 8 and 9.5; 16, 40 and 70 items."""
    anchors, trials = ANCHORS[::2], 800 if full else 12
    print(f"\nitem effects {effect}: LT, items, share without a finite strength, coverage by estimate")
    for lt in (2, 5, 8, 9.5) if full else (8,):
        systems = np.append(anchors, level_of(lt, anchors, effect))
        mean = mean_wins(systems, effect)
        truth = {"lt": on_scale(fit(mean))[-1], "win_rate": mean[-1].sum() / len(anchors)}
        truth["lt_fixed"] = float(on_scale(fit_fixed(fit(mean[:-1, :-1]), mean[-1, :-1], mean[:-1, -1])))
        for count in (16, 40, 70) if full else (16,):
            hits = {name: list[bool]() for name in truth}
            for seed in range(trials):
                won = tailed(systems, effect, np.random.default_rng([seed, count]), count)
                whole = items(count).with_columns(direction=pl.lit("ja-en"), difficulty=pl.lit("easy"))
                row = candidate_scores(comparisons(won), judgments(won[:, :-1, :-1]), whole, CONTRACT).row(
                    0, named=True
                )
                for name, value in truth.items():
                    if row[name] is not None:
                        hits[name].append(row[f"{name}_low"] <= value <= row[f"{name}_high"])
            shares = {name: float(np.mean(held)) for name, held in hits.items()}
            print(lt, count, 1 - len(hits["lt"]) / trials, shares)
            for name, share in shares.items():
                assert 0.93 - slack(False, trials) / 2 <= share <= 0.97 + slack(False, trials) / 2, (lt, count, name)


def moved(level: float, orders: str, bias: float = np.log(1.5)) -> float:
    """By how much LT is another than that of a judge without bias, on average over all items there could be."""
    systems = np.append(ANCHORS, level)
    return float((on_scale(fit(expected(systems, 0, bias, orders))) - on_scale(fit(expected(systems))))[-1])


def test_a_position_bias_of_60_to_40_hardly_moves_lt_under_both_orders() -> None:
    """Anchors and candidate have the same judge. No text gains by its place; but pairs end in ties more often, which
    draws strengths together: LT moves towards 5, most (0.061) where it is 2 or 8."""
    shifts = np.array([moved(level, "both") for level in ANCHORS])
    assert np.abs(shifts).mean() < 0.035
    assert max(abs(moved(level, "both")) for level in np.arange(-6, 6, 0.25)) < 0.062
    assert (shifts * ANCHORS < 1e-3).all()
    assert max(abs(moved(level, "first")) for level in (-1.0, 0.0, 1.0)) > 1


def test_fields_know_all_anchors_even_where_a_judge_refused_every_match() -> None:
    frozen = judgments(judged(SPREAD, 0, np.random.default_rng(1), items=8))
    gone = (pl.col("first") == NAMES[0]) | (pl.col("second") == NAMES[0])
    frozen = frozen.with_columns(winner=pl.when(gone).then(None).otherwise("winner"))
    assert fields(frozen, items(8), [])[0].anchors == tuple(NAMES[:5])
    row = anchor_scores(frozen, items(8), [], CONTRACT).filter(slice="overall", anchor=NAMES[0]).row(0, named=True)
    assert (row["items"], row["matches"], row["excluded"], row["win_rate"]) == (0, 0, 32, None)
    assert row["problem"].startswith(f"no finite strengths exist: {NAMES[0]} has no match that counts")


def test_without_a_judgment_between_anchors_nobody_has_strengths() -> None:
    won = judged(np.append(SPREAD, 0.7), 0, np.random.default_rng(1), items=8)
    frozen = judgments(won).clear()
    anchors = anchor_scores(frozen, items(8), NAMES[:5], CONTRACT)
    assert len(anchors) == 9 * 5
    assert anchors.select("items", "matches", "wins", "ties", "excluded").unique().rows() == [(0, 0, 0, 0, 0)]
    assert anchors.select("win_rate", "lt", "lt_low").null_count().row(0) == (45, 45, 45)
    (reason,) = anchors["problem"].unique()
    assert reason.startswith("no finite strengths exist: ")
    assert reason.endswith(" have no match that counts")
    models = candidate_scores(comparisons(won), frozen, items(8), CONTRACT)
    overall = models.row(by_predicate=pl.col("slice") == "overall", named=True)
    assert overall["win_rate"] == pytest.approx(won[:, -1, :-1].mean())
    assert (overall["lt"], overall["lt_fixed"]) == (None, None)
    assert overall["problem"].startswith("no finite strengths exist: ")
