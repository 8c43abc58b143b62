"""The report in a browser that has no network: what is drawn, sorted, read aloud, and what no text can do to it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from benchmark_assets.reporting.report.content import parts
from benchmark_assets.reporting.report.display import Cell, Display, ExhibitColumn, ExhibitSource, Part, sources
from benchmark_assets.reporting.report.page import address, content_hash, page
from benchmark_assets.reporting.report.writing import write_gallery
from benchmark_assets.reporting.terms import TERMS
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.processes import CHROMIUM
from tests.reporting.report.made import BANDS, MEASURES, SECRET, SIGNATURE, SLICES, TRANSLATORS, benchmark, made, put

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "ירושלים \u202eabc",
    "བོད་ཡིག་དཔེ་མཚོན་",
    "e\u0301\u0302\u0303\u0323 & \"quoted\" 'single'",
    "]] --> {{datum.value}} \\u003c",
]
LONG = "long " * 4000
MODELS = [*HOSTILE, "alpha", "beta", "gamma", "delta"]
PASSAGES = 1700
WHEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Ten models on 1,700 passages, most of them with names that no page would like."""
    own = made(tmp_path_factory.mktemp("made"), MODELS, PASSAGES, problem=LONG)
    secret = {"model": MODELS[0], "passage": "made/p0:1", "judge": "brisk", "annotator": SECRET, "item": SECRET}
    put(own, "reference", [{"passage": "made/p0:1", "translator": "ann", "text": SECRET}])
    put(
        own,
        "source_text",
        [{"passage": "made/p0:1", "corpus": "made", "text": SECRET, "segments": [SECRET], "segment_ids": ["1"]}],
    )
    put(own, "model_output", [{**_of(secret, "model", "passage"), "text": SECRET}])
    words = dict.fromkeys(("cause", "evidence", "problem_phrase", "correction", "abstention"), SECRET)
    put(own, "judge_vote", [{**_of(secret, "model", "passage", "judge"), **words}])
    put(own, "human_label", [{**_of(secret, "model", "passage", "annotator"), "notes": SECRET}])
    put(own, "aspect_vote", [{**_of(secret, "model", "passage", "judge"), "justification": SECRET}])
    with own.kept_open():
        yield own


@pytest.fixture(scope="module")
def html(warehouse: Warehouse) -> str:
    return page(parts(warehouse), WHEN, {"made": "the reader/index.html"})


@pytest.fixture(scope="module")
def file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("report") / "report.html"
    place.write_text(html, encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        each = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield each
        each.close()


@pytest.fixture(scope="module")
def shown(browser: Browser, file: Path) -> Iterator[Page]:
    """The report once its charts are drawn, with what it asked for and complained of in `window.seen`."""
    context = browser.new_context(offline=True)
    own, seen = context.new_page(), list[str]()
    own.on("request", lambda request: seen.append(f"request {request.url}"))
    own.on("console", lambda message: seen.append(f"{message.type} {message.text}"))
    own.on("pageerror", lambda error: seen.append(f"error {error}"))
    own.on("dialog", lambda dialog: seen.append(f"dialog {dialog.message}"))
    own.goto(file.as_uri())
    own.wait_for_function("document.documentElement.dataset.drawn")
    assert seen == [f"request {file.as_uri()}"]
    yield own
    assert seen == [f"request {file.as_uri()}"]
    context.close()


@pytest.mark.proof
@pytest.mark.large
def test_ten_models_on_1700_passages_stay_below_a_size_that_can_be_sent(html: str) -> None:
    assert len(html.encode()) < 2_250_000


def test_vega_draws_every_chart_with_the_marks_that_its_rows_have(shown: Page) -> None:
    charts, live = shown.locator(".chart"), shown.locator(".chart .vega-embed svg")
    assert live.count() == charts.count() == int(shown.evaluate("document.documentElement.dataset.drawn")) > 12
    systems = len(MODELS) + len(TRANSLATORS)
    assert _marks(shown, "Leaderboard", "symbol") == len(MODELS) * len([*MEASURES[:4], "drift", "major_rate"])
    assert _marks(shown, "Ranks", "symbol") == systems
    assert _marks(shown, "Errors by band of drift", "rect") == 2 * len(BANDS) * 4
    assert _marks(shown, "Errors by category", "rect") == 2 * 5 * 2
    assert _marks(shown, "Closest reference", "symbol") == systems * 3 - 3
    assert _marks(shown, "Concordance of measures", "symbol") == len(MEASURES) * (len(MEASURES) - 1) / 2
    assert _marks(shown, "LT against anchors@1.0.0", "symbol") == (len(MODELS) + 5) * len(SLICES)
    assert _marks(shown, "Literary scores", "symbol") == len(MODELS) * 3
    assert _marks(shown, "Mean scores", "symbol") == len(MODELS) * 2
    assert _marks(shown, "Costs", "rect") == len(MODELS) * 2
    assert _marks(shown, "Drift", "rect") > systems * 10


def test_charts_fit_a_phone(browser: Browser, file: Path) -> None:
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 844})
    own = context.new_page()
    own.goto(file.as_uri())
    own.wait_for_function("document.documentElement.dataset.drawn")
    assert own.evaluate("document.documentElement.scrollWidth") == 390
    assert _too_wide(own) == []  # even with names of 20 wide letters
    ticks = _exhibit(own, "Drift").locator(".chart .role-axis-label text").all_text_contents()
    assert "1.5" in ticks
    context.close()


def test_a_mark_shows_its_row_in_a_tooltip(shown: Page) -> None:
    shown.locator(".chart .vega-embed .role-mark.mark-symbol path").first.hover()
    tooltip = shown.locator("#vg-tooltip-element.visible")
    assert {"name", "value"} <= set(tooltip.locator("td.key").all_text_contents())
    assert tooltip.evaluate("each => getComputedStyle(each).position") == "fixed"
    shown.mouse.move(0, 0)
    assert tooltip.count() == 0


def test_the_policy_lets_only_the_page_s_own_scripts_and_styles_pass(browser: Browser, file: Path) -> None:
    hostile = "<script>hacked = 1</script><p id=target style='color: red' onclick='hacked = 2'>Click.</p></main>"
    page = file.with_name("hostile.html")
    page.write_text(file.read_text(encoding="utf-8").replace("</main>", hostile), encoding="utf-8")
    context = browser.new_context(offline=True)
    own = context.new_page()
    own.add_init_script(
        "violations = []; addEventListener('securitypolicyviolation', each => violations.push(each.effectiveDirective))"
    )
    own.goto(page.as_uri())
    own.wait_for_function("document.documentElement.dataset.drawn")
    own.locator("#target").click()
    assert own.evaluate("typeof hacked") == "undefined"
    assert sorted(own.evaluate("violations")) == ["script-src-attr", "script-src-elem", "style-src-attr"]
    assert "unsafe" not in (own.locator("meta[http-equiv]").get_attribute("content") or "")
    context.close()


def test_without_a_script_the_same_marks_are_there(browser: Browser, file: Path, shown: Page) -> None:
    context = browser.new_context(offline=True, java_script_enabled=False)
    own = context.new_page()
    own.goto(file.as_uri())
    assert own.locator(".vega-embed").count() == own.locator("thead button").count() == 0
    assert own.locator(".chart svg").count() == shown.locator(".chart svg").count()
    assert own.locator(".role-mark > path").count() == shown.locator(".role-mark > path").count()
    context.close()


def test_a_table_sorts_by_click_and_by_keyboard_and_what_has_no_number_stays_last(shown: Page) -> None:
    tables = shown.locator(".exhibit table").all()
    columns = [(table, at) for table in tables for at in range(table.locator("thead th").count())]
    table, at = next(each for each in columns if 0 < _column(*each).count("–") < len(_column(*each)))
    heading, absent = table.locator("thead th").nth(at), _column(table, at).count("–")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert _column(table, at)[-absent:] == ["–"] * absent
    table = _exhibit(shown, "Leaderboard").locator("table")
    heads = table.locator("thead th").all_inner_texts()
    heading = table.locator("thead th").filter(has_text="similarity")
    at = next(i for i, head in enumerate(heads) if head.startswith("similarity"))
    heading.locator("button").focus()
    for way in ("descending", "ascending"):
        shown.keyboard.press("Enter")
        values = [float(text.split()[0]) for text in _column(table, at)]
        assert values == sorted(values, reverse=way == "descending")
        assert heading.get_attribute("aria-sort") == way
    assert table.locator("[aria-sort]").count() == 1


def test_a_row_that_is_copied_is_one_line_and_arrows_are_not_read_aloud(shown: Page) -> None:
    table = _exhibit(shown, "Ranks").locator("table")
    copied = table.evaluate("""table => {
        getSelection().selectAllChildren(table.tBodies[0]);
        const text = getSelection().toString();
        getSelection().removeAllRanges();
        return text;
    }""")
    assert len(copied.strip().splitlines()) == table.locator("tbody tr").count()
    arrow = "getComputedStyle(document.querySelector('thead button'), '::after').content"
    assert shown.evaluate(arrow).endswith('/ ""')


def test_names_that_are_missing_stay_last_too(shown: Page) -> None:
    table = _exhibit(shown, "Agreement of the translators").locator("table")
    heading = table.locator("thead th").filter(has_text="other")
    at = table.locator("thead th").all_inner_texts().index(heading.inner_text())
    for _ in range(2):
        heading.locator("button").click()
        assert _column(table, at)[-1] == "–"


def test_a_word_s_meaning_is_at_hand_by_keyboard(shown: Page) -> None:
    term = shown.locator(".findings .term").first
    shown.keyboard.press("Shift")
    term.focus()
    word = (term.get_attribute("href") or "").removeprefix("#term-").replace("-", " ")
    assert term.evaluate("each => getComputedStyle(each, '::after').content").startswith(f'"{TERMS[word][:20]}')
    targets = shown.locator(".term").evaluate_all("all => [...new Set(all.map(each => each.hash.slice(1)))]")
    assert all(shown.evaluate("id => document.getElementById(id)?.localName === 'dt'", each) for each in targets)


def test_each_corpus_and_model_has_an_address_and_lists_passages(browser: Browser, file: Path) -> None:
    own = browser.new_page(offline=True)
    for model in MODELS:
        own.goto(f"{file.as_uri()}#{address('model', model)}")
        assert own.locator(":target").inner_text() == f"Model {model}".strip()
    links = own.locator("nav a").evaluate_all("all => all.map(each => each.hash.slice(1))")
    assert address("corpus", "made") in links
    assert own.evaluate("all => all.filter(id => !document.getElementById(id))", links) == []
    chapter = own.locator(".part").filter(has=own.get_by_role("heading", name="Model alpha", exact=True))
    passages = chapter.locator("tbody th a").evaluate_all("all => all.map(each => each.hash)")
    assert "#corpus=made&model=alpha&passage=p0%3A1" in passages
    own.close()


def test_a_printed_page_cuts_nothing_and_keeps_headings_with_what_follows(browser: Browser, file: Path) -> None:
    context = browser.new_context(offline=True, viewport={"width": 703, "height": 1009})  # A4 without margins
    own = context.new_page()
    own.goto(file.as_uri())
    own.wait_for_function("document.documentElement.dataset.drawn")
    own.emulate_media(media="print")
    own.evaluate("dispatchEvent(new Event('beforeprint'))")
    wide = (
        "all => all.filter(each => each.getBoundingClientRect().right > 704).map(each => each.outerHTML.slice(0, 300))"
    )
    assert own.locator("table, figure svg, p, li").evaluate_all(wide) == []
    assert own.locator("details:not(.beneath):not([open])").count() == 0
    style = "(each, [name, part]) => getComputedStyle(each)[name]"
    for name, value, places in (
        ("breakAfter", "avoid", ["h2", "h3", "figcaption"]), ("breakInside", "avoid", ["figure", "tr", "thead"]),
        ("display", "none", ["nav", "details.beneath"]),
        ("display", "contents", ["thead button"]), ("breakBefore", "page", [".part + .part"]),
    ):  # fmt: skip
        for place in places:
            assert own.locator(f"main {place}, body > {place}").first.evaluate(style, [name, place]) == value, place
    context.close()


def test_axe_finds_nothing_serious(browser: Browser, file: Path) -> None:
    """Of each table three rows stay, of the charts, which are pictures with a name, nothing: axe looks at all."""
    context = browser.new_context(offline=True, color_scheme="light")
    own = context.new_page()
    own.goto(file.as_uri())
    own.wait_for_function("document.documentElement.dataset.drawn")
    assert own.locator(".chart svg:not([aria-hidden=true])").count() == 0
    assert all(own.locator(".chart").evaluate_all("all => all.map(each => each.ariaLabel)"))
    own.evaluate("document.querySelectorAll('tbody tr:nth-child(n+4), .chart svg g').forEach(each => each.remove())")
    part = {
        "include": [["header"], ["nav"], [".exhibit"], [".findings"], [".unsaid"]],
        "exclude": [[".exhibit ~ .exhibit"]],
    }
    for scheme, where, rules in (("light", None, {}), ("dark", part, {"runOnly": ["color-contrast"]})):
        own.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        found = Axe().run(own, where, {"resultTypes": ["violations"], **rules}).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == [], scheme
    context.close()


def test_the_gallery_is_accessible_and_does_not_scroll_sideways(browser: Browser, tmp_path: Path) -> None:
    models = ["alpha", *(f"example-laboratory/translator-{each}-preview" for each in ("small", "large"))]
    own = made(tmp_path, models, 2)
    benchmark(own, tmp_path / "recipe")
    write_gallery(own, tmp_path / "gallery.html")
    shown = browser.new_page(viewport={"width": 390, "height": 800}, offline=True)
    shown.goto((tmp_path / "gallery.html").as_uri())
    shown.wait_for_function("document.documentElement.dataset.drawn")
    assert shown.evaluate("document.documentElement.scrollWidth") == 390
    assert _too_wide(shown) == []
    labels = _exhibit(shown, "Leaderboard, made").locator(".chart .role-axis-label text").all_text_contents()
    assert {each for each in labels if each.startswith("example-")} == {
        "example-labora…small-preview", "example-labora…large-preview"
    }  # fmt: skip
    shown.evaluate("document.querySelectorAll('.chart svg g').forEach(each => each.remove())")
    found = Axe().run(shown, None, {"resultTypes": ["violations"]}).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    shown.close()


def test_colours_follow_the_scheme_in_charts_too(shown: Page) -> None:
    ask = "getComputedStyle(document.querySelector('.chart .role-axis-label text')).fill"
    fills = []
    for scheme in ("light", "dark"):
        shown.emulate_media(color_scheme=scheme)
        fills.append(shown.evaluate(ask))
    shown.emulate_media(media="print")
    assert fills == ["rgb(27, 31, 36)", "rgb(232, 234, 237)"]
    assert shown.evaluate(ask) == "rgb(0, 0, 0)"
    shown.emulate_media(media="screen", color_scheme="light")


def test_names_and_words_stand_there_as_they_are_and_do_nothing(shown: Page) -> None:
    names = _exhibit(shown, "Leaderboard").locator("tbody th").all_text_contents()
    assert set(MODELS) <= set(names)
    assert LONG.strip() in (_exhibit(shown, "LT against anchors@1.0.0").text_content() or "")
    assert shown.evaluate("window.hacked === undefined")
    labels = shown.locator(".chart").first.locator(".role-axis-label text").all_text_contents()
    assert {HOSTILE[1][:18], HOSTILE[4]} <= {each if each in MODELS else each[:18] for each in labels}


def test_nothing_of_a_restricted_text_is_on_it(html: str) -> None:
    assert SECRET not in html


def test_a_number_leads_to_the_passages_behind_it(shown: Page) -> None:
    links = (
        _exhibit(shown, "Drift").locator("tbody a").evaluate_all("all => all.map(each => each.getAttribute('href'))")
    )
    assert "the%20reader/index.html#corpus=made&model=alpha&band=1.0-1.5" in links
    links = _exhibit(shown, "Errors by model").locator("a").evaluate_all("all => all.map(each => each.hash)")
    assert "#corpus=made&model=beta&label=MAJOR_ERROR&raters=people" in links
    board = _exhibit(shown, "Leaderboard").locator("tbody tr", has_text="alpha").first
    cells = board.locator("a").evaluate_all("all => all.map(each => each.hash)")
    assert cells.count("#corpus=made&model=alpha&closest=any") >= 5  # similarity, drift, chrF++ and so on
    names = _exhibit(shown, "Translators").locator("th a").evaluate_all("all => all.map(each => each.hash)")
    assert {*names} == {f"#corpus=made&against={name}" for name in TRANSLATORS}
    compared = _exhibit(shown, "Differences of similarity").locator("tbody th a")
    assert "#corpus=made&model=beta" in compared.evaluate_all("all => all.map(each => each.hash)")
    assert shown.get_by_role("link", name="Passages of made in the reader").get_attribute("href")
    assert "<a href" in page(_saying(1), WHEN, {"made": "reader/index.html"}).partition("<main")[2]
    assert "<a href" not in page(_saying(1), WHEN).partition("<main")[2]


def test_every_exhibit_says_by_what_and_from_what_it_was_made(shown: Page) -> None:
    for each in shown.locator(".exhibit").all():
        assert "v 01234567…" in (each.locator("p.beneath").text_content() or "") or "drift_score" in each.inner_text()
        assert each.locator("details li").count() >= 1
    words = _exhibit(shown, "Leaderboard").text_content() or ""
    assert f"17,000 outputs of 10 models on {PASSAGES:,} passages" in words
    assert SIGNATURE in words


def test_the_hash_is_of_what_it_says_not_of_when() -> None:
    later = datetime(2027, 1, 1, tzinfo=UTC)
    first, second = page(_saying(1), WHEN), page(_saying(1, later), later)
    assert first != second
    assert content_hash(first) == content_hash(second) != content_hash(page(_saying(2), WHEN))


def test_versions_are_those_of_the_corpus_and_change_with_any_partition() -> None:
    rows = [("a", "m", "c/1", "x"), ("a", "m", "c/2", "y"), ("a", "m", "d/1", "z"), ("b", "", "", "whole" * 4)]
    columns = ["asset", "model", "passage", "version"]
    states = pl.DataFrame(rows, schema=columns, orient="row").with_columns(task=pl.lit(""), updated_at=WHEN)
    both = sources(states, ["a", "b", "missing"], "c")
    assert [(each.asset, each.covers) for each in both] == [("a", "2 outputs of 1 model on 2 passages"), ("b", "")]
    assert both[1].version == "wholewho"
    changed = states.with_columns(version=pl.when(passage="c/2").then(pl.lit("new")).otherwise("version"))
    assert sources(changed, ["a"], "c")[0].version != both[0].version
    assert sources(changed, ["a"], "d") == sources(states, ["a"], "d")


def test_an_empty_warehouse_has_nothing_to_report(tmp_path: Path) -> None:
    warehouse = DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))
    assert parts(warehouse) == []
    empty = page([], WHEN)
    assert "nothing yet" in empty
    assert json.loads(empty.partition('id="charts">')[2].partition("</script>")[0])["charts"] == []


def _saying(value: int, changed: datetime = WHEN) -> list[Part]:
    """A report of one number."""
    column = ExhibitColumn("number", [Cell(str(value), value, {"corpus": "made"})])
    return [Part("part", [Display("title", "words", [column], None, [], [ExhibitSource("asset", "v", "", changed)])])]


def _of(row: dict[str, str], *names: str) -> dict[str, str]:
    return {name: row[name] for name in names}


def _exhibit(page: Page, title: str) -> Any:
    return page.locator(".exhibit").filter(has=page.get_by_role("heading", name=title, exact=True))


def _too_wide(page: Page) -> list[str]:
    """Names of the charts that scroll sideways."""
    names: list[str] = page.locator(".chart").evaluate_all(
        "all => all.filter(each => each.scrollWidth > each.clientWidth).map(each => each.ariaLabel)"
    )
    return names


def _marks(page: Page, title: str, kind: str) -> int:
    """Marks of a kind in an exhibit's chart, without those of its legend and axes."""
    count: int = _exhibit(page, title).locator(f".chart .mark-{kind}.role-mark > path").count()
    return count


def _column(table: Any, at: int) -> list[str]:
    texts: list[str] = table.locator(f"tbody tr > :nth-child({at + 1})").all_inner_texts()
    return texts
