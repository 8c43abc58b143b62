"""Verification on Thanissaro's translations: damaged sentences among intact ones, and abbreviations spelled out."""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmark_assets.alignment.verification import verify
from tests.alignment.damage import KINDS, Damage, Outcome, damaged, sentences, table

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def proses(realdata: Path) -> dict[str, str]:
    files = sorted((realdata / "accesstoinsight/text").glob("*.than.txt"))
    assert len(files) == 251
    return {file.name.partition(".than")[0]: file.read_text(encoding="utf-8") for file in files}


def by_an_ellipsis(sentence_and_neighbours: str) -> bool:
    return "..." in sentence_and_neighbours


def check(outcomes: Sequence[Outcome], least: float) -> None:
    for kind in KINDS:
        own = [each for each in outcomes if each.kind == kind]
        passed = [each for each in own if not each.suspicious]
        assert len(passed) <= (1 - least) * len(own), passed
        assert kind != "invented" or not passed
    unaltered = [each for each in outcomes if not each.kind]
    false_alarms = [each for each in unaltered if not each.found]
    assert len(false_alarms) <= len(unaltered) / 1000, false_alarms


@pytest.fixture(scope="module")
def of_each_kind(full: bool) -> int:
    """Segments that are damaged in each way."""
    return 250 if full else 25


@pytest.mark.proof
def test_damaged_segments_are_suspicious_and_intact_ones_are_not(proses: Mapping[str, str], of_each_kind: int) -> None:
    outcomes = damaged(proses, of_each_kind, seed=1000)
    print(f"\ndamaged segments\n{table(outcomes)}")
    check(outcomes, least=0.99)


@pytest.mark.proof
def test_damaged_segments_next_to_ellipses_are_suspicious(proses: Mapping[str, str], of_each_kind: int) -> None:
    outcomes = damaged(proses, of_each_kind, seed=1001, where=by_an_ellipsis)
    print(f"\ndamaged segments next to ellipses\n{table(outcomes)}")
    check(outcomes, least=0.99)


@pytest.mark.proof
def test_no_intact_document_raises_an_alarm(proses: Mapping[str, str], full: bool) -> None:
    chosen = list(proses.values())[:: 1 if full else 10]
    findings = [finding for prose in chosen for finding in verify(sentences(prose), prose)]
    assert len(findings) > (14000 if full else 1000)
    assert {(finding.stage, finding.in_order) for finding in findings} == {("verbatim", True)}


def spelled_out(prose: str) -> tuple[list[str], list[bool]]:
    """MN 1 with everything said of earth said of all else that its lists abbreviate, and which of it that is."""
    texts: list[str] = []
    added: list[bool] = []
    template: list[str] = []
    for paragraph in prose.split("\n\n"):
        own = sentences(paragraph)
        if paragraph.count("...") > 10:
            verb = "perceives" if "perceives" in paragraph else "directly knows"
            for match in re.finditer(r"(?:He [a-z ]+? )?([^.\[\]]+?) as \1 ?(?:\[\d\] )?\.\.\.", paragraph):
                term = match[1].removeprefix(f"He {verb} ")
                said = [f"He {verb} {term} as {term}.", *(re.sub(r"\bearth\b", term, each) for each in template)]
                texts += said
                added += [True] * len(said)
            continue
        starts = [at for at, each in enumerate(own) if "earth as earth" in each]
        template = own[starts[0] + 1 :] if starts else template
        texts += own
        added += [False] * len(own)
    return texts, added


def test_the_lists_of_mn_1_can_be_spelled_out(proses: Mapping[str, str]) -> None:
    texts, added = spelled_out(proses["mn1"])
    findings = verify(texts, proses["mn1"])
    assert all(finding.in_order for finding in findings)
    stages = Counter(finding.stage for finding, own in zip(findings, added, strict=True) if own)
    assert stages["expanded"] > 300
    assert stages.keys() <= {"verbatim", "normalized", "expanded"}
    assert {finding.stage for finding, own in zip(findings, added, strict=True) if not own} == {"verbatim"}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_spelled_out_wrongly_is_suspicious(proses: Mapping[str, str], kind: str) -> None:
    texts, added = spelled_out(proses["mn1"])
    rng = random.Random(1)
    damage = Damage({name: sentences(prose) for name, prose in proses.items()}, rng)
    harmed = {at: KINDS[kind](damage, texts[at]) for at, own in enumerate(added) if own and rng.random() < 0.5}
    harmed = {at: text for at, text in harmed.items() if text}
    assert len(harmed) > 30
    findings = verify([harmed.get(at) or text for at, text in enumerate(texts)], proses["mn1"])
    assert {findings[at].stage for at in harmed} == {"suspicious"}
