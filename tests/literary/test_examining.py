"""Examinations of seats: what a seat sees, the damage that concerns its aspect, and the verdict on an ensemble."""

import json

import polars as pl

from benchmark_assets.corpus.description import ASPECTS
from benchmark_assets.corpus.registry import register
from benchmark_assets.examination.sentinels import DAMAGES
from benchmark_assets.literary.ensemble import CONCERNED, AspectVotes, of_ensembles
from benchmark_assets.vital_signs.assets import Sentinels
from resources.keys import KEYS
from tests.literary.conftest import MINE, Salon, prefers
from tests.provider.server import Server

WHOLE = pl.DataFrame({key: [""] for key in KEYS})


def study(salon: Salon) -> Sentinels:
    """The study, once the corpus asks for an examination."""
    path = salon.folder / "novels" / "corpus.yaml"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"examination": {"passages": 3}}), encoding="utf-8")
    register(salon.warehouse, path)
    return Sentinels(salon.warehouse, salon.systems)


def test_a_seat_sees_what_it_sees_when_it_votes(salon: Salon) -> None:
    votes = AspectVotes(salon.warehouse, salon.systems).plan(MINE).items
    items = study(salon).plan(WHOLE).items
    assert {tuple(item.content) for item in items} == {tuple(item.content) for item in votes}
    assert {(item.key["judge"], item.content["aspect"]) for item in items} == {
        ("exact", "meaning"),
        ("stylist", "prose"),
    }
    assert {item.template.purpose for item in items if item.template} == {"versus"}
    chunk = [item.content for item in items if item.key["passage"] == "novels/botchan:1"]
    assert {(content["previous"], content["next"]) for content in chunk} == {("前", "後")}


def test_a_seat_is_asked_about_damage_that_concerns_its_aspect(salon: Salon) -> None:
    assert set(CONCERNED) == set(ASPECTS)
    assert {kind for kinds in CONCERNED.values() for kind in kinds} <= set(DAMAGES)
    items = study(salon).plan(WHOLE).items
    of_prose = {
        str(item.key["kind"]) for item in items if (item.key["aspect"], item.key["trait"]) == ("prose", "accuracy")
    }
    assert {"foreign", "other_passage", "empty"} <= of_prose <= set(CONCERNED["prose"])


def test_a_seat_that_is_never_sure_prefers_neither_text(salon: Salon, server: Server) -> None:
    server.configure(answer="judge", judgements={"exact": [prefers("unsure")], "stylist": [prefers("unsure")]})
    choices = study(salon).compute(WHOLE, "run").tables["sentinel"]
    assert choices["choice"].unique().to_list() == ["neither"]
    assert choices["abstention"].null_count() == len(choices) > 0


def test_an_ensemble_has_the_worst_verdict_of_its_seats(salon: Salon) -> None:
    assert of_ensembles(salon.warehouse)["novels", ""].verdict == "not examined"
    card = {"purpose": "aspect_vote", "direction": "ja-en"}
    failed = {"judge": "stylist", "aspect": "prose", "verdict": "failed", "problem": "obeyed an instruction"}
    passed = {"judge": "exact", "aspect": "meaning", "verdict": "passed"}
    salon.store("judge_verdict", [card | passed, card | failed], "judge")
    standings = of_ensembles(salon.warehouse)
    verdicts = {aspect: standings["novels", aspect].verdict for aspect in ("", *ASPECTS)}
    assert verdicts == {
        "": "failed", "meaning": "passed", "prose": "failed", "voice": "not examined", "terms": "not examined",
    }  # fmt: skip
    assert standings["novels", ""].problem == "stylist (prose) failed its examination: it obeyed an instruction"
