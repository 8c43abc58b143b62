"""A real Pearmut: campaigns that it accepts, what its page shows and sends, and annotations that come back."""

import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page, sync_playwright

from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.forms import ESA, MQM
from benchmark_assets.people.pearmut import CONTRASTIVE, Plan, candidate, write_campaign
from resources.warehouse import Warehouse
from tests.peers.environments import Peer
from tests.people.test_controls import drawn
from tests.people.test_errors import judged
from tests.processes import CHROMIUM, free_port, started

__all__ = ["drawn"]

PEER = "pearmut"
pytestmark = [
    pytest.mark.peer,
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
        """Answer all items of a user alike, as the page does, and keep marks that are there; return the items."""
        shown = []
        while (item := self.ask("/get-next-item", {"campaign_id": campaign, "user_id": user}))["status"] == "ok":
            answers = [
                {name: {**answer, **_marked(segment, name)} for name in segment["tgt"]} for segment in item["payload"]
            ]
            payload = {"annotation": answers, "actions": [{"time": 1.0}], "item": item["payload"]}
            body = {"campaign_id": campaign, "user_id": user, "item_i": item["info"]["item_i"], "payload": payload}
            assert self.ask("/log-response", body) == "ok"
            shown += item["payload"]
        assert item["status"] == "goodbye"
        return shown

    def download(self, campaign: str, file: Path) -> Path:
        file.write_text(json.dumps(self.ask(f"/download-annotations?campaign_id={campaign}")), encoding="utf-8")
        return file


def _marked(segment: dict[str, Any], name: str) -> dict[str, Any]:
    spans = segment.get("error_spans", {})
    return {"error_spans": spans[name]} if name in spans else {}


@pytest.fixture(scope="module")
def pearmut(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pearmut]:
    folder, port = tmp_path_factory.mktemp("pearmut"), free_port()
    settings = {"PEARMUT_ROOT": str(folder), "PEARMUT_TOKEN_MAIN": MAIN}
    command = [str(peer.programs / "pearmut"), "run", "--port", str(port)]
    running = Pearmut(f"http://127.0.0.1:{port}")
    with started(command, running.url, folder / "log", os.environ | settings):
        yield running


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1400, "height": 1200})
        browser.close()


@pytest.mark.parametrize("protocol", [ESA, MQM, CONTRASTIVE])
def test_annotations_of_a_campaign_come_back(pearmut: Pearmut, drawn: Warehouse, tmp_path: Path, protocol: str) -> None:
    """A campaign of each protocol, annotated by two people, and its annotations imported."""
    sent = write_campaign(drawn, tmp_path / "campaign.json", "tiny", ["mori", "Ana Ó"], Plan(protocol))
    campaign = pearmut.add(tmp_path / "campaign.json")
    category = "accuracy/mistranslation" if protocol == MQM else None
    span = {"start_i": 0, "end_i": 3, "severity": "Major", "category": category}
    shown = pearmut.annotate(campaign, "mori", {"score": 61, "error_spans": [span]})
    pearmut.annotate(campaign, "Ana Ó", {"score": 100, "error_spans": []})
    number = sum(len(segment["tgt"]) for segment in shown)
    assert number == sent.items + sent.controls
    path = pearmut.download(campaign, tmp_path / "annotations.json")
    counts = import_labels(drawn, [path])[0]
    assert counts == (2 * number, 0, 0, 0, 0, {})
    assert import_labels(drawn, [path])[0] == (0, 2 * number, 0, 0, 0, {})
    spans = drawn.read("imported_span")
    assert set(spans.select("annotator", "span_start", "span_end", "category", "severity").iter_rows()) == {
        ("mori", 0, 4, category, "major")
    }
    controls = drawn.read("control_item").join(spans, on="item", how="semi")
    assert len(controls) == sent.controls


def test_a_judges_errors_are_shown_and_come_back(
    pearmut: Pearmut, drawn: Warehouse, tmp_path: Path, page: Page
) -> None:
    """A judge's errors, prefilled in a campaign: shown on the page, and imported as they were left."""
    located = {"span_start": 0, "span_end": 4, "category": "style", "severity": "critical"}
    missing = {"side": "source", "category": "accuracy/omission", "severity": "minor"}
    judged(drawn, located, missing)
    write_campaign(drawn, tmp_path / "campaign.json", "tiny", ["mori"], Plan(MQM, judge="j"))
    content = json.loads((tmp_path / "campaign.json").read_text()) | {"campaign_id": "prefilled"}
    marked = next(n for n, (segment,) in enumerate(content["data"][0]) if segment["error_spans"][candidate(1)])
    content["data"][0] = [content["data"][0][marked], *content["data"][0][:marked], *content["data"][0][marked + 1 :]]
    (tmp_path / "campaign.json").write_text(json.dumps(content))
    campaign = pearmut.add(tmp_path / "campaign.json")
    page.goto(f"{pearmut.url}/annotate?campaign_id={campaign}&user_id=mori")
    page.locator(".tgt_char").first.wait_for()
    assert page.locator(".tgt_char[class*=error]").count() == 5  # four letters, and the mark behind the output
    pearmut.annotate(campaign, "mori", {"score": 61, "error_spans": []})
    assert import_labels(drawn, [pearmut.download(campaign, tmp_path / "annotations.json")])[0].quarantined == 0
    spans = drawn.read("imported_span", columns=["span_start", "span_end", "category", "severity"])
    assert spans.rows() == [(0, 4, "style", "critical"), (None, None, "accuracy/omission", "minor")]


def test_a_dynamic_campaign_is_annotated(pearmut: Pearmut, drawn: Warehouse, tmp_path: Path) -> None:
    """A dynamic campaign, in which Pearmut chooses the models."""
    sent = write_campaign(drawn, tmp_path / "campaign.json", "tiny", ["mori"], Plan(dynamic=True))
    content = json.loads((tmp_path / "campaign.json").read_text())
    content |= {"campaign_id": "dynamic", "info": content["info"] | {"docs_per_user": 12}}
    (tmp_path / "campaign.json").write_text(json.dumps(content))
    campaign = pearmut.add(tmp_path / "campaign.json")
    shown = pearmut.annotate(campaign, "mori", {"score": 61, "error_spans": []})
    assert 12 <= len(shown) < sent.items
    counts = import_labels(drawn, [pearmut.download(campaign, tmp_path / "annotations.json")])[0]
    assert (counts.quarantined, counts.taken >= 12) == (0, True)


def test_the_page_shows_the_texts_alone_and_its_annotation_comes_back(
    pearmut: Pearmut, drawn: Warehouse, tmp_path: Path, page: Page
) -> None:
    """A person marks the first word and a missing part, and moves the slider."""
    write_campaign(drawn, tmp_path / "campaign.json", "tiny", ["santos"], Plan())
    content = json.loads((tmp_path / "campaign.json").read_text()) | {"campaign_id": "by-hand"}
    (tmp_path / "campaign.json").write_text(json.dumps(content))
    campaign = pearmut.add(tmp_path / "campaign.json")
    item = content["data"][0][0][0]
    page.goto(f"{pearmut.url}/annotate?campaign_id={campaign}&user_id=santos")
    page.locator(".tgt_char").first.wait_for()
    text = page.inner_text("body")
    assert item["src"] in text
    assert item["tgt"][candidate(1)] in text
    assert not [
        word
        for word in ("alpha own", 'score": ', item["item_id"])
        if word in text.replace(item["tgt"][candidate(1)], "")
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
    assert import_labels(drawn, [pearmut.download(campaign, tmp_path / "annotations.json")])[0].taken == 1
    assert drawn.read("imported_annotation", columns=["esa"]).item() == 70
    found = drawn.read("imported_span", columns=["side", "span_start", "span_end", "text", "category", "severity"])
    assert found.rows() == [
        ("output", 0, 4, "tiny", None, "major"), ("source", None, None, "", "accuracy/omission", "minor")
    ]  # fmt: skip
