"""The readers on real corpora."""

import json
import shutil
from pathlib import Path

import pytest

from benchmark_assets.benchmarks.recipe import shipped
from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.scan import scan
from tests.corpus.support import describe, edit, read_back

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def suttas(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root, folder = realdata / "suttacentral", tmp_path_factory.mktemp("suttas")
    return describe(folder / "suttas.yaml", "bilara", root, ["sujato"], language="pli", edition="ms")


def test_the_suttas_have_the_documents_passages_and_segments_that_palibench_counted(suttas: Path) -> None:
    documents, faults = read_back(suttas)
    assert not faults
    passages = [passage for document in documents for passage in document.passages]
    untranslated = sum(
        passage.references[0].segments.count(None) if passage.references else len(passage.segments)
        for passage in passages
    )
    assert (len(documents), len(passages), sum(len(each.segments) for each in passages)) == (380, 4003, 22384)
    assert untranslated == 2752


def test_the_passages_of_the_suttas_are_those_of_palibench(suttas: Path, realdata: Path) -> None:
    known = {line.split(",")[0] for line in (realdata / "palibench/metadata/passage_manifest.csv").open()}
    assert len(known) > 1700
    seen = set(scan([load(suttas)]).source["passage_id"])
    assert len(known - seen) == 1  # the heading of the column


def test_the_daodejing_has_81_chapters_and_eight_translators(realdata: Path, tmp_path: Path) -> None:
    translators = ["alexander", "balfour", "giles", "goddard", "gorn_old", "legge", "mears", "suzuki_carus"]
    path = describe(tmp_path / "ddj.yaml", "jsonl", realdata / "daodejing/daodejing.jsonl", translators, language="lzh")
    edit(path, {"ignore": ["chapter", "source_alt"]})
    seen = scan([load(path)])
    assert not seen.faults
    assert seen.source["language"].unique().to_list() == ["lzh"]
    assert seen.source["position"].to_list() == list(range(81))
    counts = dict(seen.reference.group_by("translator").len().iter_rows())
    assert counts == dict.fromkeys(translators, 81) | {"giles": 80}
    flagged = seen.reference.drop_nulls("flag").group_by("translator").len()
    assert dict(flagged.iter_rows()) == {"giles": 5, "balfour": 5}


@pytest.mark.parametrize(
    ("name", "table"), [("daodejing", "daodejing.jsonl"), ("dhammapada", "dhammapada_units.jsonl")]
)
def test_the_offsets_of_a_recipe_cut_exactly_its_passages(
    name: str, table: str, realdata: Path, tmp_path: Path
) -> None:
    recipe = shutil.copytree(shipped()[name], tmp_path / name)
    (recipe / "sources").mkdir()
    (recipe / "sources" / "texts").symlink_to(realdata / name / "raw")
    cut = scan([load(recipe / f"{name}.yaml")])
    assert not cut.faults
    references = {(passage, who): text[0].split() for passage, who, text, _ in cut.reference.iter_rows()}
    known = [json.loads(line) for line in (realdata / name / table).open(encoding="utf-8")]
    expected = {
        (passage, who): text.split()
        for passage, record in zip(cut.source["passage"], known, strict=True)
        for who, text in record["references"].items()
        if who not in record.get("flags", {})
    }
    assert [text.split() for text in cut.source["text"]] == [record["source"].split() for record in known]
    assert references == expected
