"""Hidden sentinels at a real server: they go with a study's questions, enter no score, and show partial judges."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.examination import hidden
from benchmark_assets.examination.flags import stops
from benchmark_assets.examination.hidden import SHARES, at_work, drawn
from benchmark_assets.pairwise.matches import Comparisons, hidden_pairs, partial_to
from benchmark_assets.pairwise.rubric import RubricVotes
from benchmark_assets.studies.study import CALLS, Item
from tests.pairwise.arena import OUTPUTS, SET, Arena, write_judges
from tests.provider.server import Server, dumps
from tests.support import PASSAGES

MINE = pl.DataFrame({"model": ["ours"] * 3, "passage": PASSAGES})
HALF: dict[str, Any] = {"examination": {"passages": 9, "hidden": 0.5}}


def texts(item: Item) -> tuple[str, str]:
    return item.content["translation_a"], item.content["translation_b"]


def sound(item: Item) -> str:
    """The letter of the text that belongs to the passage; of the anchor's if both do, and of the whole text if one of
    them is damaged."""
    other = "B" if item.key["shown"] == "A" else "A"
    return str(item.key["shown"]) if item.kind == "rival" else other


def own(item: Item) -> str:
    """The letter of the text that the model wrote, for whatever passage."""
    return str(item.key["shown"])


def compared(arena: Arena, server: Server, choose: Callable[[Item], str]) -> list[Item]:
    """Compare the model's outputs, and return the hidden sentinels."""
    arena.examinable(**HALF)
    arena.examined("comparison", comparer="passed")
    study = Comparisons(arena.warehouse, arena.systems)
    items = study.plan(MINE).items
    sentinels = [*study.hidden(items)]
    replies = {"|".join(texts(item)): [dumps({"answer": choose(item)})] for item in [*items, *sentinels]}
    server.configure(answer="judge", judgements=replies)
    arena.row("comparison")
    arena.materialize(["pairwise_score"], "ours", "ours")
    return sentinels


def test_they_are_asked_beside_the_items_and_enter_no_score(arena: Arena, server: Server) -> None:
    sentinels = compared(arena, server, sound)
    asked = Counter(item.kind for item in sentinels)
    assert {"misplaced", "rival"} <= set(asked)
    assert len(arena.warehouse.read("comparison")) == len(arena.warehouse.read(CALLS)) == 18
    assert len(server.log()) == 18 + len(sentinels)
    rows = arena.warehouse.read("hidden_sentinel")
    assert len(rows) == len(sentinels)
    assert rows["right"].all()
    shown = at_work(arena.warehouse).select("judge", "kind", "sentinels", "right")
    assert sorted(shown.rows()) == [("comparer", kind, number, 1.0) for kind, number in sorted(asked.items())]
    assert set(rows["call"]) <= set(arena.provider.ledger.attempts()["key"])
    assert partial_to(arena.warehouse, MINE) == {}
    pairs = hidden_pairs(arena.warehouse, MINE)
    assert pairs.select(pl.col("same", "right").all()).row(0) == (True, True)
    assert (arena.warehouse.read("pairwise_score")["judge_standing"] == "passed").all()
    for item in (item for item in sentinels if item.kind in ("misplaced", "rival")):
        real = texts(item.facts)
        other = next(text for text, former in zip(texts(item), real, strict=True) if text != former)
        assert sum(text != former for text, former in zip(texts(item), real, strict=True)) == 1
        assert (other in OUTPUTS.values()) == (item.kind == "misplaced")


def test_a_judge_that_is_partial_to_a_model_gives_it_no_score(arena: Arena, server: Server) -> None:
    compared(arena, server, own)
    row = arena.warehouse.read("pairwise_score").filter(slice="overall").row(0, named=True)
    assert (row["judge_standing"], row["lt"], row["win_rate"]) == ("failed", None, None)
    assert "preferred the model's text for another passage" in row["problem"]
    assert partial_to(arena.warehouse, MINE)["ours", SET].verdict == "failed"


def test_without_an_examination_nothing_is_hidden(arena: Arena) -> None:
    study = Comparisons(arena.warehouse, arena.systems)
    assert study.hidden(study.plan(MINE).items) == []


def test_a_judge_of_single_texts_is_asked_about_worse_ones_and_again(arena: Arena, server: Server) -> None:
    arena.examinable(examination={"passages": 9, "hidden": 0.5}, rubric={"judges": ["comparer", "marker"]})
    arena.examined("rubric_vote", comparer="passed", marker="passed")
    study = RubricVotes(arena.warehouse, arena.systems)
    items = study.plan(MINE).items
    sentinels = [*study.hidden(items)]
    marks = {"misplaced": 1, "damaged": 2, "repeat": 4}
    assert {item.kind for item in sentinels} <= {*marks}
    replies = {
        item.content["candidate"]: [dumps({"mark": marks.get(item.kind, 4), "perfect": False, "justification": "-"})]
        for item in [*sentinels, *items]
    }  # fmt: skip
    server.configure(answer="judge", judgements=replies)
    found = study.compute(MINE, "run").tables[hidden.TABLE]
    assert len(found) == len(sentinels) > 0
    whole = {item.content["candidate"] for item in items}
    for item in sentinels:  # a text of another passage has the mark of its own passage here
        row = found.filter(passage=item.partition[1], kind=item.kind).row(0, named=True)
        assert row["right"] is (item.kind == "repeat" or item.content["candidate"] not in whole)


@given(st.sampled_from([0.0, 0.05, 0.2]), st.booleans())
def test_the_share_is_drawn_whatever_else_is_asked(share: float, pairs: bool) -> None:
    found = Counter(drawn(str(number), pairs, share) for number in range(4000))
    for kind, part in SHARES[pairs].items():
        expected = 4000 * share * part
        assert abs(found[kind] - expected) <= 5 * expected**0.5


def test_a_judge_that_turns_is_stopped_for_good_and_publishes_nothing(arena: Arena, server: Server) -> None:
    """It answers A from the first question on, although it has passed its examination."""
    anchors = {f"anchor{number}": dict.fromkeys(OUTPUTS, f"Text {number}.") for number in range(30)}
    arena.base_set(anchors=anchors)
    arena.examined("comparison", comparer="passed")
    server.configure(answer="judge", judgements={"comparer": [dumps({"answer": "A"})]})
    with pytest.raises(Exception, match="is asked no more"):
        arena.row("comparison")
    asked = len(server.log())
    assert stops(arena.warehouse, "comparison")["judge"].to_list() == ["comparer"]
    arena.row("comparison")
    assert len(server.log()) == asked
    arena.materialize(["pairwise_score"], "ours", "ours")
    row = arena.warehouse.read("pairwise_score").filter(slice="overall").row(0, named=True)
    assert (row["judge_standing"], row["win_rate"]) == ("failed", None)
    assert "the text shown as A in too many" in row["problem"]
    write_judges(arena.registry, arena.url, temperature=0.5)  # another judge
    server.configure(answer="judge", judgements={"comparer": [dumps({"answer": "B"}), dumps({"answer": "A"})]})
    study = Comparisons(arena.warehouse, arena.systems)
    assert study.cost(MINE) is not None
