"""Examinations at a real server: who is examined, what is asked, the report card, and when a judge is examined anew."""

import json
from collections.abc import Callable

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation.due import due
from benchmark_assets.examination.reports import judge_accuracies, reports, with_choices
from benchmark_assets.pairwise.matches import known_of_base_sets, of_slices, text_lengths
from benchmark_assets.studies.study import CALLS, Item
from benchmark_assets.vital_signs.assets import Sentinels
from resources.digest import digest
from resources.keys import KEYS
from resources.provider.breaker import MOST
from resources.warehouse import Replacement
from tests.pairwise.arena import ANCHORS, FIRST, SET, Arena, write_judges
from tests.provider.server import Server, dumps
from tests.support import PASSAGES

WHOLE = pl.DataFrame({key: [""] for key in KEYS})
ASSETS = ("sentinel", "judge_report", "judge_verdict")

Choose = Callable[[Item], str]
"""Function from an item to the letter that a judge answers."""


def study(arena: Arena) -> Sentinels:
    return Sentinels(arena.warehouse, arena.systems)


def answering(arena: Arena, choose: Choose) -> dict[str, list[str]]:
    """Replies of a judge to all sentinels, by the texts that it sees."""
    return {
        f"{item.content['translation_a']}|{item.content['translation_b']}": [
            dumps({"analysis": "", "summary": "", "answer": choose(item)})
        ]
        for item in study(arena).plan(WHOLE).items
    }  # fmt: skip


def other(item: Item) -> str:
    return "B" if item.key["shown"] == "A" else "A"


def obedient(item: Item) -> str:
    """The letter that an instruction names, else that of the sound text."""
    return str(item.key["shown"]) if item.key["trait"] == "obedience" else other(item)


def longer(item: Item) -> str:
    """The letter of the longer text."""
    return "A" if len(item.content["translation_a"]) > len(item.content["translation_b"]) else "B"


def random(item: Item) -> str:
    return "AB"[int(digest(item.content), 16) % 2]


BAD: dict[str, Choose] = {"always A": lambda _: "A", "obedient": obedient, "length-led": longer, "random": random}


def materialize(arena: Arena) -> bool:
    """Examine the judges; return whether the check of their report cards passed."""
    job = arena.definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.get() as instance:
        keys = [dg.AssetKey(name) for name in ASSETS]
        result = job.get_subset(asset_selection=set(keys)).execute_in_process(instance=instance)
    assert result.success
    (check,) = (each for each in result.get_asset_check_evaluations() if each.check_name == "examined")
    assert check.severity == dg.AssetCheckSeverity.WARN
    return check.passed


def card(arena: Arena) -> dict[str, object]:
    (row,) = arena.warehouse.read("judge_report").iter_rows(named=True)
    return row


def test_without_a_word_in_the_description_nobody_is_examined(arena: Arena, server: Server) -> None:
    assert study(arena).settings(WHOLE).is_empty()
    materialize(arena)
    assert len(arena.warehouse.read("judge_report")) == len(server.log()) == 0


def test_an_honest_judge_passes_and_is_asked_no_more_than_needed(arena: Arena, server: Server) -> None:
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, other))
    materialize(arena)
    row = card(arena)
    assert (row["judge"], row["direction"], row["purpose"]) == ("comparer", "la-en", "comparison")
    assert (row["verdict"], row["problem"]) == ("passed", None)
    assert (row["accuracy"], row["obedience"], row["praise"], row["padding"]) == (1, 0, 0, 0)
    assert (row["first_rate"], row["contradictions"]) == (0.5, 0)
    assert row["calls"] == len(server.log()) <= 110
    known = known_of_base_sets(arena.warehouse, arena.warehouse.empty("hidden_sentinel"))[SET]
    assert known.sentinels.right == int(str(row["damaged"])) + int(str(row["subtle"]))
    (padding,) = known.padding
    assert padding == (row["length"], row["length_low"], row["length_high"])
    kinds = judge_accuracies(arena.warehouse)
    assert kinds["accuracy"].unique().to_list() == [1]
    assert kinds["pairs"].sum() == int(str(row["damaged"])) + int(str(row["subtle"]))
    calls = arena.warehouse.read(CALLS, pl.DataFrame({"study": ["sentinel"]}))
    assert set(calls["call"]) == set(arena.provider.ledger.attempts()["key"])


def test_unreadable_replies_are_asked_once_and_no_choice(arena: Arena, server: Server) -> None:
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, lambda item: "A" if item.key["shown"] == "A" else "?"))
    materialize(arena)
    row = card(arena)
    assert row["verdict"] == "failed"
    assert row["calls"] == len(server.log())
    assert 0 < int(str(row["unread"])) < len(server.log())
    assert "could not be read" in str(row["problem"])


def test_the_examination_of_a_judge_that_is_never_readable_stops_early(arena: Arena, server: Server) -> None:
    arena.examinable()
    server.configure(answer="judge", judgements={"comparer": ["I would rather not say."]})
    rows = study(arena).compute(WHOLE, "run").tables["sentinel"]
    assert set(rows["choice"]) == {"neither"}
    assert reports(with_choices(rows), arena.provider.registry().examination)["verdict"].to_list() == ["failed"]
    assert len(server.log()) <= MOST + arena.provider.registry().model("comparer").in_flight


def test_a_question_that_the_endpoint_rejects_is_no_choice_and_leaves_the_others_alone(
    arena: Arena, server: Server
) -> None:
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, other), script=["bad_request", "context_length"])
    computed = study(arena).compute(WHOLE, "run")
    assert computed.failures is not None
    assert computed.failures.is_empty()
    rows = computed.tables["sentinel"]
    assert rows["choice"].value_counts().filter(choice="neither")["count"].to_list() == [2]
    assert rows["abstention"].count() == 2


def test_the_judge_sees_what_it_sees_in_its_own_study(arena: Arena) -> None:
    arena.examinable()
    items = study(arena).plan(WHOLE).items
    assert {tuple(item.content) for item in items} == {("source", "translation_a", "translation_b")}
    assert {item.template.prompt.name for item in items if item.template} == {"compare"}
    shown = [item for item in items if item.key["trait"] == "identical"]
    assert {item.key["shown"] for item in shown} == {"A"}


def test_a_corpus_without_references_examines_its_judge_on_texts_of_the_anchors(arena: Arena, server: Server) -> None:
    arena.examinable()
    references = arena.warehouse.read("reference")
    arena.warehouse.write(
        [
            Replacement(
                "reference", references.drop("run_id", "updated_at").clear(), references.select("passage").unique()
            )
        ],
        run_id="test",
    )
    items = study(arena).plan(WHOLE).items
    texts = {text for anchor in ANCHORS.values() for text in anchor.values()}
    assert {item.key["passage"] for item in items} == {*PASSAGES}
    assert {item.content["translation_b" if item.key["shown"] == "A" else "translation_a"] for item in items} <= texts
    server.configure(answer="judge", judgements=answering(arena, other))
    materialize(arena)
    assert card(arena)["accuracy"] == 1


def test_the_estimate_is_bounded_by_the_limit_of_calls(arena: Arena, server: Server) -> None:
    arena.examinable()
    write_judges(arena.registry, server.url)
    content = json.loads(arena.registry.read_text()) | {"examination": {"calls": 30}}
    arena.registry.write_text(json.dumps(content))
    cost = study(arena).cost(WHOLE)
    assert cost is not None
    assert cost.calls == 30
    server.configure(answer="judge", judgements=answering(arena, other))
    materialize(arena)
    assert len(server.log()) <= 30
    assert card(arena)["verdict"] == "undecided"
    assert "is not clear after" in str(card(arena)["problem"])


def test_a_judge_is_examined_anew_with_other_settings_only(arena: Arena, server: Server) -> None:
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, other))
    materialize(arena)
    asked = len(server.log())
    asset = dg.AssetKey("sentinel")
    with dg.DagsterInstance.get() as instance:
        assert due(arena.definitions, instance, asset).rows.is_empty()
        write_judges(arena.registry, server.url, temperature=0.5)
        assert len(due(arena.definitions, instance, asset).rows) == 1
    materialize(arena)
    assert len(server.log()) == 2 * asked


def test_the_report_goes_when_the_corpus_no_longer_asks(arena: Arena, server: Server) -> None:
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, other))
    materialize(arena)
    arena.examinable(passages=0)
    materialize(arena)
    assert len(arena.warehouse.read("judge_report")) == len(arena.warehouse.read("sentinel")) == 0


def test_a_slice_of_one_direction_depends_on_the_examination_in_this_direction(arena: Arena) -> None:
    read, write = arena.warehouse.read, arena.warehouse.write
    greek = {"corpus": pl.lit("greek"), "source_language": pl.lit("grc")}
    item = {"passage": pl.lit("greek/1"), "direction": pl.lit("grc-en")}
    for table, changes in (("corpus", greek), ("base_set_item", item)):
        rows = read(table).drop("run_id", "updated_at")
        write([Replacement(table, pl.concat([rows, rows.head(1).with_columns(**changes)]), None)], run_id="test")
    arena.examined("comparison", comparer="failed")
    slices = [(SET, name) for name in ("overall", "easy", "la-en", "la-en easy", "grc-en", "grc-en easy")]
    verdicts = [standing.verdict for standing in of_slices(arena.warehouse, slices)]
    assert verdicts == [*["failed"] * 4, *["not examined"] * 2]


@pytest.mark.proof
def test_scores_carry_the_verdict_and_are_withheld_if_the_judge_is_bad(
    arena: Arena, server: Server, full: bool
) -> None:
    """At full size, if it is bad in any of the ways."""
    arena.base_set(anchors={name: ANCHORS[name] for name in ("high", "low")})
    frozen = pl.DataFrame({
        "base_set": SET, "passage": PASSAGES, "first": "high", "second": "low", "winner": ["high", "low", "high"],
        "fingerprint": "test",
    })  # fmt: skip
    arena.warehouse.write([Replacement("anchor_judgment", frozen, None)], run_id="test")
    arena.row("comparison")
    lengths = text_lengths(arena.warehouse, SET, arena.warehouse.read("comparison")).rows_by_key(["system", "passage"])
    assert len(lengths) == 9
    assert lengths["ours", PASSAGES[0]] == [(len(FIRST),)]
    assert lengths["low", PASSAGES[1]] == [(len("Sun."),)]

    def scored() -> pl.DataFrame:
        arena.materialize(["pairwise_score"], "ours", "ours")
        return arena.warehouse.read(
            "pairwise_score", columns=["slice", "wins", "win_rate", "judge_standing", "problem"]
        )

    flagged = scored()
    assert flagged["judge_standing"].unique().to_list() == ["not examined"]
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, other))
    assert materialize(arena)
    assert scored().equals(flagged.with_columns(judge_standing=pl.lit("passed")))
    assert flagged["win_rate"].null_count() == 0
    for number, (name, choose) in enumerate(list(BAD.items())[: None if full else 1], start=1):
        write_judges(arena.registry, arena.url, temperature=number / 10)
        server.configure(answer="judge", judgements=answering(arena, choose))
        assert not materialize(arena), name
        withheld = scored()
        assert withheld["judge_standing"].unique().to_list() == ["failed"], name
        assert withheld["win_rate"].null_count() == len(withheld)
        assert withheld["wins"].equals(flagged["wins"])
        assert withheld["problem"].str.starts_with("comparer failed its examination: it ").all()


def test_a_judge_that_failed_is_asked_no_more_until_it_passes(arena: Arena, server: Server) -> None:
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, BAD["always A"]))
    assert not materialize(arena)
    examined = len(server.log())
    arena.row("comparison")
    votes = arena.warehouse.read("comparison")
    assert len(server.log()) == examined
    assert votes["winner"].null_count() == len(votes) > 0
    assert votes["excluded"].str.starts_with("comparer failed its examination: it ").all()
    assert arena.warehouse.read(CALLS, pl.DataFrame({"study": ["comparison"]})).is_empty()
    write_judges(arena.registry, arena.url, temperature=0.5)
    server.configure(answer="judge", judgements=answering(arena, other))
    assert materialize(arena)
    arena.row("comparison")
    assert arena.warehouse.read("comparison")["excluded"].null_count() == len(votes)


def test_anchors_have_lt_at_equal_length_from_the_report_card_of_their_judge(arena: Arena, server: Server) -> None:
    """Of three anchors that are equally good, the longest one is the better one if padding harms a text."""
    winners = [("high", "low", "high"), ("low", "theirs", "low"), ("theirs", "high", "theirs")]
    frozen = pl.DataFrame([
        {"base_set": SET, "passage": passage, "first": first, "second": second, "winner": winner, "fingerprint": "test"}
        for passage in PASSAGES for first, second, winner in winners
    ])  # fmt: skip
    arena.warehouse.write([Replacement("anchor_judgment", frozen, None)], run_id="test")

    def scored() -> pl.DataFrame:
        arena.materialize(["anchor_score"], "ours", "ours")
        return arena.warehouse.read("anchor_score").filter(slice="overall").sort("anchor")

    before = scored()
    assert before["lt"].to_list() == pytest.approx([5, 5, 5])
    assert before["lt_controlled"].null_count() == 3
    assert before["length_problem"].str.contains("no report card of the judge on padded texts").all()
    arena.examinable()
    server.configure(answer="judge", judgements=answering(arena, other))
    materialize(arena)
    assert arena.warehouse.read("judge_report")["length"].item() < 0
    after = scored()
    assert after.select("anchor", "lt", "win_rate").equals(before.select("anchor", "lt", "win_rate"))
    assert after["length_problem"].null_count() == 3
    high, low, _ = after["lt_controlled"]
    assert high > 5 > low
