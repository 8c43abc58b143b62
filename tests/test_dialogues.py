"""The dialogues are whole, and everything falls as their README says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.alignment.extent import examine
from benchmark_assets.alignment.verification import SUSPICIOUS, VERBATIM, Finding
from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.duplicates import near_duplicates
from benchmark_assets.corpus.filters import Filters, filtered
from benchmark_assets.corpus.model import Document, Passage, joined
from benchmark_assets.corpus.readers import read

DIALOGUES = Path(__file__).parents[1] / "warehouse/dialogues"
ALIGNED = ("brandt", "osei")
Texts = dict[str, dict[str, str | None]]


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    found = list(read(load(DIALOGUES / "corpus.yaml")))
    whole = [each for each in found if isinstance(each, Document)]
    assert whole == found
    return whole


@pytest.fixture(scope="module")
def aligned() -> Texts:
    """Texts of the segments, by translator and segment."""
    answers: Texts = {}
    for translator in ALIGNED:
        lines = (DIALOGUES / f"alignment.{translator}.jsonl").read_text(encoding="utf-8").splitlines()
        answers[translator] = {key: text for line in lines for key, text in json.loads(line).items()}
    return answers


@pytest.fixture(scope="module")
def findings(documents: list[Document], aligned: Texts) -> dict[tuple[str, str], Finding]:
    """What verification makes of the answers, by translator and segment."""
    found: dict[tuple[str, str], Finding] = {}
    for translator in ALIGNED:
        texts = {document.id: prose_of(document, translator) for document in documents}
        for document in documents:
            ids = [segment.id for passage in document.passages for segment in passage.segments]
            others = {name: text for name, text in texts.items() if name != document.id}
            guide = [text for passage in document.passages for text in passage.references[0].segments]
            own = [aligned[translator][each] for each in ids]
            verified = examine(own, texts[document.id], [guide], others=others)
            found |= {(translator, each): finding for each, finding in zip(ids, verified, strict=True)}
    return found


def prose_of(document: Document, translator: str) -> str:
    return next(each.text for each in document.prose if each.translator == translator)


def told(id_pattern: str) -> dict[str, str]:
    """The second column of the README's tables by the first, of rows whose first is such an id."""
    rows = re.findall(
        rf"^\| `({id_pattern})` \| ([^|]+) \|", (DIALOGUES / "README.md").read_text(encoding="utf-8"), re.M
    )
    return dict(rows)


def test_it_has_what_the_readme_counts(documents: list[Document]) -> None:
    assert [document.id for document in documents] == ["dial1", "dial2", "dial3"]
    assert [len(document.passages) for document in documents] == [9, 9, 9]
    assert sum(len(passage.segments) for document in documents for passage in document.passages) == 80
    for document in documents:
        assert {each.translator for each in document.prose} == {"brandt", "osei"}
        assert all([each.translator for each in passage.references] == ["harrow"] for passage in document.passages)


def test_headings_notes_and_numbers_stand_beside_the_prose(documents: list[Document]) -> None:
    for document in documents:
        kinds = {each.translator: {aside.kind for aside in each.asides} for each in document.prose}
        assert kinds == {"brandt": {"heading", "note", "footnote"}, "osei": {"number"}}
    assert "[People" not in prose_of(documents[0], "brandt")
    assert "[The jest" in prose_of(documents[0], "osei")


def test_an_answer_names_the_segments_of_its_document(documents: list[Document]) -> None:
    ids = [[segment.id for passage in document.passages for segment in passage.segments] for document in documents]
    for translator in ALIGNED:
        lines = (DIALOGUES / f"alignment.{translator}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [list(json.loads(line)) for line in lines] == ids


def test_segments_are_found_as_the_readme_says(findings: dict[tuple[str, str], Finding]) -> None:
    stages = {each: finding.stage for each, finding in findings.items() if finding.stage not in (None, VERBATIM)}
    assert stages == {("osei", segment): stage for segment, stage in told(r"dial\d:\d\.\d").items()}
    shared = [each for each, finding in findings.items() if finding.evidence.startswith("shares")]
    assert shared == [("osei", "dial1:7.1")]


def test_passages_fall_as_the_readme_says(
    documents: list[Document], aligned: Texts, findings: dict[tuple[str, str], Finding]
) -> None:
    passages = [passage for document in documents for passage in document.passages]
    own = [[segment.text for segment in passage.segments] for passage in passages]
    sources = pl.DataFrame(
        {"passage": [each.id for each in passages], "text": [joined(each) for each in own], "segments": own}
    )
    rows = [row for passage in passages for row in references(passage, aligned, findings)]
    measured = filtered(sources, pl.DataFrame(rows, infer_schema_length=None), 3, Filters())
    reasons = {passage: own for passage, own in measured.select("passage", "reasons").iter_rows() if own}
    left = sources.filter(~pl.col("passage").is_in(list(reasons)))
    duplicates = near_duplicates(left.select("passage", "text"), 0.85)
    assert duplicates.select("passage", "kept").rows() == [("dial2:6", "dial1:6")]
    assert reasons | {"dial2:6": ["duplicate"]} == {
        each: reason.split(", ") for each, reason in told(r"dial\d:\d").items()
    }
    assert len(left) - len(duplicates) == 16


def references(
    passage: Passage, aligned: Texts, findings: dict[tuple[str, str], Finding]
) -> Iterator[dict[str, object]]:
    """Rows of `filtered` for the translations of a passage that have any text."""
    ids = [segment.id for segment in passage.segments]
    texts = {each.translator: list(each.segments) for each in passage.references}
    texts |= {translator: [aligned[translator][each] for each in ids] for translator in ALIGNED}
    for translator, segments in texts.items():
        stages = [findings[translator, each].stage for each in ids if (translator, each) in findings]
        if any(segments):
            yield {
                "passage": passage.id,
                "translator": translator,
                "segments": segments,
                "text": joined(segments),
                "suspicious": stages.count(SUSPICIOUS),
            }
