"""Documents that are read as running text and cut into chunks."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Segment
from benchmark_assets.corpus.readers import read
from benchmark_assets.corpus.readers.chunks import paragraphs
from benchmark_assets.corpus.scan import scan
from resources.errors import BadInput
from tests.corpus.support import read_back, write_lines

RULE = {"least": 8, "most": 16, "context": [3, 5]}
STORY = "　吾輩は猫である。名前はまだ無い。\n「どこで生れたか」\n　とんと見当がつかぬ。泣いていた。\n"


def describe(folder: Path, files: dict[str, str], **changes: Any) -> Path:
    """A corpus in the layout `chunks` with a continuous translation."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    human = {"language": "en", "licence": "CC0-1.0", "layout": "text", "root": "en"}
    description = {
        "name": "story", "layout": "chunks", "root": "ja", "source": {"language": "ja", "licence": "CC0-1.0"},
        "references": {"ando": human}, "chunks": RULE, "literary": {"human": "ando"},
    } | changes  # fmt: skip
    (folder / "corpus.yaml").write_text(json.dumps(description), encoding="utf-8")
    return folder / "corpus.yaml"


def test_chunks_are_passages_and_sentences_their_segments(tmp_path: Path) -> None:
    files = {"ja/cat-01.txt": STORY, "en/cat-01.txt": "I am a cat."}
    (document,), faults = read_back(describe(tmp_path, files))
    assert not faults
    assert document.id == "cat-01"
    first, second, last = document.passages
    assert first.segments == (Segment("cat-01:1.1", "吾輩は猫である。"), Segment("cat-01:1.2", "名前はまだ無い。"))
    assert (first.id, first.language, first.references) == ("cat-01:1", "ja", ())
    assert first.text == "吾輩は猫である。名前はまだ無い。"
    assert (first.previous, first.following) == ("", "「どこで生")
    assert (second.previous, second.text, second.following) == (
        "まだ無い。",
        "「どこで生れたか」",
        "とんと見当",
    )
    assert last.text == "とんと見当がつかぬ。泣いていた。"
    assert document.prose[0].text == "I am a cat."


def test_a_chunk_keeps_its_paragraphs_and_its_contexts_in_the_warehouse(tmp_path: Path) -> None:
    path = describe(tmp_path, {"ja/cat.txt": STORY, "en/cat.txt": "A cat."}, chunks={"least": 20, "most": 60})
    rows = scan([load(path)]).source
    assert rows.select("passage", "text", "previous", "following").rows() == [
        ("story/cat:1", STORY.strip().replace("　", ""), "", "")
    ]


def test_lines_that_were_broken_at_a_width_are_joined_and_others_are_not() -> None:
    whole = "　　" + "甲乙丙丁戊己庚辛壬癸" * 5 + "．"
    lines = [whole[start : start + 24] for start in range(0, len(whole), 24)]
    assert paragraphs("\n".join(["第三回", "", "-----", *lines, "　　“次日？”", "“" + "子" * 22, "丑。"])) == [
        "第三回", whole.strip(), "“次日？”", "“" + "子" * 22 + "丑。"
    ]  # fmt: skip
    assert paragraphs("\n".join([*lines, "", *lines]).replace("　", "")) == [whole.strip()] * 2
    said = "「" + "寅" * 22 + "」"
    assert paragraphs(f"　卯。\n{said}\n{said}\n辰。") == ["卯。", said, said, "辰。"]
    assert paragraphs("牀前明月光\n疑是地上霜\n舉頭望明月\n低頭思故鄉") == [
        "牀前明月光",
        "疑是地上霜",
        "舉頭望明月",
        "低頭思故鄉",
    ]


def test_broken_lines_of_korean_are_joined_by_a_blank() -> None:
    """However far a word that had no room left a line from full."""
    chance = random.Random(1)
    whole, lines = [], []
    for _ in range(40):
        words = ["가" * chance.choice((1, 2, 2, 3, 3, 4, 7)) + chance.choice((*" " * 9, ",", '."')) for _ in range(60)]
        words = [word.strip() for word in words] + ["했다."]
        whole.append(" ".join(words))
        lines.append("")
        for word in words:
            line = f"{lines[-1]} {word}".strip()
            if len(line.encode("euc-kr")) <= 60:
                lines[-1] = line
            else:
                lines.append(word)
        lines.append("")
    assert paragraphs("\n".join(lines)) == whole


@pytest.mark.parametrize(
    ("files", "changes", "words"),
    [
        ({"ja/cat.txt": "A cat.\n"}, {}, "cat.txt.*contains no Chinese, Japanese or Korean text"),
        ({"ja/cat.txt": "猫\ufffdだ。"}, {}, "cat.txt.*letters were lost"),
        ({"ja/a cat.txt": STORY}, {}, "a cat.*cannot be the key of a document"),
        ({"ja/cat.md": STORY}, {}, "ja.*contains no .txt file"),
        (
            {"ja/cat.txt": STORY},
            {"references": {"ando": {"language": "en", "licence": "CC0-1.0"}}},
            "references.ando.layout.*is missing",
        ),
    ],
)
def test_what_cannot_be_read_is_a_fault(
    tmp_path: Path, files: dict[str, str], changes: dict[str, Any], words: str
) -> None:
    described = describe(tmp_path, {"en/cat.txt": "A cat.", **files}, **changes)
    with pytest.raises(BadInput, match=words):
        raise next(each for each in read(load(described)) if isinstance(each, BadInput))


def test_json_lines_may_have_contexts_and_without_them_a_version_is_what_it_was(tmp_path: Path) -> None:
    record = {
        "passage_id": "cat:1",
        "lang": "ja",
        "source": "吾輩は\n猫である。",
        "references": {"ando": "I am a cat."},
    }
    reference = {"ando": {"language": "en", "licence": "CC0-1.0"}}
    path = describe(tmp_path, {"ja/cat.jsonl": ""}, layout="jsonl", references=reference)
    versions = []
    for more in ({}, {"next": "名前は"}, {"next": "名前は", "previous": "昔、"}):
        write_lines(tmp_path / "ja" / "cat.jsonl", [record | more])
        seen = scan([load(path)])
        assert not seen.faults
        versions.append(seen.versions["source_text"][0])
        around = seen.source.select("text", "previous", "following").row(0)
        assert around == ("吾輩は\n猫である。", more.get("previous", "" if more else None), more.get("next"))
    assert versions[0] == "e7c7ccba0bd833f825639584dc89de99"
    assert len(set(versions)) == 3
    write_lines(tmp_path / "ja" / "cat.jsonl", [record | {"next": 3}])
    (fault,) = scan([load(path)]).faults
    assert (fault.key, fault.problem) == ("line 1 cat:1 next", "is not a string")


AOZORA = """橋と猫
某甲

-----------------------
【テキスト中に現れる記号について】

《》：ルビ
-----------------------

［＃５字下げ］一［＃「一」は大見出し］

　猫が橋《はし》を見た。｜老いた猫《ねこ》は※［＃「さんずい＋闊」、第4水準2-79-45］達だ［＃「闊達」に傍点］。
「《論語》を読め。」※［＃「字＋無」］は云った。

底本：なし
"""


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_a_text_of_aozora_is_read_without_its_marks(tmp_path: Path, encoding: str) -> None:
    path = describe(tmp_path, {"ja/hashi.txt": AOZORA, "en/hashi.txt": "A cat."}, chunks={"least": 40, "most": 60})
    (tmp_path / "ja/hashi.txt").write_bytes(AOZORA.replace("\n", "\r\n").encode(encoding))
    (document,), faults = read_back(path)
    assert not faults
    assert document.passages[0].text == "猫が橋を見た。老いた猫は𤄃達だ。\n「《論語》を読め。」※は云った。"
    assert [(aside.segment, aside.kind, aside.text) for aside in document.asides[1:]] == [
        ("hashi:1.1", "heading", "一"),
        ("hashi:1.1", "ruby", "橋 はし"),
        ("hashi:1.2", "ruby", "老いた猫 ねこ"),
        ("hashi:1.2", "note", "「闊達」に傍点"),
        ("hashi:1.4", "furniture", "底本：なし"),
    ]
    assert document.asides[0].text.startswith("橋と猫 某甲")
