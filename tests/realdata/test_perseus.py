"""TEI as Perseus publishes it: every file by its citations, and the corpora of its benchmarks."""

import logging
from collections import Counter
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import yaml
from lxml import etree

from benchmark_assets.alignment.rows import SegmentPlace, by_numbers
from benchmark_assets.automation import runs
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.tei import edition
from benchmark_assets.corpus.registry import register
from resources.home import PROJECT
from resources.warehouse import Warehouse
from tests.corpus.support import describe, edit, read_back

pytestmark = pytest.mark.realdata

DESCRIPTIONS = PROJECT / "warehouse/benchmarks"

UNITS = {
    "phi0448.phi001.perseus-eng2": "book 8 chapter 404",
    "phi0448.phi001.perseus-lat2": "book 8 chapter 404 section 2150",
    "phi0448.phi002.perseus-eng2": "book 3 chapter 243",
    "phi0448.phi002.perseus-eng3": "book 3 chapter 247",
    "phi0448.phi002.perseus-lat2": "book 3 chapter 243 section 1187",
    "phi0472.phi001.perseus-eng3": "poem 118 line 2360",
    "phi0472.phi001.perseus-eng4": "poem 118 line 545",
    "phi0472.phi001.perseus-lat2": "poem 115 line 2308",
    "phi0474.phi013.perseus-eng2": "speech 4 section 115",
    "phi0474.phi013.perseus-lat2": "chapter 4 section 115",  # its declaration calls the speeches so
    "phi0474.phi053.perseus-eng1": "chapter 2 section 280",  # its declaration calls the books so
    "phi0474.phi053.perseus-lat2": "book 2 section 282",
    "phi0690.phi003.perseus-eng2": "book 12 card 327 line 13336",
    "phi0690.phi003.perseus-lat2": "book 12 line 9897",
    "phi0893.phi001.perseus-eng2": "book 4 poem 99 line 2955",
    "phi0893.phi001.perseus-lat2": "book 4 poem 103 line 3034",
    "phi0914.phi00121.perseus-eng1": "book 1 chapter 63 section 624",
    "phi0914.phi00121.perseus-eng2": "book 1 chapter 63 section 625",
    "phi0914.phi00121.perseus-eng3": "book 1 chapter 63 section 625",
    "phi0914.phi00121.perseus-lat1": "book 1 chapter 63 section 622",
    "phi0914.phi00121.perseus-lat2": "book 1 chapter 63 section 625",
    "phi1351.phi002.perseus-eng1": "chapter 46",
    "phi1351.phi002.perseus-lat1": "chapter 46 section 185",
    "stoa0058.stoa001.perseus-eng1": "book 5 chapter 41",
    "stoa0058.stoa001.perseus-lat2": "book 5 section 78",
}
"""Levels of each file with the number of its citations."""


@pytest.fixture
def perseus(realdata: Path) -> Path:
    return realdata / "perseus"


def test_every_word_of_the_25_files_has_a_citation(perseus: Path) -> None:
    found = {}
    for path in sorted(perseus.rglob("*.perseus-*.xml")):
        text = edition(path, path.stem)
        counts = Counter(len(citation) for citation in text.units)
        found[path.stem] = " ".join(f"{name} {counts[depth]}" for depth, name in enumerate(text.levels, start=1))
        assert text.outside is None
        assert all(citation in text.units for citation, _ in text.pieces)
    assert found == UNITS


def test_latin_files_are_documents_without_a_description_of_their_scheme(perseus: Path, tmp_path: Path) -> None:
    description = describe(tmp_path / "c.yaml", "tei", perseus, [], files="**/{document}.perseus-lat2.xml")
    edit(description, {"target": "en"})
    documents, faults = read_back(description)
    assert not faults
    assert {each.id for each in documents} == {name.partition(".perseus")[0] for name in UNITS if "-lat2" in name}


def test_a_chapter_that_occurs_twice_is_joined_to_the_one_before(perseus: Path, tmp_path: Path) -> None:
    """Boethius in English, read as a source."""
    description = describe(
        tmp_path / "c.yaml", "tei", perseus, [], files="**/stoa001/{document}.stoa001.perseus-eng1.xml"
    )
    edit(description, {"target": "en"})
    (boethius,), faults = read_back(description)
    assert not faults
    (doubt,) = [aside for aside in boethius.asides if aside.kind == "doubt"]
    assert doubt.text.startswith("line 782: 3.7 occurs again, and its text is joined to 3.")


def shipped(name: str, perseus: Path, folder: Path, **changes: object) -> Path:
    """A shipped description with its root at the real data."""
    (file,) = DESCRIPTIONS.glob(f"*/{name}.yaml")
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert content["name"] == name
    assert content["root"] == "sources/perseus"
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content | {"root": str(perseus), **changes}), encoding="utf-8")
    return path


def counts(documents: list[Document]) -> tuple[int, int, dict[str, int]]:
    """Numbers of passages, of segments, and of segments with text by translator."""
    passages = [passage for document in documents for passage in document.passages]
    texts = Counter(
        reference.translator
        for passage in passages
        for reference in passage.references
        for text in reference.segments
        if text
    )
    return len(passages), sum(len(passage.segments) for passage in passages), dict(texts)


@pytest.mark.parametrize(
    ("name", "passages", "segments", "texts"),
    [
        ("livy", 63, 63, {"foster": 63, "spillan": 63, "roberts": 63}),
        ("livy-sections", 624, 624, {"foster": 624, "spillan": 623, "roberts": 624}),
        ("catullus", 115, 115, {"burton": 115, "smithers": 115}),
        ("catullus-lines", 129, 2308, {"burton": 2305}),
        ("catullus-ranges", 129, 542, {"burton": 542, "smithers": 542}),
        ("civil-war", 243, 243, {"peskett": 243, "duncan": 243}),
    ],
)
def test_the_shipped_descriptions_give_their_corpora(
    perseus: Path, tmp_path: Path, name: str, passages: int, segments: int, texts: dict[str, int]
) -> None:
    documents, faults = read_back(shipped(name, perseus, tmp_path))
    assert not faults
    assert counts(documents) == (passages, segments, texts)
    assert not any(document.prose for document in documents)


def test_passages_may_have_several_sections(perseus: Path, tmp_path: Path) -> None:
    documents, faults = read_back(shipped("livy-sections", perseus, tmp_path, passage="chapter"))
    assert not faults
    assert counts(documents)[:2] == (63, 625)


def test_sections_without_counterpart_are_named(
    perseus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read_back(shipped("livy-sections", perseus, tmp_path))
    assert "left out, because the source has no text: phi0914:21.20.5" in caplog.messages
    assert any("21.2.2?? is read as 21.2.2" in message for message in caplog.messages)


def test_a_section_has_its_latin_and_its_english(perseus: Path, tmp_path: Path) -> None:
    (livy,), _ = read_back(shipped("livy-sections", perseus, tmp_path, passage="chapter"))
    passage = livy.passages[1]
    assert passage.id == "phi0914:21.2"
    assert [segment.id for segment in passage.segments][:2] == ["phi0914:21.2.1", "phi0914:21.2.2"]
    assert passage.segments[0].text.startswith("his anxius curis ita se Africo bello")
    spillan = next(reference for reference in passage.references if reference.translator == "spillan")
    assert all(text is not None and text.strip() for text in spillan.segments)
    foster = next(reference for reference in passage.references if reference.translator == "foster")
    assert (foster.segments[1] or "").startswith("the Phoenicians would have invaded Italy")  # `2??` in Foster


def test_caesars_chapters_in_english_anchor_what_is_below_them(perseus: Path, tmp_path: Path) -> None:
    (caesar,), faults = read_back(shipped("civil-war", perseus, tmp_path, segment="section"))
    assert not faults
    assert counts([caesar]) == (243, 1187, {})
    chapters = {passage.id.partition(":")[2] for passage in caesar.passages}
    for prose in caesar.prose:
        numbers = [aside.text for aside in prose.asides if aside.kind == "number"]
        assert len(numbers) == len(set(numbers))
        assert chapters <= set(numbers)


def test_a_chapter_has_the_text_between_its_numbers_where_only_the_source_has_sections(
    perseus: Path, tmp_path: Path
) -> None:
    """As it has where the chapter is the segment."""
    (caesar,), _ = read_back(shipped("civil-war", perseus, tmp_path, segment="section"))
    (whole,), _ = read_back(shipped("civil-war", perseus, tmp_path))
    segments = [
        SegmentPlace(passage.id, segment.id, segment.text, ())
        for passage in caesar.passages for segment in passage.segments
    ]  # fmt: skip
    for prose in caesar.prose:
        numbers = [(aside.at, aside.text) for aside in prose.asides if aside.kind == "number"]
        pieces = by_numbers(prose.text, segments, numbers)
        texts: dict[str, str] = {}
        for index, piece in pieces.items():
            texts[segments[index].passage] = texts.get(segments[index].passage, "") + (piece.text or "")
        expected = {
            passage.id: reference.segments[0]
            for passage in whole.passages for reference in passage.references
            if reference.translator == prose.translator
        }  # fmt: skip
        same = [passage for passage, text in texts.items() if words(text) == words(expected[passage])]
        assert len(same) == len(texts) == 243


def words(text: str | None) -> list[str]:
    return (text or "").split()


def test_the_aeneid_is_named_as_too_long_and_is_divided_by_lines(
    perseus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "variorum.corpus")
    description = describe(
        tmp_path / "aeneid.yaml", "tei", perseus, [], files="data/phi0690/phi003/{document}.phi003.perseus-lat2.xml"
    )
    edit(description, {"target": "en"})
    (aeneid,), _ = read_back(description)
    assert len(aeneid.passages) == 12
    assert "12 of 12 passages have more than 5,000 characters" in caplog.messages[0]
    assert "`lines: 50`" in caplog.messages[0]
    caplog.clear()
    edit(description, {"lines": 20})
    (aeneid,), _ = read_back(description)
    assert not caplog.messages
    assert aeneid.passages[1].id == "phi0690:1.21-40"
    assert {len(passage.segments) for passage in aeneid.passages} <= set(range(10, 30))


def load(
    realdata: Path, tmp_path: Path, folder: str, source: str, translations: tuple[str, ...] = (), **keys: object
) -> Document:
    """The only document of a folder, in which `source` and `translations` end the names of the files."""
    work = realdata / folder
    (first,) = work.glob(f"*{source}")
    document = first.name.removesuffix(source).partition(".")[0]
    pattern = first.name.replace(document, "{document}", 1)
    description = describe(tmp_path / f"{document}.yaml", "tei", work, [], files=pattern)
    texts = {
        f"t{at}": {"language": "en", "licence": "CC0-1.0", "layout": "tei", "files": pattern.replace(source, ending)}
        for at, ending in enumerate(translations)
    }
    edit(description, {"references": texts, "target": "" if texts else "en", **keys})
    (found,), faults = read_back(description)
    assert not faults
    return found


def complete(document: Document, translators: int) -> float:
    """Share of passages whose segments are all translated by all translators."""
    whole = [
        len(passage.references) == translators
        and all(
            text or not segment.text
            for each in passage.references
            for text, segment in zip(each.segments, passage.segments, strict=True)
        )
        for passage in document.passages
    ]
    return sum(whole) / len(whole)


@pytest.mark.parametrize(
    ("folder", "source", "translations", "passages", "segments", "share"),
    [
        ("perseus-more/data/phi0474/phi039", "perseus-lat2.xml", (), 334, 334, 1),  # Brutus
        ("perseus-more/data/phi0474/phi042", "perseus-lat2.xml", (), 101, 101, 1),  # Topica
        ("perseus-more/data/phi0134/phi004", "perseus-lat2.xml", ("perseus-eng2.xml",), 26, 965, 1),  # Phormio
        ("perseus-more/data/phi0134/phi006", "perseus-lat2.xml", ("perseus-eng2.xml",), 29, 781, 1),  # Adelphi
        ("perseus-more/data/phi0119/phi002", "perseus-lat2.xml", ("perseus-eng2.xml",), 15, 699, 1),  # Asinaria
        ("perseus-more/data/phi0972/phi001", "perseus-lat1.xml", ("perseus-eng1.xml",), 141, 141, 1),  # Petronius
        ("perseus-more/data/phi1351/phi005", "perseus-lat1.xml", ("perseus-eng1.xml",), 13, 721, 1),  # Annals
        ("perseus-greek/Herodotus/opensource", "_gk.xml", ("_eng.xml",), 1578, 4336, 0.99),
    ],
)
def test_faults_are_local_and_no_text_is_lost(
    realdata: Path, tmp_path: Path, folder: str, source: str, translations: tuple[str, ...], passages: int,
    segments: int, share: float,
) -> None:  # fmt: skip
    found = load(realdata, tmp_path, folder, source, translations)
    assert counts([found])[:2] == (passages, segments)
    assert complete(found, len(translations)) >= share


@pytest.mark.parametrize(
    ("book", "source", "people", "share"),
    [("22", "lat2", "123", 1), ("28", "lat2", "12", 0.99), ("31", "lat1", "23", 0.97), ("9", "lat3", "12", 0.97)],
)
def test_livy_is_complete_by_section(
    realdata: Path, tmp_path: Path, book: str, source: str, people: str, share: float
) -> None:
    names = tuple(f"perseus-eng{number}.xml" for number in people)
    folder = f"perseus-more/data/phi0914/phi001{book}"
    found = load(realdata, tmp_path, folder, f"perseus-{source}.xml", names, passage="section")
    assert complete(found, len(names)) >= share


@pytest.mark.proof
@pytest.mark.parametrize(
    ("name", "people"),
    [
        ("civil-war", {"peskett", "duncan"}),
        pytest.param("livy", {"foster", "spillan", "roberts"}, marks=pytest.mark.large),
        pytest.param("livy-sections", {"foster", "spillan", "roberts"}, marks=pytest.mark.large),
        pytest.param("catullus", {"burton", "smithers"}, marks=pytest.mark.large),
        pytest.param("catullus-ranges", {"burton", "smithers"}, marks=pytest.mark.large),
    ],
)
def test_people_stand_on_the_leaderboard_of_a_shipped_corpus(
    perseus: Path,
    definitions: dg.Definitions,
    warehouse: Warehouse,
    instance: dg.DagsterInstance,
    tmp_path: Path,
    full: bool,
    name: str,
    people: set[str],
) -> None:
    root = perseus if full else excerpt(perseus, tmp_path / "excerpt")
    register(warehouse, shipped(name, root, tmp_path, sensitivity={"passages": 0}))
    runs.take_in(definitions, instance, name)
    board = warehouse.read("leaderboard").filter(pl.col("kind") == "human")
    assert set(board["system"]) == people
    assert board["passages"].min() > 0  # type: ignore[operator]
    assert board["sim_best"].null_count() == board["chrf"].null_count() == 0


def excerpt(perseus: Path, folder: Path) -> Path:
    """The files of the Civil War, reduced to its first four chapters."""
    for path in (perseus / "data/phi0448/phi002").glob("*.perseus-*.xml"):
        tree = etree.parse(path)
        chapters = tree.xpath("//*[@subtype = 'chapter']")
        first = {str(number) for number in range(1, 5)}
        for chapter in chapters:
            if chapter.get("n") not in first or chapter.getparent().get("n") != "1":
                chapter.getparent().remove(chapter)
        copy = folder / path.relative_to(perseus)
        copy.parent.mkdir(parents=True, exist_ok=True)
        tree.write(copy, encoding="utf-8")
    return folder
