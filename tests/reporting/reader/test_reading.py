"""The reader in a browser: what it shows, what filters and links find, and that texts are texts."""

import itertools
import json
import random
import re
import time
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from benchmark_assets.audit.outcomes import categories, outcomes
from benchmark_assets.audit.rated import rated
from benchmark_assets.corpus.units import with_units
from benchmark_assets.reporting.reader.writing import write_reader
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.reporting.reader.world import CORPUS, HOSTILE, MODELS, TIBETAN, WEDGES, build


def opened(page: Page, folder: Path, **wanted: str) -> Page:
    """The page at what is wanted."""
    page.goto(f"file://{folder}/index.html")
    page.wait_for_selector("h2")
    return at(page, **wanted)


def at(page: Page, **wanted: str) -> Page:
    """Follow a link, and wait for what it shows."""
    page.evaluate(
        """wanted => new Promise(done => {
            const hash = '#' + new URLSearchParams(wanted);
            if (hash === location.hash || (hash === '#' && !location.hash)) return done();
            addEventListener('hashchange', () => setTimeout(done), { once: true });
            location.hash = hash;
        })""",
        wanted,
    )
    return page


def count(page: Page) -> str:
    return page.inner_text("#count")


def shown(page: Page) -> str:
    return page.inner_text("h2")


def outputs(page: Page) -> list[str]:
    return page.locator(".outputs article h3").all_inner_texts()


def counts(page: Page, links: list[dict[str, str]]) -> list[int]:
    """How many outputs each link leads to."""
    found: Any = page.evaluate(
        """async links => {
            const found = [];
            for (const wanted of links) {
                const changed = new Promise(done =>
                    addEventListener('hashchange', () => setTimeout(done), { once: true }));
                location.hash = '#' + new URLSearchParams(wanted);
                await changed;
                found.push(parseInt(document.getElementById('count').textContent));
            }
            return found;
        }""",
        links,
    )
    return [int(each) for each in found]


def test_numbers_of_the_audit_lead_to_as_many_outputs(page: Page, reader: Path, stored: Warehouse) -> None:
    """Those of the report's tables of outcomes and categories, by the panel and by people, with their totals."""
    triage = with_units(stored.read("triage"), stored)
    rows = rated(triage, stored.read("verdict"), stored.read("human_label"))
    labels = {"valid": "VALID_VARIATION", "minor": "MINOR_ERROR", "major": "MAJOR_ERROR"}
    links: list[tuple[dict[str, str], int]] = []
    for row in outcomes(triage, rows).iter_rows(named=True):
        place = {"raters": row["raters"].replace("panel", ""), "model": row["model"], "band": row["band"]}
        links += [(place | {"label": label}, row[column]) for column, label in labels.items()]
    for row in categories(rows).iter_rows(named=True):
        place = {"raters": row["raters"].replace("panel", ""), "model": row["model"]}
        links.append((place | {"category": row["error_category"]}, row["minor"] + row["major"]))
    some = [link for number, link in enumerate(links) if link[1] > 1 or number % 10 == 0]
    assert sum(number for _, number in some) > 300
    assert counts(opened(page, reader), [link for link, _ in some]) == [number for _, number in some]


def test_disagreement_and_ids(page: Page, reader: Path, stored: Warehouse) -> None:
    triage, panel = stored.read("triage"), stored.read("verdict").filter("split")
    split = triage.filter("queued").join(panel, on=["model", "passage"], how="semi")
    assert len(split)
    assert count(opened(page, reader, disagreement="split")).startswith(f"{len(split)} output")
    against = int(count(at(page, disagreement="people")).partition(" ")[0])
    assert 0 < against <= triage["sampled"].sum()
    assert count(at(page, collection="b")) == "45 outputs of 15 passages"
    at(page)
    page.fill("[name=text]", "A1")
    expect(page.locator("#count")).to_have_text("15 outputs of 5 passages")  # a10, a12, …, a18 and none of b
    assert "text=A1" in page.url
    page.fill("[name=text]", "nowhere")
    expect(page.locator("#count")).to_have_text("0 outputs of 0 passages")
    expect(page.locator("main")).to_have_text("No passage matches these filters.")
    page.click("#clear")
    expect(page.locator("#count")).to_have_text(re.compile("of 36 passages$"))


def test_any_value_the_closest_reference_verdicts_and_faults_are_filters(
    page: Page, reader: Path, stored: Warehouse
) -> None:
    """What the report's counts of outputs, of those judged and of those scored lead to."""
    triage, people = stored.read("triage"), stored.read("human_label").select("model", "passage").unique()
    scored, versus = len(stored.read("drift_score")), len(stored.read("head_to_head"))
    judged = stored.read("verdict").join(triage.filter("queued"), on=["model", "passage"], how="semi")
    links = [
        ({"band": "any"}, len(triage)), ({"label": "any"}, len(judged)),
        ({"label": "any", "raters": "people"}, len(people)), ({"closest": "any"}, scored),
        ({"closest": "ann"}, scored), ({"closest": "nobody"}, 0), ({"verdict": "machine"}, versus),
        ({"verdict": "human"}, 0), ({"verdict": "any", "model": MODELS[0]}, len(triage.filter(model=MODELS[0]))),
        ({"fault": "truncated"}, len(triage.filter(model=MODELS[0]))), ({"fault": "markup"}, 0),
        ({"fault": "any"}, len(triage.filter(model=MODELS[0]))), ({"fault": "any", "model": MODELS[1]}, 0),
    ]  # fmt: skip
    assert counts(opened(page, reader), [link for link, _ in links]) == [number for _, number in links]
    assert "embedder: e" in (page.locator("#made").text_content() or "")


def test_a_link_opens_what_it_names_and_says_what_is_not_here(page: Page, reader: Path) -> None:
    opened(page, reader, corpus="tiny", passage="a4:1", model=MODELS[1])
    assert (shown(page), outputs(page), page.input_value("[name=model]")) == ("a4:1", [MODELS[1]], MODELS[1])
    assert count(page) == "36 outputs of 36 passages"
    assert "2 outputs of this passage do not match" in page.inner_text(".outputs")
    page.check("#all")
    expect(page.locator(".outputs article h3")).to_have_text(sorted(MODELS))  # shown by an event that follows
    for model, ids in ((MODELS[2], "a4:1"), ("nobody", "a4:1")):
        at(page, passage=ids, model=model)
        assert outputs(page) == ([model] if model in MODELS else [])
    assert "this reader shows tiny, not other" in count(at(page, corpus="other"))
    assert "there is no passage nowhere here" in count(at(page, passage="nowhere"))


def test_on_a_phone_filters_are_folded_and_those_in_use_are_named(page: Page, reader: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, reader)
    at(page, model=MODELS[1], text="a1")
    summary = page.locator("#filtering > summary")
    assert summary.inner_text() == f"Filters: model {MODELS[1]}, passage id contains a1"
    assert page.locator("#filters").is_hidden()
    summary.click()
    page.click("#clear")
    expect(summary).to_have_text("Filters")


def test_one_walks_by_button_by_key_and_back(page: Page, reader: Path) -> None:
    opened(page, reader, collection="b", passage="b1:1")
    assert page.get_attribute("#previous", "aria-disabled") == "true"
    page.click("#next")
    expect(page.locator("h2")).to_have_text("b11:1")
    page.keyboard.press("ArrowRight")
    expect(page.locator("h2")).to_have_text("b13:1")
    assert page.inner_text("#where") == "passage b13:1, 3 of 15"  # said aloud
    page.keyboard.press("ArrowLeft")
    expect(page.locator("h2")).to_have_text("b11:1")
    page.focus("[name=text]")
    page.keyboard.press("ArrowRight")  # within the field
    assert shown(page) == "b11:1"
    page.select_option("[name=model]", MODELS[0])
    expect(page.locator("article")).to_have_count(1)
    for passage, articles in (("b11:1", 3), ("b13:1", 3), ("b11:1", 3), ("b1:1", 3)):
        page.go_back()
        expect(page.locator("h2")).to_have_text(passage)
        expect(page.locator("article")).to_have_count(articles)
    assert page.input_value("[name=model]") == ""


def test_differences_are_marked_and_can_be_had_against_another(page: Page, reader: Path) -> None:
    opened(page, reader, passage="a4:1", model=MODELS[0])
    text = page.locator("article .text")
    assert text.locator("del").all_text_contents() == ["spring ", "ann "]
    assert text.locator("ins").all_text_contents() == ["well ", "very ", "zq/alpha "]
    looks = "mark => getComputedStyle(mark).textDecorationLine"
    assert [text.locator(tag).first.evaluate(looks) for tag in ("ins", "del")] == ["underline", "line-through"]
    at(page, passage="a4:1", model=MODELS[0], against="nothing")
    assert page.locator("article ins, article del").count() == 0
    assert page.inner_text("article .text") == f"The well tiny/a4:1 runs very quickly, {MODELS[0]} says."
    assert "drift" in page.inner_text("dl.scores")
    assert "0.712" in page.inner_text("dl.scores")
    assert "Against the human translation: machine (balance 0.5, 6 seats)" in page.inner_text("article")
    assert page.locator(".beside h3").all_inner_texts() == ["Source", "Reference: ann", "Reference: ben incomplete"]


def test_marked_errors_are_underlined_and_listed(page: Page, reader: Path) -> None:
    opened(page, reader, passage="a4:1", model=MODELS[0])
    for against in ("", "nothing"):
        at(page, passage="a4:1", model=MODELS[0], against=against)
        marks = page.locator("article .text mark")
        assert "".join(marks.all_text_contents()) == "The well"
        minor = "minor: style (zqj1)"
        assert {mark.get_attribute("title") for mark in marks.all()} == {
            minor, f"{minor}\nmajor: accuracy/mistranslation (zqj1)"
        }  # fmt: skip
        assert marks.last.get_attribute("class") == "major"
        assert page.locator("article .text del mark").count() == 0
    rows = [row.inner_text().split("\t") for row in page.locator("table.errors tbody tr").all()]
    assert rows == [
        ["zqj1", "MQM -25, ESA 60"],
        ["minor", "style", "output", "The well"],
        ["major", "accuracy/mistranslation", "output", "well"],
        ["minor", "other", "output", "quotation that is not in the output"],
        ["critical", "accuracy/omission", "source", "Fons"],
    ]
    at(page, passage="marks:1", model=MODELS[0], against="nothing")
    letters, marked = page.inner_text("article .text"), page.locator("article .text mark").all_text_contents()
    assert "".join(marked[:-1]) == letters[:8]
    assert marked[-1] == WEDGES  # after characters that are two units in JavaScript


def test_an_output_leads_to_the_steps_it_came_from(page: Page, reader: Path) -> None:
    opened(page, reader, passage="a4:1", model=MODELS[0])
    panel = page.locator("article .origin")
    assert panel.locator("li").count() == 0  # made when it is first unfolded
    panel.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(panel.locator("li")).to_have_count(3)
    first, *others = (line.partition(",")[0] for line in panel.locator("li").all_inner_texts())
    assert first == "source_text 55555555"  # the passage's own steps come first
    assert set(others) == {"model_output aaaaaaaa", "drift_score bbbbbbbb"}
    whole = panel.inner_text()
    assert "from code 7, settings 8, source_text 55555555" in whole
    assert f"call of {MODELS[0]} with the prompt translate, answered by zq-2026, 2,000 tokens in, 30 out" in whole
    assert f"variorum trace {MODELS[0]} tiny/a4:1" in whole
    assert "Stale" not in whole
    page.keyboard.press("Enter")
    expect(panel.locator("li").first).to_be_hidden()
    at(page, passage="a4:1", model=MODELS[1])
    assert panel.locator("summary").inner_text() == "Where this comes from (stale)"
    panel.locator("summary").click()
    expect(panel.locator(".stale")).to_have_text("Stale: model_output changed since.")
    assert "from code 9, model_output cccccccc" in panel.inner_text()


COMPARED = """pairs => pairs.map(([reference, text]) => READER.compared(reference, text).map(part =>
    typeof part === 'string' ? ['', part] : [part.tagName, part.textContent]))"""


def compared(page: Page, *pairs: tuple[str, str]) -> list[list[tuple[str, str]]]:
    found: Any = page.evaluate(COMPARED, pairs)
    return [[(tag, part) for tag, part in parts] for parts in found]


def longest(a: str, b: str) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = row
        row = [0]
        for j, y in enumerate(b):
            row.append(before[j] + 1 if x == y else max(before[j + 1], row[j]))
    return row[-1]


def test_differences_keep_the_text_and_are_as_few_as_can_be(page: Page, reader: Path) -> None:
    chance = random.Random(3)
    letters = ["日本語中文", "กขคงจ", "abcde"]
    pairs = [
        ("".join(chance.choices(own, k=chance.randrange(25))), "".join(chance.choices(own, k=chance.randrange(25))))
        for own in letters[:2] * 60
    ]
    spaced = [(" ".join(a), " ".join(b)) for a, b in (
        ["".join(chance.choices(letters[2], k=chance.randrange(25))) for _ in range(2)] for _ in range(60)
    )]  # fmt: skip
    odd = [
        ("e\u0301 Ā!", "é ā!"),
        ("", "  x\n"),
        ("x", ""),
        (TIBETAN, TIBETAN.replace("དུས", "ཕྱིར")),
        ("a", "A  b\n\nc 👩\u200d👧"),
    ]
    given = [*pairs, *spaced, *odd]
    for (reference, text), parts in zip(given, compared(opened(page, reader), *given), strict=True):
        assert "".join(part for tag, part in parts if tag != "DEL") == text
        if (reference, text) in pairs or (reference, text) in spaced:
            a, b = reference.replace(" ", ""), text.replace(" ", "")
            for tag, whole in (("DEL", a), ("INS", b)):
                marked = sum(len(part.replace(" ", "")) for own, part in parts if own == tag)
                assert marked == len(whole) - longest(a, b)
    same, tibetan = compared(page, odd[0], odd[3])
    assert same == [("", "é ā!")]  # case and the form of accents are no difference
    assert {part for tag, part in tibetan if tag == "INS"} == {"ཕྱིར"}  # by syllable


def test_long_texts_are_compared_in_a_moment(page: Page, reader: Path) -> None:
    chance = random.Random(5)
    words = [f"w{n}" for n in range(3000)]
    before = " ".join(chance.choices(words, k=4000))
    after = " ".join(word for word in before.split() if chance.random() > 0.2)
    han = "".join(chance.choices("日本語中文字漢", k=20_000))
    opened(page, reader)
    start = time.perf_counter()
    found = compared(page, (before, after), (han, han[::-1]))
    assert time.perf_counter() - start < 3
    assert not [part for tag, part in found[0] if tag == "INS"]
    assert "".join(part for tag, part in found[1] if tag != "DEL") == han[::-1]


def test_hostile_texts_are_shown_as_they_are(page: Page, reader: Path) -> None:
    opened(page, reader)
    kept = (
        "p => { p = p.cloneNode(true); p.querySelectorAll('del').forEach(one => one.remove()); return p.textContent }"
    )
    for passage, text in HOSTILE.items():
        at(page, passage=passage, model=MODELS[0], against="nothing")
        assert shown(page) == passage
        assert page.text_content(".beside .text") == page.text_content("article .text") == text
        at(page, passage=passage, model=MODELS[0])  # with differences
        assert page.locator("article .text").evaluate(kept) == text
        assert page.locator("main img, main script").count() == 0
        assert page.evaluate("window.hacked === undefined && document.documentElement.scrollWidth <= innerWidth")


LINE_ENDS = """p => {
    const range = document.createRange(), ends = [];
    let bottom = null;
    for (let n = 0; n < p.firstChild.length; n++) {
        range.setStart(p.firstChild, n);
        range.setEnd(p.firstChild, n + 1);
        const box = range.getBoundingClientRect();
        if (bottom !== null && box.top > bottom) ends.push(p.firstChild.data[n - 1]);
        bottom = box.top + box.height / 2;
    }
    return ends;
}"""


def test_each_text_has_its_language_and_direction(page: Page, reader: Path) -> None:
    opened(page, reader, passage="tib:1", model=MODELS[0])
    look = "p => [p.lang, p.dir, getComputedStyle(p).unicodeBidi]"
    assert page.locator(".beside .text").first.evaluate(look) == ["bo", "auto", "isolate"]
    assert page.locator("article .text").evaluate(look)[:2] == ["en", "auto"]
    ends = page.locator(".beside .text").first.evaluate(LINE_ENDS)
    assert len(ends) > 2
    assert set(ends) <= {"་", "།", " "}
    at(page, passage="rtl:1", model=MODELS[0])
    assert page.locator(".beside .text").first.evaluate("p => getComputedStyle(p).direction") == "rtl"


def test_nothing_is_in_the_way_of_anybody(page: Page, reader: Path, blind: Path) -> None:
    """No finding of axe, with everything unfolded, on a phone and on a wide screen; and no page scrolls sideways."""
    for folder, width in itertools.product((reader, blind), (390, 1440)):
        page.set_viewport_size({"width": width, "height": 900})
        opened(page, folder)
        for panel in page.locator("details").all():
            if panel.get_attribute("open") is None:
                panel.locator("> summary").click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (folder.name, width)
        for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False, **rules})
            findings = [(each["id"], each["nodes"][0]["html"]) for each in found.response["violations"]]
            assert findings == [], (folder.name, width, scheme)


def test_two_models_are_read_from_where_one_is_furthest_ahead_to_where_it_is_furthest_behind(
    page: Page, tmp_path: Path
) -> None:
    chrf = {MODELS[0]: {"a0": 50.0, "b1": 70.0, "a2": 20.0}, MODELS[1]: {"a0": 55.0, "b1": 30.0, "a2": 90.0, "b3": 9.0}}
    stored = build(tmp_path, count=4)
    with stored.kept_open():
        put(stored, "lexical_score", *(
            {"model": model, "passage": f"{CORPUS}/{name}:1", "chrf": score}
            for model, scores in chrf.items() for name, score in scores.items()
        ))  # fmt: skip
        write_reader(stored, tmp_path / "reader", CORPUS)
    opened(page, tmp_path / "reader", model=MODELS[0], ahead=MODELS[1])
    assert page.locator("#place option").all_inner_texts() == ["b1:1", "a0:1", "a2:1"]
    assert (shown(page), sorted(outputs(page))) == ("b1:1", sorted(MODELS[:2]))
    at(page, model=MODELS[1], ahead=MODELS[0])
    assert page.locator("#place option").all_inner_texts() == ["a2:1", "a0:1", "b1:1"]
    at(page, model=MODELS[0])
    listed = page.locator("#place option").all_inner_texts()
    page.locator("#filters select[name=order]").select_option("drift")
    drifts = dict(stored.read("triage").filter(model=MODELS[0]).select("passage", "drift").iter_rows())
    expected = sorted(listed, key=lambda passage: -drifts.get(f"{CORPUS}/{passage}", -1))
    assert page.locator("#place option").all_inner_texts() == expected != listed


def test_an_unknown_licence_stands_at_the_text(page: Page, tmp_path: Path) -> None:
    own = build(tmp_path, count=2)
    description = tmp_path / "corpus" / "corpus.yaml"
    described = json.loads(description.read_text(encoding="utf-8"))
    described["references"]["ann"]["licence"] = "unknown"
    description.write_text(json.dumps(described), encoding="utf-8")
    write_reader(own, tmp_path / "reader", CORPUS)
    headings = opened(page, tmp_path / "reader").locator(".beside h3").all_inner_texts()
    assert [heading for heading in headings if "licence unknown" in heading] == [
        heading for heading in headings if heading.startswith("Reference: ann")
    ]
