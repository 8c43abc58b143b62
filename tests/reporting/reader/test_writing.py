"""Folders of the reader: what is left out of them, and where they may be put."""

from pathlib import Path

import pytest

from benchmark_assets.adjudication.labels import CATEGORIES, LABELS
from benchmark_assets.people.forms import LABEL_FORM
from benchmark_assets.reporting.reader.writing import as_html, write_blind, write_reader
from resources.errors import BadInput
from resources.folders import PRIVATE
from resources.warehouse import Warehouse
from tests.reporting.reader.world import CLOSED, CORPUS, ENDPOINT, build


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return build(tmp_path_factory.mktemp("closed"), restricted=True, count=6)


def everything(folder: Path) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.is_file())


def test_no_byte_of_a_restricted_text_is_in_the_folder(closed: Warehouse, tmp_path: Path) -> None:
    assert write_reader(closed, tmp_path / "out", CORPUS) == (12, 36, ["cleo"], 1)
    whole = everything(tmp_path / "out")
    assert CLOSED not in whole.lower()
    assert "@zq" not in whole
    assert "annotator-1" in whole
    assert "translate, answered by zq-2026" in whole
    assert ENDPOINT not in whole
    assert '"asides":[["reference","Sen. ep. 1.1"]]' in whole
    assert (tmp_path / "out/README.md").read_text().startswith("# Variorum reader: tiny\n")
    length = len(f"{CLOSED} tiny/a0:1.")
    assert f'"name":"cleo","language":"en","text":null,"complete":true,"drift":null,"characters":{length}' in whole
    assert f'"characters":{len(f"Lo! {CLOSED} tiny/a0:1")}' in whole  # what repeats it is withheld, too


def test_a_private_one_has_all_of_it_and_says_so(closed: Warehouse, tmp_path: Path) -> None:
    write_reader(closed, tmp_path / "out", CORPUS, private=True)
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [PRIVATE, "README.md"]
    assert (tmp_path / "out/README.md").read_text().startswith("# Variorum reader, private, do not pass on: tiny\n")
    whole = everything(tmp_path / "out" / PRIVATE)
    for words in (f"{CLOSED} tiny/a0:1.", f"Lo! {CLOSED.upper()}", f"quotes the {CLOSED}", f"notes the {CLOSED}"):
        assert words in whole
    assert "<title>PRIVATE, do not pass on: tiny</title>" in whole
    assert "@zq" not in whole


def test_labelling_shows_restricted_texts_as_annotate_does(closed: Warehouse, tmp_path: Path) -> None:
    sent = write_blind(closed, tmp_path / "out", CORPUS, "mori")
    assert sent.restricted == ["cleo"]
    assert sent.items > 5
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [PRIVATE, "README.md"]
    whole = everything(tmp_path / "out")
    assert f"{CLOSED} tiny/" in whole
    assert f"quotes the {CLOSED}" not in whole


def test_only_a_former_reader_is_replaced(closed: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_reader(closed, folder, CORPUS)
    before = everything(folder)
    write_reader(closed, folder, CORPUS)
    assert everything(folder) == before  # the same bytes
    with pytest.raises(BadInput, match="contains a public"):
        write_reader(closed, folder, CORPUS, private=True)
    with pytest.raises(BadInput, match="contains a public"):
        write_blind(closed, folder, CORPUS, "mori")
    (folder / "labels.mori.csv").write_text("labels", encoding="utf-8")
    with pytest.raises(BadInput, match="it may contain labels"):
        write_reader(closed, folder, CORPUS)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(BadInput, match="is not a Variorum reader"):
        write_reader(closed, tmp_path / "mine", CORPUS)
    assert (tmp_path / "mine/index.html").read_text() == "mine"
    assert everything(folder).startswith(before[:5])
    for bad in ({"corpus": "nowhere"}, {"corpus": CORPUS, "annotator": " "}):
        with pytest.raises(BadInput):
            write_blind(closed, tmp_path / "none", bad["corpus"], bad.get("annotator", "mori"))
    assert not (tmp_path / "none").exists()


def test_the_guide_is_the_one_of_the_spreadsheet() -> None:
    found = as_html(LABEL_FORM.guide)
    for word in (*LABELS, *CATEGORIES):
        assert f"<code>{word}</code>" in found
    assert (found.count("<table>"), found.count("<li>"), "`" in found, "**" in found) == (2, 5, False, False)
