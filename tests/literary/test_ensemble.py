"""The ensemble at a real server and in a real warehouse: who is asked what about which output, and what it comes to."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due
from benchmark_assets.corpus.description import Literary, Seat
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.literary.ensemble import (
    AspectVotes,
    alike,
    balances,
    seat_votes,
    verdicts,
    winners,
)
from benchmark_assets.literary.exhibits import of_scores
from benchmark_assets.literary.pairs import export_pairs, import_pairs
from benchmark_assets.studies.study import CALLS, Item
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.vital_signs import assets as vital_signs
from resources.digest import digest
from resources.keys import KEYS
from resources.warehouse import Warehouse
from tests.literary.conftest import ENSEMBLE, HUMAN, MINE, OURS, PASSAGES, SOURCES, Salon, prefers, sided
from tests.provider.server import Server
from tests.support import CONSTRUCTION, CORE, LetterEmbedder, materialized, write_outputs

SEATS = 4
VERSUS = ("aspect_vote", "head_to_head")


def voted(salon: Salon, outputs: pl.DataFrame = MINE) -> Computed:
    return AspectVotes(salon.warehouse, salon.systems).compute(outputs, "run")


def rows(computed: Computed, *columns: str) -> list[tuple[Any, ...]]:
    return computed.tables["aspect_vote"].select(columns).rows()


def fingerprints(salon: Salon) -> list[str | None]:
    return AspectVotes(salon.warehouse, salon.systems).settings(MINE)["settings"].to_list()


def errors(computed: Computed) -> dict[str, str]:
    assert computed.failures is not None
    return dict(computed.failures.select("passage", "error").iter_rows())


def votes(*given: tuple[str, str, str, str | None], passage: str = "novels/botchan:1") -> pl.DataFrame:
    """Rows of `aspect_vote` of one output: judge, aspect, side, what is better."""
    return pl.DataFrame(
        [("ours", passage, *each) for each in given],
        schema=dict.fromkeys(["model", "passage", "judge", "aspect", "shown", "better"], pl.String), orient="row",
    )  # fmt: skip


def ensemble(*weights: float, margin: float = 0) -> Literary:
    """Seats of the judges a, b, c, … on meaning and prose in turn."""
    seats = [
        Seat(judge="abcdef"[number], aspect=("meaning", "prose")[number % 2], weight=weight)
        for number, weight in enumerate(weights)
    ]
    return Literary(human="morri", ensemble=tuple(seats), margin=margin)


# Asking.


def test_each_seat_votes_in_both_orders_and_names_the_machine_or_the_human(salon: Salon, server: Server) -> None:
    server.configure(
        answer="judge",
        keep_bodies=True,
        judgements=sided({"exact|meaning|botchan:1": "machine", "stylist|prose|botchan:1": "human"})
        | {f"exact|{OURS['dream:1']}|{HUMAN['dream:1']}": [prefers("A")]}
        | {f"exact|{HUMAN['dream:1']}|{OURS['dream:1']}": [prefers("A")]},
        by_key={f"stylist|{OURS['botchan:2']}|{HUMAN['botchan:2']}": "refusal"},
    )
    computed = voted(salon)
    found = {row[:-1]: row[-1] for row in rows(computed, "passage", "judge", "aspect", "shown", "better")}
    assert len(found) == len(PASSAGES) * 4
    assert [found["novels/botchan:1", "exact", "meaning", side] for side in "AB"] == ["machine", "machine"]
    assert [found["novels/botchan:1", "stylist", "prose", side] for side in "AB"] == ["human", "human"]
    assert [found["novels/dream:1", "exact", "meaning", side] for side in "AB"] == ["machine", "human"]
    assert [found["novels/botchan:2", "stylist", "prose", side] for side in "AB"] == [None, "unsure"]
    refusals = computed.tables["aspect_vote"].drop_nulls("abstention")
    assert refusals["abstention"].to_list() == ["refused: I cannot help with that."]
    assert len(computed.notes[CALLS]) == 12
    items = {
        json.loads(seen.body["messages"][-1]["content"])["source"]: seen.body for seen in server.log() if seen.body
    }
    first, second = (json.loads(items[SOURCES[each]]["messages"][-1]["content"]) for each in ("botchan:1", "botchan:2"))
    assert (first["previous"], first["next"], first["glossary"]) == ("前", "後", [])
    term = {"term": "清", "translation": "Kiyo", "gender": "feminine"}
    assert (second["previous"], second["next"], second["glossary"]) == ("", "", [term])

    server.clear()
    assert voted(salon).tables["aspect_vote"].equals(computed.tables["aspect_vote"])
    assert server.log() == []


def test_in_one_order_all_seats_see_the_output_on_the_same_side(salon: Salon, server: Server) -> None:
    salon.describe(orders="one")
    found = rows(voted(salon), "passage", "shown")
    assert len(found) == len(server.log()) == len(PASSAGES) * 2
    assert len(set(found)) == len(PASSAGES)


def test_texts_that_need_no_judge_are_not_shown_to_one(salon: Salon, server: Server) -> None:
    """Two judgements are left: those of the one output with words of its own."""
    salon.outputs("ours", OURS | {"botchan:1": " \n", "botchan:2": f" {HUMAN['botchan:2']}\n".replace(" ", "  ")})
    said = AspectVotes(salon.warehouse, salon.systems).cost(MINE)
    assert said is not None
    assert said.calls == 4
    computed = voted(salon)
    decided = {(row[0], row[1]) for row in rows(computed, "passage", "better")}
    assert decided >= {("novels/botchan:1", "human"), ("novels/botchan:2", "unsure")}
    assert len(decided) == 3
    assert len(server.log()) == len(computed.notes[CALLS]) == 4


def test_a_refusal_to_translate_loses(salon: Salon, server: Server) -> None:
    refused = {"model": "silent", "passage": PASSAGES[0], "words": "I will not."}
    salon.store("refusal", [refused], "model", "passage")
    registry = json.loads(salon.registry.read_text())
    salon.registry.write_text(json.dumps(registry | {"families": {"silent": "other"}}))
    computed = voted(salon, pl.DataFrame([refused]).select("model", "passage"))
    assert rows(computed, "better", "justification") == [("human", "the output is empty")] * 4
    assert server.log() == []


@given(st.lists(st.text(st.sampled_from("ab"), min_size=1), min_size=1))
def test_white_space_makes_no_other_text(words: list[str]) -> None:
    assert alike(" ".join(words), "\n" + "\u3000 ".join(words))
    assert alike(" ".join(words) + ".", "“" + " ".join(words).upper().lower() + "” …")
    assert not alike(" ".join(words), " ".join([*words, "c"]))


def test_a_judge_that_never_answers_abstains_and_a_call_that_fails_fails_its_output_alone(
    salon: Salon, server: Server
) -> None:
    never = {f"exact|meaning|{OURS['botchan:1']}|{HUMAN['botchan:1']}": [prefers("C")]}
    fails = {f"stylist|{HUMAN['dream:1']}|{OURS['dream:1']}": "bad_request"}
    server.configure(answer="judge", judgements=never, by_key=fails)
    computed = voted(salon)
    assert len(server.log()) == 12 + 1  # an equal reply at temperature 0 ends the asking
    silent = computed.tables["aspect_vote"].filter(pl.col("better").is_null())
    assert silent.select("passage", "judge", "abstention").rows() == [
        ("novels/botchan:1", "exact", "better 'C' is not A, B or unsure")
    ]
    assert list(errors(computed)) == ["novels/dream:1"]
    assert errors(computed)["novels/dream:1"].startswith("stylist on prose: rejected")
    assert set(computed.tables["aspect_vote"]["passage"]) == set(PASSAGES[:2])


def test_nobody_votes_without_an_ensemble_or_a_complete_human_translation(salon: Salon) -> None:
    cut = {"passage": PASSAGES[0], "translator": "morri", "text": "Because", "complete": False}
    other = {"passage": PASSAGES[0], "translator": "other", "text": "Because", "complete": True}
    salon.store("reference", [cut, other], "passage", "translator")
    assert AspectVotes(salon.warehouse, salon.systems).settings(MINE)["passage"].to_list() == PASSAGES[1:]
    salon.describe(ensemble=[])
    assert AspectVotes(salon.warehouse, salon.systems).settings(MINE).is_empty()
    assert AspectVotes(salon.warehouse, salon.systems).cost(MINE) is None


def test_what_determines_votes(salon: Salon) -> None:
    """Not the weights and the margin, which say only what votes amount to."""
    before = fingerprints(salon)
    salon.describe(ensemble=[{**ENSEMBLE[1], "weight": 3}, ENSEMBLE[0]], margin=0.5)
    assert fingerprints(salon) == before
    seen = {before[0]}
    for change in ({"orders": "one"}, {"ensemble": ENSEMBLE[:1]}):
        salon.describe(**change)
        seen.add(fingerprints(salon)[0])
    salon.describe()
    salon.judges(temperature=0.7)
    seen.add(fingerprints(salon)[0])
    assert len(seen) == 4
    assert None not in seen
    gone = MINE.with_columns(model=pl.lit("gone"))
    assert AspectVotes(salon.warehouse, salon.systems).settings(gone)["settings"].to_list() == [None] * 3


# From the outputs to the score.


def test_weights_ask_nobody_again_and_people_calibrate(
    warehouse: Warehouse, instance: dg.DagsterInstance, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    salon = Salon(tmp_path, warehouse, server.url)
    monkeypatch.setenv("VARIORUM_MODELS", str(salon.registry))
    salon.describe()
    resources = {"warehouse": warehouse, "provider": salon.provider, "embedder": LetterEmbedder()}
    definitions = build_definitions(rooms=[*CORE, vital_signs], resource_overrides=resources)
    runs.look(definitions, instance)
    materialized(definitions, [*CONSTRUCTION, "glossary", "reference"], PASSAGES[0], PASSAGES[-1])
    import_outputs(warehouse, write_outputs(tmp_path / "ours.jsonl", OURS), "novels", "ours")
    instance.add_dynamic_partitions("model", ["ours"])
    row = f"ours|{PASSAGES[0]}", f"ours|{PASSAGES[-1]}"
    said = {"exact|meaning": "machine", "stylist|prose": "human"}
    judgements = sided({f"{seat}|{each}": better for seat, better in said.items() for each in SOURCES})
    server.configure(answer="judge", judgements=judgements)
    materialized(definitions, ["model_output", "aspect_vote", "head_to_head"], *row)
    assert set(warehouse.read("head_to_head")["verdict"]) == {"unsure"}
    assert len(server.log()) == len(warehouse.read("aspect_vote")) == 12
    server.clear()
    salon.describe(ensemble=[{**ENSEMBLE[0], "weight": 2}, ENSEMBLE[1]])
    asked_anew, counted_anew = (due(definitions, instance, dg.AssetKey(name)).rows for name in VERSUS)
    assert (len(asked_anew), len(counted_anew)) == (0, 3)
    materialized(definitions, ["head_to_head"], *row)
    materialized(definitions, ["literary_score"], "ours", "ours")
    scored = warehouse.read("literary_score", columns=["aspect", "score", "signature"])
    assert dict(scored.select("aspect", "score").rows()) == {"": 100, "meaning": 100, "prose": 0}
    assert all("on meaning × 2, stylist" in signature for signature in scored["signature"])
    assert server.log() == []
    registry = salon.registry.read_text()
    changed = json.loads(registry)
    del changed["judges"]["stylist"]
    salon.registry.write_text(json.dumps(changed))
    materialized(definitions, ["literary_score"], "ours", "ours")
    assert warehouse.read("literary_score", columns=["aspect", "score", "signature"]).equals(scored)
    salon.registry.write_text(registry)
    works = of_scores(warehouse)["works"]
    assert [line.strip("| ").split(" | ") for line in works.splitlines()[2:]] == [
        ["novels", "botchan", "1", "2"], ["novels", "dream", "1", "1"],
    ]  # fmt: skip

    for name in ("ann", "ben"):
        file = tmp_path / f"{name}.csv"
        export_pairs(warehouse, file, "novels", name)
        with file.open(encoding="utf-8-sig", newline="") as sheet:
            answers = list(csv.DictReader(sheet))
        for each in answers:
            each["better"] = "A" if each["A"] in OURS.values() else "B"
        file.write_text("\n".join(["pair,better", *(f"{each['pair']},{each['better']}" for each in answers)]))
        assert import_pairs(warehouse, file).taken == 3
    assert len(due(definitions, instance, dg.AssetKey("ensemble_calibration")).rows) == 1
    job = definitions.resolve_implicit_global_asset_job_def()
    job.get_subset(asset_selection={dg.AssetKey("ensemble_calibration")}).execute_in_process(instance=instance)
    accuracy = warehouse.read("ensemble_calibration").select("kind", "judge", "accuracy", "expected").rows()
    assert set(accuracy) == {
        ("seat", "exact", 1, 1), ("seat", "stylist", 0, 0), ("equal weights", "", None, 0.5),
        ("best weights", "", 1, 1), ("weights in use", "", 1, 1),
    }  # fmt: skip

    seats = [{"judge": "exact", "aspect": "meaning"}, {"judge": "stylist", "aspect": "prose"},
             {"judge": "stylist", "aspect": "voice"}]  # fmt: skip
    salon.describe(ensemble=seats)
    stopped = {each: f"{text}." for each, text in HUMAN.items()}
    import_outputs(warehouse, write_outputs(tmp_path / "stopped.jsonl", stopped), "novels", "ours")

    def parity() -> list[tuple[str, float | None, str]]:
        materialized(definitions, ["model_output", "aspect_vote", "head_to_head"], *row)
        materialized(definitions, ["literary_score"], "ours", "ours")
        return warehouse.read("literary_score", columns=["aspect", "score", "judge_standing"]).rows()

    assert sorted(parity()) == [(aspect, 50, "not examined") for aspect in ("", "meaning", "prose", "voice")]
    path = tmp_path / "novels" / "corpus.yaml"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"examination": {"passages": 3}}), encoding="utf-8")
    register(warehouse, path)
    items = vital_signs.Sentinels(warehouse, salon.systems).plan(WHOLE).items
    server.configure(answer="judge", judgements={
        f"{item.key['judge']}|{item.key['aspect']}|{item.content['translation_a']}|{item.content['translation_b']}":
        [prefers(BAD_SEATS[str(item.key["aspect"])](item))] for item in items
    })  # fmt: skip
    examination = {dg.AssetKey(name) for name in ("sentinel", "judge_report", "judge_verdict")}
    job.get_subset(asset_selection=examination).execute_in_process(instance=instance)
    assert sorted(parity()) == [(aspect, None, "failed") for aspect in ("", "meaning", "prose", "voice")]
    assert "stylist (voice) failed its examination" in str(warehouse.read("literary_score")["problem"].to_list())


def _length_led(item: Item, margin: float) -> str:
    """The letter of the longer text, or `unsure` where the lengths differ by this share at most."""
    a, b = len(item.content["translation_a"]), len(item.content["translation_b"])
    return "A" if a > (1 + margin) * b else "B" if b > (1 + margin) * a else "unsure"


WHOLE = pl.DataFrame({key: [""] for key in KEYS})
BAD_SEATS: dict[str, Callable[[Item], str]] = {
    "meaning": lambda item: ("A", "B", "unsure")[int(digest(item.content), 16) % 3],
    "prose": lambda item: _length_led(item, 0.2),
    "voice": lambda item: _length_led(item, 0),
}
"""A random seat, one that is led by length, and one that always prefers the longer text, by aspect."""


# What votes come to.


def test_a_seat_that_changes_its_mind_with_the_order_says_nothing() -> None:
    given = votes(
        ("a", "meaning", "A", "machine"), ("a", "meaning", "B", "human"),
        ("b", "prose", "A", "machine"), ("b", "prose", "B", "unsure"),
        ("c", "meaning", "A", None), ("c", "meaning", "B", "human"), ("d", "prose", "A", None),
    )  # fmt: skip
    assert seat_votes(given)["vote"].to_list() == [None, 0.5, -1, None]
    (row,) = verdicts(given, ensemble(1, 1, 1, 1)).to_dicts()
    assert (row["verdict"], row["points"], row["seats"], row["abstained"]) == ("human", 0, 2, 2)
    assert row["balance"] == pytest.approx(-0.5 / 2)
    assert verdicts(given, ensemble(1, 1, 1, 1), "prose")["verdict"].to_list() == ["machine"]
    assert verdicts(given, ensemble(1, 1, 0.1, 1))["verdict"].to_list() == ["machine"]
    assert verdicts(given, ensemble(1, 1, 1, 1, margin=0.3))["verdict"].to_list() == ["unsure"]


def test_seats_that_always_answer_a_give_no_score() -> None:
    given = votes(*((judge, "meaning", side, better) for judge in "ac" for side, better in
                    (("A", "machine"), ("B", "human"))))  # fmt: skip
    assert verdicts(given, ensemble(1, 1, 1)).is_empty()


def test_an_output_on_which_all_abstained_has_no_verdict_and_seats_of_the_past_do_not_count() -> None:
    given = votes(("a", "meaning", "A", None), ("b", "prose", "A", "machine"))
    assert verdicts(given, ensemble(1)).is_empty()
    assert verdicts(given, ensemble(1, 1))["verdict"].to_list() == ["machine"]


def test_rounding_decides_nothing() -> None:
    given = votes(("a", "meaning", "A", "machine"), ("b", "prose", "A", "machine"), ("c", "meaning", "A", "human"))
    assert 0.1 + 0.2 - 0.3 > 0
    assert verdicts(given, ensemble(0.1, 0.2, 0.3))["verdict"].to_list() == ["unsure"]


CAST = nps.arrays(np.float64, (3, SEATS), elements=st.sampled_from([-1, -0.5, 0, 0.5, 1, np.nan]))
GIVEN = nps.arrays(np.float64, SEATS, elements=st.sampled_from([0, 0.5, 1, 2, 3]))


@given(CAST, GIVEN, st.floats(0, 0.9))
def test_balances_are_fair(cast: Any, weights: Any, margin: float) -> None:
    """Sides exchanged give the reverse; the scale of weights is none; no vote and no weight count for nothing."""
    balance = balances(cast, weights)
    assert (np.abs(balance) <= 1).all()
    assert (balances(-cast, weights) == -balance).all()
    assert np.allclose(balances(cast, 2 * weights), balance)
    assert (winners(-balance, margin) == -winners(balance, margin)).all()
    without = np.where(weights > 0, cast, np.nan)
    assert np.allclose(balances(without, weights), balance)
    assert np.allclose(balances(cast, np.stack([weights, weights])), [balance, balance])
    silent = np.isnan(without).all(axis=1)
    assert (balance[silent] == 0).all()
