"""A real Pearmut: campaigns that it accepts, what its page shows and sends, and annotations that come back."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page, sync_playwright

from benchmark_assets.error_spans.campaigns import ESA, MQM, OUTPUT, write_campaign
from benchmark_assets.error_spans.human_spans import import_annotations
from resources.warehouse import Warehouse
from tests.adjudication.test_controls import drawn
from tests.automation.dagster_ui import free_port
from tests.reporting.reader.conftest import CHROMIUM

__all__ = ["drawn"]

PROGRAM = os.environ.get("VARIORUM_PEARMUT")
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(PROGRAM is None, reason="needs Pearmut, installed apart: VARIORUM_PEARMUT=FOLDER/bin/pearmut"),
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium"),
]
MAIN = "main-token"


class Pearmut(NamedTuple):
    """A running Pearmut."""

    url: str

    def ask(self, path: str, body: object = None) -> Any:
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", content, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def add(self, file: Path) -> str:
        """Load a campaign, and return its id."""
        campaign = json.loads(file.read_text(encoding="utf-8"))
        (added,) = self.ask("/add-campaign", {"campaign_data": campaign, "token_main": MAIN})["campaigns"]
        number: str = added["campaign_id"]
        return number

    def annotate(self, campaign: str, user: str, answer: dict[str, Any]) -> list[dict[str, Any]]:
        """Answer all items of a user alike, as the page does; return the items."""
        shown = []
        while (item := self.ask("/get-next-item", {"campaign_id": campaign, "user_id": user}))["status"] == "ok":
            payload = {"annotation": [{OUTPUT: answer}], "actions": [{"time": 1.0}], "item": item["payload"]}
            body = {"campaign_id": campaign, "user_id": user, "item_i": item["info"]["item_i"], "payload": payload}
            assert self.ask("/log-response", body) == "ok"
            shown += item["payload"]
        assert item["status"] == "goodbye"
        return shown

    def download(self, campaign: str, file: Path) -> Path:
        file.write_text(json.dumps(self.ask(f"/download-annotations?campaign_id={campaign}")), encoding="utf-8")
        return file


@pytest.fixture(scope="module")
def pearmut(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pearmut]:
    assert PROGRAM is not None
    folder, port = tmp_path_factory.mktemp("pearmut"), free_port()
    settings = {"PEARMUT_ROOT": str(folder), "PEARMUT_TOKEN_MAIN": MAIN}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [PROGRAM, "run", "--port", str(port)], cwd=folder, env=os.environ | settings, stdout=log, stderr=log
        )
    running = Pearmut(f"http://127.0.0.1:{port}")
    try:
        for _ in range(60):
            try:
                urllib.request.urlopen(running.url, timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(1)
        yield running
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1400, "height": 1200})
        browser.close()


@pytest.mark.parametrize("protocol", [ESA, MQM])
def test_annotations_of_a_campaign_come_back(pearmut: Pearmut, drawn: Warehouse, tmp_path: Path, protocol: str) -> None:
    sent = write_campaign(drawn, tmp_path / "campaign.json", "tiny", ["mori", "Ana Ó"], protocol)
    campaign = pearmut.add(tmp_path / "campaign.json")
    category = "accuracy/mistranslation" if protocol == MQM else None
    span = {"start_i": 0, "end_i": 3, "severity": "Major", "category": category}
    shown = pearmut.annotate(campaign, "mori", {"score": 61, "error_spans": [span]})
    pearmut.annotate(campaign, "Ana Ó", {"score": 100, "error_spans": []})
    assert len(shown) == sent.items + sent.controls
    path = pearmut.download(campaign, tmp_path / "annotations.json")
    counts = import_annotations(drawn, path)
    assert counts == (2 * len(shown), 0, 0, 0, 0, {})
    assert import_annotations(drawn, path) == (0, 2 * len(shown), 0, 0, 0, {})
    spans = drawn.read("imported_span")
    assert set(spans.select("annotator", "span_start", "span_end", "category", "severity").iter_rows()) == {
        ("mori", 0, 4, category, "major")
    }
    controls = drawn.read("control_item").join(spans, on="item", how="semi")
    assert len(controls) == sent.controls


def test_the_page_shows_the_texts_alone_and_its_annotation_comes_back(
    pearmut: Pearmut, drawn: Warehouse, tmp_path: Path, page: Page
) -> None:
    """A person marks the first word and a missing part, and moves the slider."""
    write_campaign(drawn, tmp_path / "campaign.json", "tiny", ["santos"], ESA)
    content = json.loads((tmp_path / "campaign.json").read_text()) | {"campaign_id": "by-hand"}
    (tmp_path / "campaign.json").write_text(json.dumps(content))
    campaign = pearmut.add(tmp_path / "campaign.json")
    item = content["data"][0][0][0]
    page.goto(f"{pearmut.url}/annotate?campaign_id={campaign}&user_id=santos")
    page.locator(".tgt_char").first.wait_for()
    text = page.inner_text("body")
    assert item["src"] in text
    assert item["tgt"][OUTPUT] in text
    assert not [
        word for word in ("alpha own", 'score": ', item["item_id"]) if word in text.replace(item["tgt"][OUTPUT], "")
    ]
    letters = page.locator(".tgt_char:not(.special_token)")
    for place in (0, 3):
        letters.nth(place).click()
    page.get_by_role("button", name="Major").first.click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(1000)
    page.locator(".special_token").click()
    page.locator(".special_token").click()
    page.locator("input[value=Minor]:visible").first.click()
    page.mouse.move(5, 5)
    page.wait_for_timeout(1000)
    slider = page.locator("input[type=range]").first
    slider.focus()
    slider.fill("70")
    slider.dispatch_event("change")
    page.locator("#button_next").click()
    page.wait_for_timeout(2000)
    assert import_annotations(drawn, pearmut.download(campaign, tmp_path / "annotations.json")).taken == 1
    assert drawn.read("imported_annotation", columns=["esa"]).item() == 70
    found = drawn.read("imported_span", columns=["side", "span_start", "span_end", "text", "category", "severity"])
    assert found.rows() == [
        ("output", 0, 4, "tiny", None, "major"), ("source", None, None, "", "accuracy/omission", "minor")
    ]  # fmt: skip
