"""Examinations of judges of single texts at a real server: the audit's, those of rubrics and those of error spans."""

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, VALID
from benchmark_assets.adjudication.panel import JudgeVotes, PanelExam, counted, of_panels
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.audit.outcomes import outcomes, with_standings, without_failed
from benchmark_assets.audit.rated import rated
from benchmark_assets.corpus.registry import register
from benchmark_assets.error_spans.judging import SpanExam, SpanVotes
from benchmark_assets.examination.reports import reports, with_choices
from benchmark_assets.examination.sentinels import INSTRUCTIONS
from benchmark_assets.examination.sequential import counts
from benchmark_assets.examination.study import Examinations, TextExam
from benchmark_assets.pairwise.rubric import RubricExam, RubricVotes
from benchmark_assets.studies.study import Item, ItemStudy
from resources.keys import KEYS
from resources.provider.registry import Examination
from resources.warehouse import Replacement
from tests.examination.judges import EQUAL
from tests.pairwise.arena import STORIES, Arena, write_judges
from tests.provider.server import VALID as SOUND
from tests.provider.server import Server, dumps
from tests.support import PASSAGES, TRANSLATIONS, write_corpus

WHOLE = pl.DataFrame({key: [""] for key in KEYS})
MINE = pl.DataFrame({"model": ["ours"] * 3, "passage": PASSAGES})

WRONG = SOUND | {
    "label": MAJOR,
    "error_category": "OTHER",
    "severity": "high",
    "is_major_error": True,
    "is_valid_variation": False,
}
MARK = {"justification": "", "perfect": False}
CRITICAL = {"text": "…", "category": "other", "severity": "critical"}

Replies = tuple[Any, Any]
"""The best reply and the worst."""

KINDS: dict[str, tuple[type[TextExam], type[ItemStudy[Any]], Replies]] = {
    "judge_vote": (PanelExam, JudgeVotes, (SOUND, WRONG)),
    "rubric_vote": (RubricExam, RubricVotes, (MARK | {"mark": 5}, MARK | {"mark": 1})),
    "span_vote": (SpanExam, SpanVotes, ({"errors": [], "score": 100}, {"errors": [CRITICAL], "score": 0})),
}
"""Exams and votes of judges of single texts, by purpose."""


def study_of(arena: Arena, exam: type[TextExam]) -> Examinations:
    """The study with this exam alone."""

    class Single(Examinations):
        exams = (exam,)

    return Single(arena.warehouse, arena.systems)


Choose = Callable[[Item], bool]
"""Function from a question to whether a judge gives its best reply."""


def fair(item: Item) -> bool:
    return item.key["shown"] == "sound" or item.key["trait"] in EQUAL


def obedient(item: Item) -> bool:
    return fair(item) or item.key["trait"] == "obedience"


def vain(item: Item) -> bool:
    return fair(item) or item.key["trait"] == "praise"


@pytest.fixture
def examining(arena: Arena) -> Arena:
    """The arena whose corpus asks for an examination of its judges of single texts."""
    alone = {"judges": ["comparer"]}
    arena.examinable(audit=alone, rubric=alone, spans=alone | {"references": True})
    return arena


def card(arena: Arena, server: Server, purpose: str, choose: Choose) -> dict[str, Any]:
    """The report card of a judge that answers as `choose` says."""
    kind, _, (best, worst) = KINDS[purpose]
    study = study_of(arena, kind)
    replies = {
        f"comparer|{item.content['source']}|{item.content['candidate']}": [dumps(best if choose(item) else worst)]
        for item in study.plan(WHOLE).items
    }
    server.configure(answer="judge", judgements=replies)
    server.clear()
    rows = study.compute(WHOLE, "run").tables[study.name]
    cards = reports(with_choices(rows), Examination())
    assert cards["calls"].item() == len(rows) >= len(server.log())
    return cards.row(0, named=True)


@pytest.mark.parametrize("purpose", KINDS)
def test_a_judge_of_single_texts_passes_if_it_tells_damaged_texts(
    examining: Arena, server: Server, purpose: str
) -> None:
    row = card(examining, server, purpose, fair)
    assert (row["judge"], row["direction"], row["purpose"]) == ("comparer", "la-en", purpose)
    assert (row["verdict"], row["problem"]) == ("passed", None)
    assert (row["accuracy"], row["obedience"], row["praise"], row["padding"]) == (1, 0, 0, 0)
    assert (row["pairs"], row["first_rate"], row["contradictions"], row["length"]) == (0, None, None, None)


BAD: dict[str, Choose] = {
    "gave the sound text a better verdict than a damaged one in 0 of": lambda item: True,
    "gave both texts the same verdict or could not be read in": lambda item: False,
    "obeyed an instruction inside a wrong text in": obedient,
    "gave a wrong text that praises itself the best verdict in": vain,
}
"""Bad judges, by the reason why they fail."""


@pytest.mark.parametrize("purpose", KINDS)
def test_a_bad_judge_of_single_texts_fails_with_the_reason(examining: Arena, server: Server, purpose: str) -> None:
    for number, (reason, choose) in enumerate(BAD.items(), start=1):
        write_judges(examining.registry, examining.url, temperature=number / 10)  # another judge, not asked before
        row = card(examining, server, purpose, choose)
        assert row["verdict"] == "failed", reason
        assert reason in row["problem"]


@pytest.mark.parametrize("purpose", KINDS)
def test_the_judge_of_a_text_sees_what_it_sees_in_its_own_study_but_never_the_sound_text_itself(
    examining: Arena, purpose: str
) -> None:
    kind, votes, _ = KINDS[purpose]
    items = study_of(examining, kind).plan(WHOLE).items
    if votes is JudgeVotes:
        examining.warehouse.write([Replacement("triage", triage(), None)], run_id="test")
    own = votes(examining.warehouse, examining.systems).plan(MINE).items
    assert {tuple(item.content) for item in items} == {tuple(item.content) for item in own}
    asked, asked_in_study = (
        {item.template.question("").key for item in each if item.template} for each in (items, own)
    )
    assert asked == asked_in_study
    for item in items:
        given = item.content.get("references", item.content.get("reference"))
        texts = [given] if isinstance(given, str) else [*given.values()] if isinstance(given, dict) else given
        sound = [each.content["candidate"] for each in items if each.key["shown"] == "sound"
                 and each.key["passage"] == item.key["passage"]]  # fmt: skip
        assert not {*texts} & {*sound}
        assert len(texts) == (1 if purpose == "rubric_vote" else len(TRANSLATIONS) - 1)
    demanded = [item.content["candidate"] for item in items if item.key["trait"] == "obedience"]
    most = counts(Examination().calls)["obedience"]
    assert len(demanded) == min(most, len(INSTRUCTIONS) * (len(PASSAGES) + len(STORIES)))
    assert all(kind.best in text for text in demanded)


def triage() -> pl.DataFrame:
    """All outputs of the model, queued for the panel."""
    return MINE.with_columns(
        drift=4.0,
        band=pl.lit(">3.0"),
        queued=True,
        sampled=False,
        screened=False,
        item=pl.col("passage"),
        fingerprint=pl.lit(""),
    )


PANEL = ("fair", "harsh", "mild")


def seated(arena: Arena, **standing: str) -> None:
    """Store a panel of three judges, and the verdicts of their examinations."""
    path = write_corpus(arena.folder / "corpus")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"audit": {"judges": PANEL}}))
    register(arena.warehouse, path)
    arena.examined("judge_vote", **standing)


def ballots(**labels: str) -> pl.DataFrame:
    category = {VALID: "NONE", MAJOR: "OTHER"}
    return pl.DataFrame([
        {"model": "ours", "passage": passage, "judge": judge, "label": label, "error_category": category[label]}
        for passage in PASSAGES for judge, label in labels.items()
    ])  # fmt: skip


def audited(arena: Arena, votes: pl.DataFrame) -> tuple[dict[str, Any], pl.DataFrame]:
    """The error rates of all outputs, and the rated outputs that count for further tables."""
    outputs = triage().with_columns(unit=pl.col("passage"))
    rows = rated(outputs, verdicts(counted(votes, arena.warehouse)), arena.warehouse.read("human_label"))
    standings = of_panels(arena.warehouse)
    row = with_standings(outcomes(outputs, rows), standings).filter(model="", band="").row(0, named=True)
    return row, without_failed(rows, standings)


def test_votes_of_a_judge_that_failed_do_not_count_and_the_others_still_need_a_majority(arena: Arena) -> None:
    seated(arena, fair="passed", harsh="failed", mild="passed")
    row, _ = audited(arena, ballots(fair=VALID, harsh=MAJOR, mild=VALID))
    assert (row["valid_rate"], row["judge_standing"]) == (1, "passed")
    assert row["problem"] == "harsh failed its examination: it obeyed"
    row, _ = audited(arena, ballots(fair=VALID, harsh=MAJOR, mild=MAJOR))
    assert (row["uncertain"], row["major_rate"]) == (3, 0)  # without the failure: 3 major errors


def test_a_panel_without_a_majority_of_judges_that_did_not_fail_has_no_error_rates(arena: Arena) -> None:
    seated(arena, fair="failed", harsh="failed", mild="passed")
    row, rows = audited(arena, ballots(fair=MAJOR, harsh=MAJOR, mild=MAJOR))
    assert (row["judged"], row["uncertain"], row["judge_standing"]) == (3, 3, "failed")
    assert row["major_rate"] is row["any_found"] is row["valid_rate_low"] is None
    assert row["problem"] == "fair failed its examination: it obeyed; harsh failed its examination: it obeyed"
    assert rows.filter(raters="panel").is_empty()


def test_a_panel_that_was_not_examined_keeps_its_rates_and_says_so(arena: Arena) -> None:
    seated(arena, fair="passed", harsh="passed")
    row, _ = audited(arena, ballots(fair=MAJOR, harsh=MAJOR, mild=VALID))
    assert (row["major_rate"], row["judge_standing"], row["problem"]) == (1, "not examined", None)


def test_votes_of_a_judge_about_whom_nothing_is_clear_do_not_count(arena: Arena) -> None:
    seated(arena, fair="passed", harsh="undecided", mild="undecided")
    row, rows = audited(arena, ballots(fair=VALID, harsh=MAJOR, mild=MAJOR))
    assert (row["major_rate"], row["judge_standing"]) == (None, "undecided")
    assert "harsh has not passed its examination" in row["problem"]
    assert rows.filter(raters="panel").is_empty()
