"""Corrections in a browser and over HTTP, on a home of a corpus with prose: saved, refused, recomputed."""

import json
import os
import shutil
from collections.abc import Iterator
from getpass import getuser
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from benchmark_assets.corpus.registry import register
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.alignment.corpora import ANN, BEN, PASSAGES, PROSE, SOURCES, prose
from tests.audit.stored import add, put
from tests.processes import variorum
from tests.reporting.reader.test_serving import served
from tests.support import made_home, made_once, restrict, write_corpus

UPDATE = ("--quiet", "update", "--scan", "--references", "tales")
TABLES = ("alignment", "unassigned", "verification", "pair_doubt", "reference", "reference_envelope")


@pytest.fixture(scope="module")
def kept_open() -> bool:
    return False  # other processes write to the warehouse


def write_tales(folder: Path) -> Path:
    """The corpus `tales` in a folder, described in YAML as people write it."""
    description = write_corpus(folder, SOURCES, {"ann": ANN, "ben": BEN}, "tales")
    content = json.loads(description.read_text(encoding="utf-8")) | {"sensitivity": {"passages": 0}}
    content["references"]["dora"] = {"language": "en", "licence": "CC0-1.0", "layout": "text", "root": "dora"}
    description.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    (folder / "dora").mkdir()
    for document, segments in PROSE.items():
        (folder / "dora" / f"{document}.txt").write_text(prose(segments), encoding="utf-8")
    return description


def build(folder: Path, tales: Path | None = None) -> Warehouse:
    """A home in which the corpus is materialized; a copy of the corpus lies in the home."""
    with pytest.MonkeyPatch.context() as patch:
        home = made_home(patch, folder)
        if tales:
            shutil.copytree(tales, home / "tales")
        else:
            write_tales(home / "tales")
        warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
        register(warehouse, home / "tales" / "corpus.yaml")
        variorum(home, *UPDATE)
    return warehouse


@pytest.fixture
def tales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """The warehouse of a home of the test's own, which VARIORUM_HOME names."""
    shutil.copytree(made_once("tales", build), tmp_path, dirs_exist_ok=True, symlinks=True)
    return DuckDBWarehouse(path=str(made_home(monkeypatch, tmp_path) / "variorum.duckdb"))


@pytest.fixture
def client(tales: Warehouse) -> Iterator[httpx.Client]:
    for each in served(tales, private=False):
        each.base_url = each.base_url.join("/readers/tales/corrections/")
        yield each


def content(warehouse: Warehouse) -> dict[str, list[tuple[Any, ...]]]:
    """Rows of the tables that depend on corrections, without the run that wrote them and its time."""
    return {name: sorted(warehouse.read(name).drop("run_id", "updated_at").rows(), key=repr) for name in TABLES}


def filed(warehouse: Warehouse) -> list[dict[str, Any]]:
    path = warehouse.folder / "tales" / "corrections.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def change(segment: str, base: str = "", translator: str = "dora", by: str = "Ida", **record: Any) -> dict[str, Any]:
    return {"author": by, "changes": [{"segment": segment, "translator": translator, "base": base, **record}]}


def base(client: httpx.Client, segment: str) -> str:
    """Digest of the line that a page shows for one of Dora's segments."""
    shown = client.get("shown").json()["translators"][2]
    (found,) = [each["base"] for each in shown["segments"] if each["id"] == segment]
    return str(found)


def test_two_editors_at_once_lose_nothing(client: httpx.Client, tales: Warehouse) -> None:
    """The second of two changes of one segment is refused with both versions; other segments are merged."""
    assert client.post("save", json=change("doc1:1.1", text="The miller rose.", comment="short")).status_code == 200
    seen = base(client, "doc1:1.1")
    assert client.post("save", json=change("doc1:1.1", seen, by="Ulf", text=None)).status_code == 200
    mine = change("doc1:1.1", seen, text="He rose.")
    mine["changes"] += change("doc1:1.2", text="She looked.")["changes"]
    refused = client.post("save", json=mine)
    assert refused.status_code == 409
    [conflict] = refused.json()["conflicts"]
    assert (conflict["segment"], conflict["yours"]["text"]) == ("doc1:1.1", "He rose.")
    assert (conflict["theirs"]["text"], conflict["theirs"]["author"]) == (None, "Ulf")
    assert [line["segment"] for line in filed(tales)] == ["doc1:1.1"]  # all or nothing
    mine["changes"][0]["base"] = conflict["base"]
    assert client.post("save", json=mine).status_code == 200
    assert client.post("save", json=change("doc2:1.1", by="Ulf", wrong=True)).status_code == 200
    lines = {line["segment"]: line for line in filed(tales)}
    assert {name: line["author"] for name, line in lines.items()} == {
        "doc1:1.1": "Ida", "doc1:1.2": "Ida", "doc2:1.1": "Ulf"
    }  # fmt: skip
    assert len(lines["doc1:1.1"]["replaces"]) == 2


def test_two_segments_do_not_claim_the_same_prose(client: httpx.Client, tales: Warehouse, browser: Browser) -> None:
    """A text typed over a neighbor's is refused with the neighbor's id; both sides of a boundary are saved together.
    Evidence names segments by their ids."""
    first, second = PROSE["doc1"]["doc1:1.1"], PROSE["doc1"]["doc1:1.2"]
    head, over = "In the house", f"{first} In the\nhouse"  # as spaced by hand
    for record in (
        {"segment": "doc1:1.1", "text": over},
        {"segment": "doc1:1.1", "text": f"{over.upper()}!"},
        {"segment": "doc1:2.1", "text": f"bread. {PROSE['doc1']['doc1:2.1']}"},
    ):
        refused = client.post("save", json=change(**record))
        assert (refused.status_code, "its text is also that of doc1:1.2" in refused.text) == (422, True), refused.text
    both = change("doc1:1.1", text=over)
    both["changes"] += change("doc1:1.2", text=second.removeprefix(head).strip())["changes"]
    assert client.post("save", json=both).status_code == 200
    again = change("doc1:1.2", base(client, "doc1:1.2"), text=second)
    assert client.post("save", json=again).status_code == 422  # against a line of the file
    assert client.post("save", json=change("doc1:1.2", again["changes"][0]["base"], text=None)).status_code == 200

    place = {"passage": "tales/doc2:1", "translator": "dora"}
    doubt = {
        "segment_id": "doc2:1.2",
        "stage": "suspicious",
        "evidence": "its words fit segment 2 (counted from 0) better",
    }
    put(tales, "verification", place | doubt | {"in_order": True, "similarity": 1.0, "start_at": 0, "end_at": 5})
    shown = client.get("shown", params={"at": "doc2"}).json()
    [queued] = [each["evidence"] for each in shown["queue"] if each["segment"] == "doc2:1.2"]
    assert shown["author"] == ("" if getuser() == "root" else getuser())
    assert queued == shown["translators"][2]["segments"][1]["evidence"] == "its words fit doc2:2.1 better"

    page = browser.new_page()
    page.goto(f"{client.base_url}#at=doc2:1&translator=dora&segment=doc2:1.1")
    page.locator("li[aria-current]").wait_for()
    page.get_by_label("Your name").fill("Ida")
    page.get_by_role("button", name="By hand (h)").click()
    text = page.get_by_label("Text of the segment")
    text.fill(f"{PROSE['doc2']['doc2:1.1']} Boys")
    text.blur()
    expect(page.locator("li[aria-current] .state")).to_contain_text("shares text with doc2:1.2")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#where")).to_contain_text("its text is also that of doc2:1.2")
    expect(page.locator("#count")).to_contain_text("not saved: 1")
    expect(page.locator("#terms")).to_contain_text("Found word for word in a translator's prose")
    page.set_viewport_size({"width": 1440, "height": 360})
    for key in ("j", "j", "j", "k", "k"):  # the segment stays below the bar, which stays
        page.keyboard.press(key)
        page.wait_for_function("""() => {
            const place = name => document.querySelector(name).getBoundingClientRect();
            const bar = place("#bar"), own = place("li[aria-current] .pick");
            return bar.top >= 0 && bar.bottom <= own.top && own.bottom <= innerHeight; }""")
    page.close()


def test_segments_have_the_ids_that_the_reader_shows(client: httpx.Client, tales: Warehouse) -> None:
    """The only segment of a row of a table is shown as the row's passage."""
    row = {"passage": "tales/doc3:7", "passage_id": "doc3:7", "corpus": "tales", "document": "doc3", "position": 0,
           "language": "la", "segment_ids": ["doc3:7.1"], "segments": ["Finis."], "text": "Finis."}  # fmt: skip
    add(tales, "source_text", row)
    labels = [
        [each["label"] for each in client.get("shown", params={"at": where}).json()["translators"][2]["segments"]]
        for where in ("doc3", "doc2")
    ]
    assert "correct its alignment" in client.get(str(client.base_url.join("/"))).text
    assert labels == [["doc3:7"], ["doc2:1.1", "doc2:1.2", "doc2:2.1", "doc2:2.2"]]


def test_only_this_server_s_pages_save_and_only_on_this_machine(client: httpx.Client, tales: Warehouse) -> None:
    good = change("doc1:1.1", text="The miller rose.")
    refused = [
        client.post("save", json=good, headers={"Origin": "http://elsewhere.example"}),
        client.post("save", json=good, headers={"Origin": "http://127.0.0.1:1"}),
        client.post("save", json=good, headers={"Host": "elsewhere.example"}),
        client.post("save", json=good, headers={"Sec-Fetch-Site": "cross-site"}),
        client.post("save", content=json.dumps(good), headers={"Content-Type": "text/plain"}),
        client.post("recompute", content="{}", headers={"Content-Type": "text/plain"}),
    ]
    assert [reply.status_code for reply in refused] == [403] * 6
    for each in served(tales, private=False, read_only=True):
        assert each.post("/readers/tales/corrections/save", json=good).status_code == 403
        assert each.get("/readers/tales/corrections/shown").json()["may"] is False
    bad = [
        {"changes": good["changes"]}, {"author": "Ida", "changes": [1]}, [], change("doc9:1.1", text="x"),
        change("doc1:1.1", translator="zoe", text="x"), change("doc1:1.1", text=" "), change("doc1:1.1", what="x"),
        change("doc1:1.1", translator="ann", text="x"),
    ]  # fmt: skip
    assert [client.post("save", json=body).status_code for body in bad] == [422] * len(bad)
    assert not (tales.folder / "tales" / "corrections.jsonl").exists() or filed(tales) == []
    assert client.get("shown", params={"at": "doc7"}).status_code == 404


def test_restricted_texts_are_neither_shown_nor_corrected(client: httpx.Client, tales: Warehouse) -> None:
    client.post("save", json=change("doc1:1.1", text="The miller rose.", comment="miller")).raise_for_status()
    description = tales.folder / "tales" / "corpus.yaml"
    content = yaml.safe_load(description.read_text(encoding="utf-8"))
    description.write_text(json.dumps(content), encoding="utf-8")
    restrict(description, "dora")
    shown = client.get("shown").json()
    assert "iller rose" not in json.dumps(shown["translators"][2])
    assert "wolf sleeping" not in json.dumps(shown)
    assert client.post("save", json=change("doc1:1.2", text="x")).status_code == 422
    for private in served(tales, private=True):
        assert "wolf sleeping" in private.get("/readers/tales/corrections/shown").text


def handle(page: Page, name: str) -> Any:
    return page.get_by_role("slider", name=name, exact=True)


def text_of(page: Page, segment: str) -> str:
    return page.locator(f'li[data-id="{segment}"] .given').inner_text()


def test_an_editor_corrects_by_dragging_and_by_keyboard_and_recomputes(
    client: httpx.Client, tales: Warehouse, browser: Browser, tmp_path: Path
) -> None:
    """Afterwards the home equals a new one of the same files."""
    before = dict(tales.read("alignment", columns=["passage", "fingerprint"]).iter_rows())
    pair = {"corpus": "tales", "document": "doc2", "passage": "tales/doc2:1", "translator": "ben"}
    doubt = {"segment_id": "doc2:1.1", "kind": "length", "evidence": "is far too long", "accepted": False}
    put(tales, "pair_doubt", pair | doubt)  # the next scan finds that there is none
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    noise: list[str] = []
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.goto(f"{client.base_url}#at=doc1:2&translator=dora")
    page.locator("li[aria-current]").wait_for()
    page.keyboard.press("n")  # to the doubt, in another document and of another translator
    page.locator('li[aria-current][data-id="doc2:1.1"]').wait_for()
    expect(page.locator("#where")).to_have_text("doc2:1.1, ben: is far too long")
    page.goto(f"{client.base_url}#at=doc1:2&translator=dora")
    page.locator('li[aria-current][data-id="doc1:2.1"]').wait_for()
    page.get_by_label("Your name").fill("Ida")
    expect(page.locator("li[aria-current]")).to_have_attribute("data-id", "doc1:2.1")

    edge = handle(page, "end of doc1:2.1, start of doc1:2.2")  # by keyboard: a word, then back to a clause
    edge.focus()
    page.keyboard.press("ArrowRight")
    assert text_of(page, "doc1:2.1") == "Up in the oak tree a raven sat; there"
    expect(edge).to_be_focused()
    assert text_of(page, "doc1:2.2") == "was a wolf sleeping under the branches."
    page.keyboard.press("Shift+ArrowLeft")
    assert text_of(page, "doc1:2.1") == PROSE["doc1"]["doc1:2.1"]
    page.keyboard.press("ArrowLeft")

    edge = handle(page, "end of doc1:3.1, start of doc1:3.2")  # by mouse: drag to a word
    where = page.evaluate(
        """() => { const node = document.querySelector('[data-id="doc1:3.2"].piece').firstChild;
            const range = document.createRange(), at = node.data.indexOf('his'); range.setStart(node, at);
            range.setEnd(node, at + 1); const box = range.getBoundingClientRect();
            return [box.left + 1, box.top + box.height / 2]; }"""
    )
    box = edge.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(*where, steps=3)
    page.mouse.up()
    assert text_of(page, "doc1:3.1") == "The king came home in the evening, and"

    page.get_by_role("button", name="doc1:1.2").click()
    page.keyboard.press("u")
    page.get_by_label("Comment (c)").fill("left out")
    page.get_by_label("Translator").select_option("ann")
    page.get_by_role("button", name="doc1:1.1").click()
    page.keyboard.press("w")
    expect(page.locator("#segments")).to_contain_text("Edit the text itself in the translator's files")
    expect(page.locator("#count")).to_contain_text("not saved: 6")
    page.get_by_role("button", name="Save").click()
    page.locator("#where", has_text="saved").wait_for()
    lines = {(line["segment"], line["translator"]): line for line in filed(tales)}
    assert sorted(key[0] for key in lines) == [f"doc1:{n}" for n in ("1.1", "1.2", "2.1", "2.2", "3.1", "3.2")]
    assert {line["author"] for line in lines.values()} == {"Ida"}
    assert lines["doc1:1.2", "dora"]["text"] is None
    assert lines["doc1:1.2", "dora"]["comment"] == "left out"
    assert lines["doc1:1.1", "ann"]["wrong"] is True
    expect(page.locator("#segments")).to_contain_text("wrong, saved; recompute to use it")
    page.get_by_label("Translator").select_option("dora")
    expect(page.locator('li[data-id="doc1:2.1"]')).to_contain_text("saved; recompute to use it")
    for width, scheme in [(1440, "light"), (390, "dark")]:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
        assert Axe().run(page).response["violations"] == []
        if folder := os.environ.get("VARIORUM_SHOTS"):
            page.screenshot(path=f"{folder}/correcting-{width}-{scheme}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_role("button", name="Recompute").click()
    page.locator("#where", has_text="the references are up to date").wait_for(timeout=240_000)
    expect(page.locator("#segments")).not_to_contain_text("recompute to use it")
    assert noise == []
    context.close()
    after = dict(tales.read("alignment", columns=["passage", "fingerprint"]).iter_rows())
    assert {passage for passage in PASSAGES if after[passage] != before[passage]} == {*PASSAGES[:3]}
    references = tales.read("reference", columns=["passage", "translator", "complete"]).filter(passage=PASSAGES[0])
    assert dict(references.drop("passage").iter_rows()) == {"ann": False, "ben": True, "dora": False}
    assert content(tales) == content(build(tmp_path / "anew", tales.folder / "tales"))
