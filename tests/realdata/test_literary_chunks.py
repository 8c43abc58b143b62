"""Running text of two novels through the reader, and the 46 chunks that were cut from them by hand."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.benchmarks.recipe import shipped
from benchmark_assets.corpus.chunks import after, before, count, sentence_ends
from benchmark_assets.corpus.description import Chunks, load
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers import read

pytestmark = pytest.mark.realdata

HONGLOUMENG, BOTCHAN = "hongloumeng_ch03_zh_gutenberg24264.txt", "botchan_ja_aozora_noruby.txt"
GIVEN = {HONGLOUMENG: "hongloumeng_joly.jsonl", BOTCHAN: "botchan_morri.jsonl"}
RULE = Chunks()


@pytest.fixture(scope="module")
def documents(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    """The two files as the reader has them, with the sizes of LiTERatE, by their names."""
    folder = tmp_path_factory.mktemp("literary")
    (folder / "source").mkdir()
    for number, name in enumerate(GIVEN):
        shutil.copyfile(realdata / "literary" / "raw" / name, folder / "source" / f"work-{number}.txt")
    content = {
        "name": "literary", "layout": "chunks", "root": "source", "target": "en",
        "source": {"language": "zh", "licence": "public domain"},
    }  # fmt: skip
    (folder / "corpus.yaml").write_text(json.dumps(content), encoding="utf-8")
    found = [document for document in read(load(folder / "corpus.yaml")) if isinstance(document, Document)]
    return dict(zip(GIVEN, found, strict=True))


def given(realdata: Path, name: str) -> list[dict[str, Any]]:
    lines = (realdata / "literary" / GIVEN[name]).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def bare(text: str) -> str:
    """A text without blanks; the given chunks have the usual stop where the file has ．"""
    return "".join(text.split()).replace("．", "。")


@pytest.mark.parametrize(("name", "number", "least", "most"), [(HONGLOUMENG, 24, 274, 473), (BOTCHAN, 244, 222, 498)])
def test_files_are_cut_into_chunks_of_the_size_with_contexts_of_the_size(
    documents: dict[str, Document], realdata: Path, name: str, number: int, least: int, most: int
) -> None:
    passages = documents[name].passages
    sizes = [count(passage.text or "") for passage in passages]
    assert (len(sizes), min(sizes), max(sizes)) == (number, least, most)
    before_all, after_all = [[count(side or "") for side in sides] for sides in zip(
        *((passage.previous, passage.following) for passage in passages), strict=True
    )]  # fmt: skip
    assert before_all[0] == after_all[-1] == 0
    assert all(60 <= size <= 80 for size in before_all[1:] + after_all[:-1])

    lines = (realdata / "literary" / "raw" / name).read_text(encoding="utf-8").splitlines()
    whole = bare("".join(line for line in lines if set(line.strip()) != {"-"}))
    assert "".join(bare(passage.text or "") for passage in passages) == whole
    for passage in passages:
        assert bare("".join(segment.text for segment in passage.segments)) == bare(passage.text or "")
        before_it, after_it = whole.split(bare(passage.text or ""))
        assert before_it.endswith(bare(passage.previous or ""))
        assert after_it.startswith(bare(passage.following or ""))


@pytest.mark.parametrize(("name", "number", "least", "most"), [(HONGLOUMENG, 22, 203, 423), (BOTCHAN, 24, 205, 432)])
def test_the_given_chunks_have_the_size_and_begin_and_end_with_sentences(
    documents: dict[str, Document], realdata: Path, name: str, number: int, least: int, most: int
) -> None:
    rows = given(realdata, name)
    sizes = [count(row["source"]) for row in rows]
    assert (len(sizes), min(sizes), max(sizes)) == (number, least, most)

    whole, ends = "", {0}
    for passage in documents[name].passages:
        for segment in passage.segments:
            whole += bare(segment.text)
            ends.add(len(whole))
    for row in rows:
        source = bare(row["source"])
        start = whole.index(source)
        assert {start, start + len(source)} <= ends, row["chunk_id"]
        first, last = row["src_sent_range"]
        assert len(sentence_ends(row["source"])) == last - first + 1, row["chunk_id"]


def test_our_contexts_are_the_parts_of_the_given_ones_that_adjoin_the_chunk(realdata: Path) -> None:
    of_the_size = shorter = 0
    for row in (row for name in GIVEN for row in given(realdata, name)):
        previous, following = row["prev_context"], row["next_context"]
        ends = sentence_ends(previous)
        ours = {
            previous: before(previous, len(previous), [0, *ends], RULE.context),
            following: after(following, 0, sentence_ends(following), RULE.context),
        }
        assert previous.endswith(ours[previous])
        assert following.startswith(ours[following])
        for context, own in ours.items():
            if count(context) < RULE.context[0]:
                assert own == context
                shorter += context != ""
            else:
                assert RULE.context[0] <= count(own) <= RULE.context[1]
                of_the_size += 1
    assert (of_the_size, shorter) == (81, 3)


@pytest.mark.parametrize(("corpus", "name", "blanks"), [("hongloumeng", HONGLOUMENG, 3), ("botchan", BOTCHAN, 0)])
def test_the_recipe_cuts_the_chunks_that_were_cut_by_hand(
    corpus: str, name: str, blanks: int, realdata: Path, tmp_path: Path
) -> None:
    """Human translations to the letter. Sources have the stop of the file, and a blank in three chunks."""
    recipe = shutil.copytree(shipped()["literary-zh-ja"], tmp_path / "recipe")
    (recipe / "sources").mkdir()
    (recipe / "sources" / "texts").symlink_to(realdata / "literary" / "raw")
    (document,) = read(load(recipe / f"{corpus}.yaml"))
    assert isinstance(document, Document)
    chunks = given(realdata, name)
    assert [passage.references[0].segments for passage in document.passages] == [(each["human"],) for each in chunks]
    sources = [passage.segments[0].text for passage in document.passages]
    assert [bare(text) for text in sources] == [bare(each["source"]) for each in chunks]
    assert sum(text.replace("．", "。") != each["source"] for text, each in zip(sources, chunks, strict=True)) == blanks
    contexts = [side for passage in document.passages for side in (passage.previous, passage.following)]
    assert contexts[0] == contexts[-1] == ""
    assert all(60 <= count(side or "") <= 80 for side in contexts[1:-1])
    terms = (recipe / f"{corpus}-glossary.csv").read_text(encoding="utf-8").splitlines()
    assert len(terms) - 1 == sum(max(len(each["glossary"]), 1) for each in chunks)
