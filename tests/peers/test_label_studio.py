"""A real Label Studio: what annotators see there, and that its exports come back."""

import json
import os
import re
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import sync_playwright

from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.forms import FORMS, MQM
from benchmark_assets.people.sample import export_items
from resources.warehouse import Warehouse
from tests.peers.environments import Peer
from tests.people.test_controls import PASSAGES, TEXTS, drawn
from tests.people.test_sample import put_outputs
from tests.processes import CHROMIUM, free_port, started

__all__ = ["drawn"]

PEER = "label-studio"
pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium"),
]
EMAIL, PASSWORD, TOKEN = "mori@example.org", "not-secret-123", "0123456789" * 4


class Studio(NamedTuple):
    """A running Label Studio with one account."""

    url: str

    def ask(self, method: str, path: str, body: object = None) -> Any:
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", content, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.load(reply)

    def project(self, folder: Path, name: str) -> int:
        """A project with the files for an annotator."""
        config = (folder / "labeling-config.xml").read_text(encoding="utf-8")
        number: int = self.ask("POST", "/api/projects/", {"title": name, "label_config": config})["id"]
        tasks = json.loads((folder / f"tasks.{name}.json").read_text(encoding="utf-8"))
        self.ask("POST", f"/api/projects/{number}/import", tasks)
        return number

    def tasks(self, project: int) -> list[dict[str, Any]]:
        tasks: list[dict[str, Any]] = self.ask("GET", f"/api/tasks/?project={project}&fields=all&page_size=500")[
            "tasks"
        ]
        return tasks


@pytest.fixture(scope="module")
def studio(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder, port = tmp_path_factory.mktemp("studio"), free_port()
    settings = {"LABEL_STUDIO_BASE_DATA_DIR": str(folder), "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true"}
    account = ["--username", EMAIL, "--password", PASSWORD, "--user-token", TOKEN]
    command = [str(peer.programs / "label-studio"), "start", "--no-browser", "--port", str(port), *account]
    running = Studio(f"http://127.0.0.1:{port}")
    with started(command, running.url, folder / "log", os.environ | settings):
        yield running


def seen(studio: Studio, project: int, task: int, word: str) -> str:
    """The text of the page on which an annotator labels a task, once it shows a word."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{studio.url}/user/login")
        page.fill("input[name=email]", EMAIL)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.goto(f"{studio.url}/projects/{project}/data?task={task}")
        panel = page.locator(".lsf-main-content").first
        panel.get_by_text(word).first.wait_for(timeout=60_000)
        text = panel.inner_text()
        browser.close()
    return text


ODD = "\U0001d504lpha wrong e\u0301clair\r\nwrong \U00010380\u0323 wrong \U0001f984 end."
"""An output whose offsets depend on the unit: characters beyond U+FFFF, combining marks and a line break of two
characters. The word "wrong" occurs three times, so that its place cannot be guessed from its text."""

PLACE = """
([text, from, to]) => {
  const inside = [...document.querySelectorAll('[class*="htx-richtext"]')].find(
    (each) => each.textContent.includes(text))
  const walker = document.createTreeWalker(inside, NodeFilter.SHOW_TEXT)
  const range = document.createRange()
  for (let node = walker.nextNode(), seen = 0; node; node = walker.nextNode()) {
    if (seen <= from && from < seen + node.length) range.setStart(node, from - seen)
    if (seen < to && to <= seen + node.length) range.setEnd(node, to - seen)
    seen += node.length
  }
  inside.scrollIntoView({block: "center"})
  const box = range.getBoundingClientRect()
  return [range.toString(), box.left, box.right, box.top + box.height / 2]
}
"""
"""Where a page shows a stretch of the element that contains a text, and what it shows there."""


def mark(studio: Studio, project: int, task: int, word: str) -> str:
    """Mark the last occurrence of a word in a task's candidate with the mouse, and submit; return the words marked."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 1600})
        page.goto(f"{studio.url}/user/login")
        page.fill("input[name=email]", EMAIL)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.goto(f"{studio.url}/projects/{project}/data?task={task}")
        page.get_by_text("Valid variation").first.wait_for(timeout=60_000)
        page.locator(".lsf-label, .ls-label").get_by_text("Error", exact=True).first.click()
        shown = page.evaluate(
            """(text) => [...document.querySelectorAll('[class*="htx-richtext"]')]
            .map((each) => each.textContent).find((each) => each.includes(text))""",
            word,
        )
        start = len(shown[: shown.rindex(word)].encode("utf-16-le")) // 2
        marked, left, right, middle = page.evaluate(PLACE, [word, start, start + len(word)])
        page.mouse.move(left + 1, middle)
        page.mouse.down()
        page.mouse.move(right - 1, middle, steps=5)
        page.mouse.up()
        for choice in ("Minor error", "Other", "Low"):
            page.locator("label").filter(has_text=re.compile(rf"^\s*{choice}")).first.click()
        page.wait_for_timeout(500)
        page.get_by_role("button", name="Submit").first.click()
        page.wait_for_timeout(2000)
        browser.close()
    return str(marked)


def result(candidate: str, major: bool) -> list[Mapping[str, Any]]:
    """An annotation as the page sends it."""
    answers = {"label": "Major error", "error_category": "Other", "severity": "High"}
    if not major:
        answers = {"label": "Valid variation", "severity": "None"}
    parts: list[Mapping[str, Any]] = [
        {"from_name": name, "to_name": "candidate", "type": "choices", "value": {"choices": [word]}}
        for name, word in answers.items()
    ]
    if major:
        span = {"start": 0, "end": 4, "text": candidate[:4], "labels": ["Error"]}
        parts.append({"from_name": "error_span", "to_name": "candidate", "type": "labels", "value": span})
    return parts


def test_annotators_see_the_texts_alone_and_their_labels_come_back(
    studio: Studio, drawn: Warehouse, tmp_path: Path
) -> None:
    """The page shows source and candidate, no JSON, no key, no earlier annotation; labels come back."""
    export_items(drawn, tmp_path / "out", "tiny", ["mori"])
    project = studio.project(tmp_path / "out", "mori")
    tasks = studio.tasks(project)
    first, second = (task["data"] for task in tasks[:2])
    for task in tasks[1:]:
        body = {"result": result(task["data"]["candidate"], task["id"] % 3 == 0)}
        studio.ask("POST", f"/api/tasks/{task['id']}/annotations/", body)
    page = seen(studio, project, tasks[0]["id"], "Valid variation")
    lines = [line.strip() for line in page.splitlines()]
    assert {first["place"], first["source_text"], first["candidate"]} <= set(lines)
    assert not [word for word in ("made_for", first["item"], second["candidate"], "{") if word in page]
    for kind, ending in (("JSON", "full"), ("JSON_MIN", "min")):
        content = studio.ask("GET", f"/api/projects/{project}/export?exportType={kind}&download_all_tasks=true")
        (tmp_path / f"{ending}.json").write_text(json.dumps(content), encoding="utf-8")
    full, least = import_labels(drawn, [tmp_path / "full.json", tmp_path / "min.json"])
    assert full == (len(tasks) - 1, 0, 0, 1, 0, {})
    assert (least.taken, least.unchanged, least.quarantined) == (0, len(tasks) - 1, 0)
    labels = drawn.read("imported_label")
    assert set(labels["annotator"]) == {"mori"}  # the only account, which exports identify by number
    assert labels["span_end"].drop_nulls().to_list() == [4] * labels.filter(label="MAJOR_ERROR").height


def test_a_span_in_an_odd_text_comes_back(studio: Studio, drawn: Warehouse, tmp_path: Path) -> None:
    """A word marked with the mouse behind characters beyond U+FFFF, combining marks and CRLF."""
    put_outputs(drawn, TEXTS | {("alpha", PASSAGES[0]): ODD})
    export_items(drawn, tmp_path / "out", "tiny", ["mori"])
    project = studio.project(tmp_path / "out", "mori")
    task = next(each for each in studio.tasks(project) if each["data"]["candidate"] == ODD)
    assert mark(studio, project, task["id"], "wrong") == "wrong"
    content = studio.ask("GET", f"/api/projects/{project}/export?exportType=JSON")
    (tmp_path / "export.json").write_text(json.dumps(content), encoding="utf-8")
    (counts,) = import_labels(drawn, [tmp_path / "export.json"])
    assert (counts.taken, counts.quarantined) == (1, 0)
    start = ODD.rindex("wrong")
    assert drawn.read("imported_label", columns=["span_start", "span_end"]).rows() == [(start, start + len("wrong"))]


def test_errors_that_are_marked_there_come_back(studio: Studio, drawn: Warehouse, tmp_path: Path) -> None:
    """Errors with severity and category (MQM), an omission and a score."""
    export_items(drawn, tmp_path / "out", "tiny", ["mori"], FORMS[MQM])
    project = studio.project(tmp_path / "out", "mori")
    tasks = studio.tasks(project)
    text = tasks[0]["data"]["candidate"]
    place = {"start": 0, "end": 4, "text": text[:4]}
    parts: list[tuple[str, str, dict[str, Any]]] = [
        ("severity", "labels", place | {"labels": ["Critical"]}),
        ("category", "choices", place | {"choices": ["Fluency/grammar"]}),
        ("omission", "choices", {"choices": ["Minor"]}),
        ("score", "number", {"number": 12}),
    ]
    answer = [
        {
            "id": "r1" if "start" in value else name,
            "from_name": name,
            "to_name": "candidate",
            "type": kind,
            "value": value,
        }
        for name, kind, value in parts
    ]
    studio.ask("POST", f"/api/tasks/{tasks[0]['id']}/annotations/", {"result": answer})
    page = seen(studio, project, tasks[1]["id"], "Critical")
    shown = tasks[1]["data"]
    assert {shown["source_text"], shown["candidate"]} <= {line.strip() for line in page.splitlines()}
    content = studio.ask("GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true")
    (tmp_path / "export.json").write_text(json.dumps(content), encoding="utf-8")
    assert import_labels(drawn, [tmp_path / "export.json"])[0][:5] == (1, 0, 0, 0, 0)
    found = drawn.read("imported_span", columns=["text", "category", "severity"])
    assert found.rows() == [(text[:4], "fluency/grammar", "critical"), ("", "accuracy/omission", "minor")]
    assert drawn.read("imported_annotation", columns=["annotator", "esa"]).rows() == [("mori", 12)]
