"""Comparisons at a real server and in a real warehouse: who meets whom, on which side, what is stored and asked."""

import json
from collections import Counter
from typing import Any

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation import runs
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.pairwise.adaptive import BATCH
from benchmark_assets.pairwise.base_sets import TABLES, Judging, Ranks, Within
from benchmark_assets.pairwise.building import report
from benchmark_assets.pairwise.comparing import judged_by, sides
from benchmark_assets.pairwise.matches import Comparisons
from benchmark_assets.pairwise.rubric import RubricVotes
from benchmark_assets.studies.study import CALLS
from resources.digest import digest
from resources.errors import RunFailedError
from resources.warehouse import Replacement
from tests.pairwise.arena import ANCHORS, FIRST, OUTPUTS, SECOND, SET, THIRD, Arena, write_judges
from tests.provider.server import Server, dumps
from tests.support import PASSAGES

ONE = Judging(orders="one")
MINE = pl.DataFrame({"model": ["ours"] * 3, "passage": PASSAGES})
THEIRS = pl.DataFrame({"model": ["theirs"] * 3, "passage": PASSAGES})


def says(answer: str) -> list[str]:
    return [dumps({"analysis": "", "summary": "", "answer": answer})]


def by_taste(*texts: str) -> dict[str, list[str]]:
    """What a judge says who likes these texts, the first one best, wherever they stand."""
    return {
        f"{a}|{b}": says("A" if place < other else "B")
        for place, a in enumerate(texts) for other, b in enumerate(texts) if place != other
    }  # fmt: skip


def compared(arena: Arena, outputs: pl.DataFrame = MINE) -> Computed:
    return Comparisons(arena.warehouse, arena.systems).compute(outputs, "run")


def winners(computed: Computed) -> dict[tuple[str, str, str], str | None]:
    """Winners by passage, anchor and side."""
    rows = computed.tables["comparison"].select("passage", "anchor", "shown", "winner").iter_rows()
    return {(passage.removeprefix("tiny/"), anchor, shown): winner for passage, anchor, shown, winner in rows}


def errors(computed: Computed) -> dict[str, str]:
    assert computed.failures is not None
    return dict(computed.failures.select("passage", "error").iter_rows())


# Which side.


@given(st.text(), st.text(), st.text())
def test_both_orders_show_the_output_on_either_side(model: str, passage: str, anchor: str) -> None:
    assert sides("both", passage, model, anchor) == ("A", "B")
    assert sides("one", passage, model, anchor) in (("A",), ("B",))


@given(st.text(min_size=1), st.integers(1, 9))
def test_one_order_shows_it_on_either_side_about_equally_often(model: str, anchors: int) -> None:
    counts = Counter(
        sides("one", f"c/d:{item}", model, f"a{anchor}") for item in range(400) for anchor in range(anchors)
    )
    assert abs(counts["A",] - counts["B",]) < 6 * sum(counts.values()) ** 0.5


# Who meets whom.


def test_an_output_meets_every_anchor_of_its_items_on_both_sides(arena: Arena, server: Server) -> None:
    found = compared(arena)
    assert set(winners(found)) == {(item, anchor, side) for item in OUTPUTS for anchor in ANCHORS for side in "AB"}
    items = [json.loads(seen.body["messages"][-1]["content"]) for seen in server.log() if seen.body]
    pairs = {(item["translation_a"], item["translation_b"]) for item in items}
    others = {(OUTPUTS[item], ANCHORS[anchor][item]) for item in OUTPUTS for anchor in ("high", "low", "theirs")}
    assert pairs == others | {(b, a) for a, b in others}
    assert {tuple(item) for item in items} == {("source", "translation_a", "translation_b")}  # and not whose they are


def test_one_order_asks_half_and_really_changes_sides(arena: Arena, server: Server) -> None:
    arena.base_set(judging=ONE)
    found = compared(arena)
    assert len(winners(found)) == len(server.log()) == 9
    for item, anchor, shown in winners(found):
        a, b = OUTPUTS[item], ANCHORS[anchor][item]
        assert f"{a}|{b}" if shown == "A" else f"{b}|{a}" in {seen.keys[1] for seen in server.log()}
    assert {side for _, _, side in winners(found)} == {"A", "B"}


def test_only_items_are_compared_and_an_anchor_is_not(arena: Arena, server: Server) -> None:
    arena.base_set(items=["doc1:2"])
    assert {item for item, _, _ in winners(compared(arena))} == {"doc1:2"}
    server.clear()
    assert list(Comparisons(arena.warehouse, arena.systems).groups(THEIRS)) == []
    assert winners(compared(arena, THEIRS)) == {}
    assert Comparisons(arena.warehouse, arena.systems).settings(pl.concat([MINE, THEIRS]))[
        "model"
    ].unique().to_list() == ["ours"]
    assert server.log() == []


def test_several_sets_are_compared_side_by_side_and_equal_questions_asked_once(arena: Arena, server: Server) -> None:
    arena.base_set("anchors@1.0.1", {name: ANCHORS[name] for name in ("high", "low")})
    rows = compared(arena).tables["comparison"]
    assert dict(rows.group_by("base_set").len().iter_rows()) == {SET: 18, "anchors@1.0.1": 12}
    assert len(server.log()) == 18


# Results.


def test_a_judge_with_a_taste_names_the_same_winner_on_both_sides(arena: Arena, server: Server) -> None:
    texts = [*ANCHORS["high"].values(), *OUTPUTS.values(), *ANCHORS["low"].values()]
    server.configure(answer="judge", judgements=by_taste(*texts))
    arena.base_set(anchors={name: ANCHORS[name] for name in ("high", "low")})
    found = winners(compared(arena))
    assert {winner for (_, anchor, _), winner in found.items() if anchor == "high"} == {"anchor"}
    assert {winner for (_, anchor, _), winner in found.items() if anchor == "low"} == {"output"}


def test_a_judge_who_always_says_a_makes_every_pair_a_flip(arena: Arena, server: Server) -> None:
    server.configure(answer="judge", judgements={"comparer": says("A")})
    found = winners(compared(arena))
    assert {(shown, winner) for (_, _, shown), winner in found.items()} == {("A", "output"), ("B", "anchor")}


def test_refusals_and_unusable_answers_are_excluded_with_their_reason(arena: Arena, server: Server) -> None:
    high = ANCHORS["high"]
    server.configure(
        answer="judge",
        by_key={f"{FIRST}|{high['doc1:1']}": "refusal"},
        judgements={f"{high['doc1:2']}|{SECOND}": ["Both are good."]},
    )
    rows = compared(arena).tables["comparison"].filter(pl.col("winner").is_null())
    assert rows.select("passage", "anchor", "shown", "excluded", "asked").rows() == [
        ("tiny/doc1:1", "high", "A", "refused: I cannot help with that.", 1),
        ("tiny/doc1:2", "high", "B", rows["excluded"][1], 2),
    ]
    assert rows["excluded"][1].startswith("the text names none of A, B")


def test_empty_texts_and_declined_passages_lose_without_a_call(arena: Arena, server: Server) -> None:
    blank, declined = (pl.DataFrame({"model": ["ours"], "passage": [f"tiny/{item}"]}) for item in ("doc1:2", "doc2:1"))
    stamp = pl.lit("test").alias("fingerprint")
    arena.warehouse.write(
        [
            Replacement("model_output", blank.with_columns(stamp, text=pl.lit(" ")), blank),
            Replacement("model_output", arena.warehouse.empty("model_output"), declined),
            Replacement("refusal", declined.with_columns(stamp, words=pl.lit("No.")), declined),
        ],
        run_id="test",
    )
    nothing = {item: "" if item == "doc1:2" else text for item, text in ANCHORS["low"].items()}
    arena.base_set(anchors=ANCHORS | {"low": nothing})
    computed = compared(arena)
    rows = computed.tables["comparison"].filter(asked=0)
    both = rows.filter(anchor="low", passage="tiny/doc1:2")
    assert both.select("winner", "excluded").unique().rows() == [(None, "both texts are empty")]
    assert len(rows) == 12
    assert set(rows.join(both, on=rows.columns[:5], how="anti")["winner"]) == {"anchor"}
    assert len(computed.notes[CALLS]) == len(server.log()) == 6


def test_a_call_that_fails_is_the_failure_of_its_output_alone(arena: Arena, server: Server) -> None:
    server.configure(answer="judge", by_key={f"{THIRD}|New.": "bad_request"})
    computed = compared(arena)
    assert list(errors(computed)) == ["tiny/doc2:1"]
    assert errors(computed)["tiny/doc2:1"].startswith(f"{SET} low: rejected")
    assert {item for item, _, _ in winners(computed)} == {"doc1:1", "doc1:2"}
    assert set(computed.notes[CALLS]["passage"]) == {"tiny/doc1:1", "tiny/doc1:2"}


def test_an_item_with_another_source_than_the_anchors_had_is_left_out(arena: Arena, server: Server) -> None:
    arena.base_set(sources={"doc1:2": "Sol occidit."})
    asked = pl.DataFrame({"model": ["ours"] * 3, "passage": PASSAGES})
    applies = Comparisons(arena.warehouse, arena.systems).settings(asked)
    assert set(applies["passage"]) == {"tiny/doc1:1", "tiny/doc2:1"}
    computed = compared(arena, applies.drop("settings"))
    assert {item for item, _, _ in winners(computed)} == {"doc1:1", "doc2:1"}
    assert len(server.log()) == 12


FAULTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "of the family": ({"family": "ACME"}, "comparer", f"base set {SET}: judge: has comparer, of the family 'acme'"),
    "without family": ({"family": ""}, "comparer", "judges.comparer.family: is missing"),
    "undeclared": ({"families": {}}, "comparer", "families.ours: is missing"),
    "unknown": ({}, "nobody", f"judges.nobody: is missing, but base set {SET} names it"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_judge_that_may_not_judge_is_the_fault_of_the_outputs(arena: Arena, server: Server, name: str) -> None:
    more, judge, words = FAULTS[name]
    arena.base_set(judge=judge)
    write_judges(arena.registry, arena.url, **more)
    computed = compared(arena)
    assert winners(computed) == {}
    assert len(errors(computed)) == 3
    assert all(words in error for error in errors(computed).values())
    assert server.log() == []
    assert Comparisons(arena.warehouse, arena.systems).cost(MINE) is None


def test_a_judge_that_may_not_judge_bars_its_own_base_set_only(
    arena: Arena, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """The first item is in both sets; the others are in the barred one alone."""
    write_judges(arena.registry, arena.url, family="acme")
    arena.base_set("external@1.0.0", items=["doc1:1"], judge="marker")
    computed = compared(arena)
    assert computed.tables["comparison"].select("passage", "base_set").unique().rows() == [
        ("tiny/doc1:1", "external@1.0.0")
    ]
    words = f"base set {SET}: judge: has comparer, of the family 'acme' as ours is"
    assert list(errors(computed)) == ["tiny/doc1:2", "tiny/doc2:1"]
    assert all(words in error for error in errors(computed).values())
    assert [words in record.message for record in caplog.records if record.levelname == "WARNING"] == [True]
    assert len(server.log()) == 6
    said = Comparisons(arena.warehouse, arena.systems).cost(MINE)
    assert said is not None
    assert (said.calls, said.recorded) == (6, 6)


def test_models_of_two_families_are_each_compared_with_the_set_of_the_other_judge(arena: Arena) -> None:
    anchors = {name: ANCHORS[name] for name in ("high", "low")}
    judge = {"endpoint": "server", "id": "comparer", "price": {"input": 1, "output": 2}}
    write_judges(arena.registry, arena.url, families={"ours": "acme", "theirs": "other"})
    registry = json.loads(arena.registry.read_text())
    registry["judges"] = {"a": judge | {"family": "acme"}, "b": judge | {"family": "other"}}
    arena.registry.write_text(json.dumps(registry))
    arena.base_set(anchors=anchors, judge="a")
    arena.base_set("second@1.0.0", anchors, judge="b")
    rows = compared(arena, pl.concat([MINE, THEIRS]))
    assert errors(rows) == {}
    met = rows.tables["comparison"].group_by("model", "base_set").len().sort("model").rows()
    assert met == [("ours", "second@1.0.0", 12), ("theirs", SET, 12)]


@pytest.mark.parametrize(
    ("change", "words"),
    [({"id": "comparer-2"}, "another id now"), ({"temperature": 0.7}, "another temperature now")],
)
def test_another_judge_than_the_anchors_had_is_not_asked(
    arena: Arena, server: Server, change: dict[str, Any], words: str
) -> None:
    judged = judged_by(arena.provider, "comparer")
    arena.base_set(judged=judged)
    assert errors(compared(arena)) == {}
    server.clear()

    write_judges(arena.registry, arena.url, **change)
    found = compared(arena)
    assert winners(found) == {}
    assert set(errors(found)) == set(PASSAGES)
    assert all(f"judged the anchors as {judged}" in error and words in error for error in errors(found).values())
    assert server.log() == []
    assert Comparisons(arena.warehouse, arena.systems).cost(MINE) is None

    arena.base_set(judged=judged.model_copy(update={"prompt": "compare 0 (d1ce)"}))
    write_judges(arena.registry, arena.url)
    assert all("another prompt now" in error for error in errors(compared(arena)).values())
    arena.base_set(judged=judged)
    write_judges(arena.registry, f"{arena.url}/", in_flight=2, budget=3)  # settings that change no reply
    assert errors(compared(arena)) == {}


@pytest.mark.proof
@pytest.mark.large
def test_scores_keep_the_name_of_the_judge_that_judged(adaptive: Arena) -> None:
    """The contract speaks of the judge that was: editing the registry does not sign its judgments anew."""
    adaptive.row("comparison")
    judged = judged_by(adaptive.provider, "comparer")
    assert judged.served == "comparer"

    def contracts(table: str) -> set[str]:
        adaptive.materialize(["anchor_score"], "ours", "ours")
        adaptive.materialize(["pairwise_score"], "ours", "theirs")
        return set(adaptive.warehouse.read(table)["contract"])

    def write(said: str | None) -> None:
        entry = adaptive.warehouse.read("base_set").drop("run_id", "updated_at")
        entry = entry.with_columns(judged=pl.lit(said, pl.String))
        adaptive.warehouse.write([Replacement("base_set", entry, None)], run_id="test")

    (unrecorded,) = contracts("anchor_score")
    assert "judge comparer: not recorded; " in unrecorded
    (mixed,) = contracts("pairwise_score")
    assert f"judge comparer: of anchors not recorded, of models {judged}; " in mixed
    write(judged.model_dump_json())
    assert [len(contracts(table)) for table in ("anchor_score", "pairwise_score")] == [1, 1]
    (own,) = contracts("pairwise_score")
    assert f"judge comparer: {judged}; " in own
    write_judges(adaptive.registry, adaptive.url, id="comparer-2", temperature=0.9)
    assert contracts("anchor_score") == contracts("pairwise_score") == {own}
    registry = json.loads(adaptive.registry.read_text())
    del registry["judges"]["comparer"]
    adaptive.registry.write_text(json.dumps(registry))
    assert contracts("anchor_score") == contracts("pairwise_score") == {own}
    write(None)
    assert contracts("pairwise_score") == {own}  # the judge is unknown: stored scores stay


def test_a_base_set_that_is_removed_leaves_all_tables_and_others_stay(arena: Arena, server: Server) -> None:
    anchors = {name: ANCHORS[name] for name in ("high", "low")}
    arena.base_set(anchors=anchors)
    arena.base_set("other@1.0.0", anchors, items=["doc1:1"])
    frozen = pl.DataFrame({
        "base_set": [SET, "other@1.0.0"], "passage": PASSAGES[0], "first": "high", "second": "low", "winner": "high",
        "fingerprint": "test",
    })  # fmt: skip
    arena.warehouse.write([Replacement("anchor_judgment", frozen, None)], run_id="test")
    arena.row("comparison")
    arena.materialize(["anchor_score"], "ours", "ours")
    arena.materialize(["pairwise_score"], "ours", "theirs")
    assert set(arena.warehouse.read("pairwise_score")["base_set"]) == {SET, "other@1.0.0"}
    server.clear()
    with dg.DagsterInstance.get() as instance:
        with pytest.raises(RunFailedError, match=r"no\@1: no such base set in this warehouse; imported base sets"):
            runs.remove(arena.definitions, instance, "baseset", "no@1")
        runs.remove(arena.definitions, instance, "baseset", SET)
    for table in TABLES:
        assert set(arena.warehouse.read(table)["base_set"]) <= {"other@1.0.0"}
    for table in ("base_set", "anchor_score", "pairwise_score"):
        assert set(arena.warehouse.read(table)["base_set"]) == {"other@1.0.0"}
    arena.row("comparison")
    rows = arena.warehouse.read("comparison")
    assert rows.select("passage", "base_set").unique().rows() == [("tiny/doc1:1", "other@1.0.0")]
    assert server.log() == []


def test_what_determines_comparisons_is_in_the_settings_and_nothing_else(arena: Arena) -> None:
    def now() -> str:
        found = Comparisons(arena.warehouse, arena.systems).settings(MINE)
        assert found["settings"].n_unique() == 1
        return str(found["settings"][0])

    seen = [now()]
    arena.base_set(judging=ONE)
    seen.append(now())
    arena.base_set(anchors={name: ANCHORS[name] for name in ("high", "low")})
    seen.append(now())
    arena.base_set()
    write_judges(arena.registry, arena.url, temperature=0.5)
    seen.append(now())
    write_judges(arena.registry, arena.url)
    arena.base_set("anchors@1.0.1")
    seen.append(now())
    assert len(set(seen)) == 5
    arena.warehouse.write(
        [Replacement(table, arena.warehouse.empty(table), pl.DataFrame({"base_set": ["anchors@1.0.1"]}))
         for table in ("base_set", "base_set_item", "anchor_output")],
        run_id="test",
    )  # fmt: skip
    write_judges(arena.registry, arena.url, in_flight=1, budget=1, family="umpire")
    assert now() == seen[0]


def test_fingerprints_are_those_of_earlier_versions(arena: Arena) -> None:
    """Those of commit 309f719: a home made then has nothing stale."""
    write_judges(arena.registry, "http://127.0.0.1:1/v1")
    arena.describe(["comparer", "marker"])
    found = [study(arena.warehouse, arena.systems).settings(MINE) for study in (Comparisons, RubricVotes)]
    assert found[0]["settings"].to_list() == ["40e2ee7621face489c04655ef6caf0ca"] * 3
    assert found[1]["settings"].to_list() == ["7cc2acbb186e5acb342ed7b395e6361d"] * 3


# Adaptive mode.


LADDER = [f"step{number}" for number in range(30)]


def test_a_base_set_without_judgments_between_anchors_has_a_reason_instead_of_strengths(arena: Arena) -> None:
    arena.row("comparison")
    arena.materialize(["anchor_score"], "ours", "ours")
    arena.materialize(["pairwise_score"], "ours", "ours")
    anchors = arena.warehouse.read("anchor_score").filter(slice="overall")
    assert anchors["anchor"].sort().to_list() == sorted(ANCHORS)
    model = arena.warehouse.read("pairwise_score").filter(slice="overall")
    assert model["matches"].item() == 9
    reason = "no finite strengths exist: high, low and theirs have no match that counts"
    assert anchors["problem"].unique().to_list() == [reason]
    assert anchors["lt"].null_count() == anchors["lt_controlled"].null_count() == 3
    assert model["problem"].item() == f"among the anchors alone, {reason}"
    assert model["lt_fixed"].item() is None
    shown = report(arena.warehouse, SET)
    assert shown["anchor"].n_unique() == 3
    assert shown["problem"][0] == reason


def upset(*who: object) -> bool:
    """Whether the weaker of two wins, as in a quarter of all cases."""
    return int(digest(*who), 16) % 4 == 0


@pytest.fixture
def adaptive(arena: Arena, server: Server) -> Arena:
    """Thirty anchors. The output is better than about half of them. Asking stops soon, once LT is within 5."""
    anchors = {anchor: {item: f"{anchor} {item}" for item in OUTPUTS} for anchor in LADDER}
    arena.base_set(anchors=anchors, judging=Judging(adaptive=Within(within=5)))
    frozen = [
        (SET, f"tiny/{item}", low, high, low if upset(item, low, high) else high, "test")
        for item in OUTPUTS for place, low in enumerate(LADDER) for high in LADDER[place + 1 :]
    ]  # fmt: skip
    columns = ["base_set", "passage", "first", "second", "winner", "fingerprint"]
    rows = pl.DataFrame(frozen, schema=columns, orient="row")
    arena.warehouse.write([Replacement("anchor_judgment", rows, pl.DataFrame({"base_set": [SET]}))], run_id="test")
    judgements = {}
    for item, text in OUTPUTS.items():
        for place, anchor in enumerate(LADDER):
            wins = (place < 15) != upset(item, anchor)
            judgements[f"{text}|{anchor} {item}"] = says("A" if wins else "B")
            judgements[f"{anchor} {item}|{text}"] = says("B" if wins else "A")
    server.configure(answer="judge", judgements=judgements)
    return arena


def test_adaptive_mode_asks_one_round_where_that_is_enough(adaptive: Arena, server: Server) -> None:
    computed = compared(adaptive)
    assert len(server.log()) == 2 * BATCH
    pairs = {(item, anchor) for item, anchor, _ in winners(computed)}
    assert len(winners(computed)) == 2 * len(pairs) == 2 * BATCH
    each = Counter(item for item, _ in pairs)
    assert max(each.values()) - min(each.values()) <= 1
    assert {(item, anchor, side) for item, anchor in pairs for side in "AB"} == set(winners(computed))

    rows = computed.tables["comparison"].with_columns(fingerprint=pl.lit("test"))
    adaptive.warehouse.write([Replacement("comparison", rows, None)], run_id="test")
    server.clear()
    again = compared(adaptive, MINE.head(1))  # what is stored of the others is enough
    assert (winners(again), errors(again)) == ({}, {})
    assert server.log() == []


def test_adaptive_mode_can_ask_for_a_place_among_the_anchors(adaptive: Arena, server: Server) -> None:
    """A ladder in which one in four is upset: 31 places are soon enough, one takes all pairs."""
    entry = adaptive.warehouse.read("base_set").drop("run_id", "updated_at")
    for ranks, calls in ((30, 2 * BATCH), (1, 180)):
        changed = pl.lit(Judging(adaptive=Ranks(ranks=ranks)).model_dump_json()).alias("settings")
        adaptive.warehouse.write([Replacement("base_set", entry.with_columns(changed), None)], run_id="test")
        assert len(winners(compared(adaptive))) == calls


def test_adaptive_mode_asks_all_where_the_anchors_have_no_strengths(adaptive: Arena, server: Server) -> None:
    nothing = adaptive.warehouse.empty("anchor_judgment")
    adaptive.warehouse.write([Replacement("anchor_judgment", nothing, None)], run_id="test")
    assert len(winners(compared(adaptive))) == 180


def test_in_adaptive_mode_an_output_whose_call_failed_has_failed_and_the_others_go_on(
    adaptive: Arena, server: Server
) -> None:
    server.configure(answer="judge", by_key={f"{THIRD}|{anchor} doc2:1": "bad_request" for anchor in LADDER})
    computed = compared(adaptive)
    assert list(errors(computed)) == ["tiny/doc2:1"]
    assert {item for item, _, _ in winners(computed)} == {"doc1:1", "doc1:2"}


# On the grid.


def test_a_second_run_asks_nothing_and_a_changed_output_its_own_pairs_alone(arena: Arena, server: Server) -> None:
    arena.row("comparison")
    rows = arena.warehouse.read("comparison").drop("run_id", "updated_at")
    assert len(rows) == len(arena.warehouse.read(CALLS)) == 18
    assert set(rows["asked"]) == {1}
    server.clear()
    arena.row("comparison")
    assert server.log() == []

    assert compared(arena).tables["comparison"].sort(pl.all()).equals(rows.drop("fingerprint").sort(pl.all()))
    assert server.log() == []
    arena.outputs("ours", OUTPUTS | {"doc1:2": "Sunset."})
    arena.row("model_output", "comparison")
    own = [seen.keys[1].split("|") for seen in server.log()]
    assert len(own) == 6
    assert all("Sunset." in pair for pair in own)
