"""The report as one HTML file that needs no network and is complete without scripts.

Each chart is an SVG in the colors of the page's light or dark style. Vega is embedded once. It redraws the charts
with tooltips, from the same specifications. A content security policy forbids all requests. Here: HTML, and the input
of the scripts. Not here: content (content), charts (charts).
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from types import MappingProxyType
from urllib.parse import quote, urlencode

import vl_convert

from benchmark_assets.reporting.report.charts import COLORS, COMMON, FONT, Spec
from benchmark_assets.reporting.report.display import Cell, Display, ExhibitColumn, ExhibitSource, Part
from benchmark_assets.reporting.terms import explained, glossary

POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; script-src {scripts}; style-src {styles}"
"""Content security policy: nothing is loaded or evaluated, and only the page's own scripts and style are allowed, by
their hashes. Vega interprets the expressions of a specification instead of compiling them (`ast` in table.js)."""

LONG = 40
"""Characters of a cell beyond which its column has a minimum width."""

UNFOLDED = 20
"""Number of rows up to which a table is shown unfolded."""

GROUPS = {"corpus": "Corpora", "model": "Models: what is each bad at?", "": "Further"}
"""Headings of the contents, by kind of part."""

OF_SYSTEMS = ("system", "model")
"""Headings of columns that name the system of a row."""

_GLOSSARY = (
    f'\n<section class="part" aria-labelledby="words"><h2 id="words">Words</h2><dl class="words">\n{glossary()}\n</dl>'
    "</section>"
)
TIME = re.compile(r"<time\b[^>]*>[^<]*</time>")
_FONT = f' font-family="{FONT}"'
_TAG, _DIGITS = re.compile(r"<[^>]*>"), re.compile(r'((?<!opacity="0)\.\d)\d+')
_SILENT = re.compile(r' (?:role|aria-\w+|pointer-events|opacity)="(?!0)[^"]*"')
_UNSEEN = re.compile(r'<path class="(?:back|fore)ground"[^>]*/>')


def page(
    parts: Sequence[Part], time: datetime, readers: Mapping[str, str] = MappingProxyType({}), title: str = "report"
) -> str:  # fmt: skip
    """The report as HTML.

    Parameters
    ----------
    time
        Time to show in the header, in UTC.
    readers
        Path of each corpus's reader page, relative to the report. Numbers about the corpus link to passages on this
        page.
    title
        Kind of page, as its heading after "Variorum".
    """
    specs: list[str] = []
    body = "\n".join(line for part in parts for line in _part(part, specs, readers)) + _GLOSSARY
    titles = escape(", ".join(part.title for part in parts if part.kind != "model")) or "nothing yet"
    words = f"<p>{titles}. Written on {_time(time)}.</p>"
    footer = (
        "<footer><p>Intervals in brackets are 95 % intervals. Click a column heading to sort the table.</p></footer>\n"
        '<script type="application/json" id="charts">'
        f'{{"config":{styled(COMMON["config"])},"charts":[{_inert(",".join(specs))}]}}</script>\n'
    )
    contents = f'<nav aria-label="Contents">\n{_contents(parts)}\n</nav>\n'
    scripts = [f"\n{_vega() if specs else ''}", f"\n{_file('table.js')}"]
    return document(f"Variorum {title}", words, body, titles, contents, footer, scripts)


def document(
    heading: str, words: str, body: str, titles: str = "", contents: str = "", footer: str = "",
    scripts: Sequence[str] = (), asks: bool = False,
) -> str:  # fmt: skip
    """An HTML page in the report's style that loads nothing: a heading, and HTML for the rest.

    `titles` follows the heading in the page's title. Only `scripts` are allowed to run, and to ask the page's own
    server if `asks` is true.
    """
    style = f"\n{_file('style.css')}"
    policy = POLICY.format(scripts=_hashes(scripts) or "'none'", styles=_hashes([style]))
    policy += "; connect-src 'self'" if asks else ""
    return "\n".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{escape(heading)}{titles and f': {titles}'}</title>\n<style>{style}</style>\n</head>\n<body>",
        '<a class="skip" href="#content">Skip to the content</a>',
        f"<header>\n<h1>{_words(heading)}</h1>\n{words}\n</header>",
        f'{contents}<main id="content">\n{body}\n</main>\n{footer}'
        + "\n".join(f"<script>{script}</script>" for script in scripts),
        "</body>\n</html>\n",
    ])  # fmt: skip


def _hashes(texts: Iterable[str]) -> str:
    """Hashes of inline scripts or styles, as sources for a content security policy."""
    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)


def content_hash(html: str) -> str:
    """SHA-256 of a page, ignoring the times that it shows: 64 hexadecimal digits."""
    return sha256(TIME.sub("", html).encode()).hexdigest()


def address(kind: str, title: str) -> str:
    """The fragment of the page's address, without #, at which the part about a corpus, a model or anything else is."""
    return f"{kind or 'part'}-{quote(title, safe='/')}"


def _contents(parts: Sequence[Part]) -> str:
    """Links to the parts, by kind; those to a part's exhibits are folded, and left out for models."""
    lists = []
    for kind, heading in GROUPS.items():
        items = "".join(map(_entry, (part for part in parts if part.kind == kind)))
        lists.append(f'<section class="{kind}"><h2>{heading}</h2><ul>{items}</ul></section>' if items else "")
    return "\n".join(
        filter(None, [*lists, '<section><h2>Words</h2><p><a href="#words">What the words mean</a></p></section>'])
    )


def _entry(part: Part) -> str:
    name = escape(address(part.kind, part.title))
    entries = "".join(
        f'<li><a href="#{name}.{i}">{_words(each.title)}</a></li>' for i, each in enumerate(part.exhibits)
    )
    count = "1 table" if len(part.exhibits) == 1 else f"{len(part.exhibits)} tables and charts"
    folded = "" if part.kind == "model" else f"<details><summary>{count}</summary><ul>{entries}</ul></details>"
    return f'<li><a href="#{name}">{_words(part.title)}</a>{folded}</li>'


def _part(part: Part, specs: list[str], readers: Mapping[str, str]) -> Iterator[str]:
    name = escape(address(part.kind, part.title))
    heading = f"{part.kind.capitalize()} {_words(part.title)}".strip()
    yield f'<section class="part" aria-labelledby="{name}"><h2 id="{name}">{heading}</h2>'
    if part.kind == "corpus" and (reader := readers.get(part.title)):
        yield f'<p><a href="{escape(quote(reader))}">Passages of {_words(part.title)} in the reader</a></p>'
    found = "What it is bad at" if part.kind == "model" else "Findings"
    for kind, title, sentences in (("findings", found, part.findings), ("unsaid", "What cannot be said", part.unsaid)):
        if sentences:
            items = "".join(f"<li>{explained(_words(each))}</li>" for each in sentences)
            yield f'<div class="{kind}"><h3>{title}</h3><ul>{items}</ul></div>'
    for at, exhibit in enumerate(part.exhibits):
        yield from _exhibit(exhibit, part, f"{name}.{at}", specs, readers)
    yield "</section>"


def _exhibit(
    exhibit: Display, part: Part, name: str, specs: list[str], readers: Mapping[str, str]
) -> Iterator[str]:  # fmt: skip
    title = _words(exhibit.title)
    yield f'<section class="exhibit"><h3 id="{name}">{title}</h3>'
    if exhibit.words:
        yield f'<p id="{name}-words">{explained(_words(exhibit.words))}</p>'
    if exhibit.chart is not None:
        label = escape(f"Chart: {exhibit.question or exhibit.title} The table below has the numbers.")
        yield (
            f"<figure><figcaption>{_words(exhibit.question)}</figcaption>"
            f'<div class="chart" role="img" tabindex="0" data-chart="{len(specs)}" aria-label="{label}" '
            f'aria-describedby="{name}-words">'
            f"{_picture(styled(exhibit.chart))}</div></figure>"
        )  # fmt: skip
        specs.append(styled({name: part for name, part in exhibit.chart.items() if name not in COMMON}))
    count = len(exhibit.columns[0].cells) if exhibit.columns else 0
    if count > UNFOLDED:
        yield f"<details><summary>Table with {count} rows</summary>"
    label = escape(f"Table: {exhibit.title}, {part.title}")
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">'
    yield _table(exhibit, part.systems, readers)
    yield "</div>"
    yield from _beneath(exhibit)
    if count > UNFOLDED:
        yield "</details>"
    yield "</section>"


def _table(exhibit: Display, systems: Mapping[str, Mapping[str, str]], readers: Mapping[str, str]) -> str:
    columns = exhibit.columns
    heads = "".join(f"<th scope=col{_head(column)}>{_words(column.heading)}</th>" for column in columns)
    first = next((at for at, column in enumerate(columns) if column.of_names), 0)
    rows = (
        "<tr>" + "".join(
            _cell(cell, columns[at], at == first, cell.behind or _of_row(cells, cell, columns[at], systems), readers)
            for at, cell in enumerate(cells)
        ) + "</tr>"
        for cells in zip(*(column.cells for column in columns), strict=True)
    )  # fmt: skip
    caption = f"<caption>{_words(exhibit.title)}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>\n{chr(10).join(rows)}\n</tbody></table>"


def _of_row(
    cells: Sequence[Cell], cell: Cell, column: ExhibitColumn, systems: Mapping[str, Mapping[str, str]]
) -> Mapping[str, str] | None:  # fmt: skip
    """The reader's filter for the name of a row's system, if no number of the row leads to the reader."""
    named = column.heading in OF_SYSTEMS and not any(each.behind for each in cells)
    return systems.get(cell.text) if named else None


def _cell(
    cell: Cell, column: ExhibitColumn, first: bool, behind: Mapping[str, str] | None, readers: Mapping[str, str]
) -> str:  # fmt: skip
    tag = "th scope=row" if first else "td"
    text = _words(cell.text) if column.of_names else escape(cell.text)
    if behind and (reader := readers.get(behind["corpus"])):
        address = f"{quote(reader)}#{urlencode(behind, quote_via=quote)}"
        text = f'<a href="{escape(address)}">{text}</a>'
    if cell.interval:
        text += f' <span class="interval">{escape(cell.interval)}</span>'
    key = "" if cell.value is None else f" data-v={cell.value:.7g}"
    return f"<{tag}{_kind(column)}{key}>{text}"  # HTML needs no end tag here, and a report has thousands of cells


def _head(column: ExhibitColumn) -> str:
    long = column.of_names and any(len(cell.text) > LONG for cell in column.cells)
    return " class=long" if long else _kind(column)


def _kind(column: ExhibitColumn) -> str:
    return "" if column.of_names else " class=number"


def _beneath(exhibit: Display) -> Iterator[str]:
    """Sources of an exhibit (partitions and versions) and its signatures."""
    if exhibit.sources:
        yield f'<p class="beneath">From {"; ".join(map(_source, exhibit.sources))}.</p>'
    if exhibit.signatures:
        items = "".join(f"<li>{_words(signature)}</li>" for signature in exhibit.signatures)
        yield f'<details class="beneath"><summary>Signature</summary><ul>{items}</ul></details>'


def _source(source: ExhibitSource) -> str:
    covers = f", {escape(source.covers)}" if source.covers else ""
    return f"{escape(source.asset)} <code>v {source.version}…</code>{covers}, run of {_time(source.changed)}"


def _time(moment: datetime) -> str:
    return f'<time datetime="{moment:%Y-%m-%dT%H:%M}Z">{moment:%Y-%m-%d}</time>'


def _words(text: str) -> str:
    """Text as HTML. Non-ASCII text is in `bdi`, so that its direction does not affect its surroundings."""
    return f"<bdi>{escape(text)}</bdi>" if not text.isascii() else escape(text)


def styled(chart: Spec) -> str:
    """A chart as JSON, with the page's style variables in place of the colors in `COLORS`."""
    text = json.dumps(chart, ensure_ascii=False, separators=(",", ":"))
    for name, color in COLORS.items():
        text = text.replace(f'"{color}"', f'"var(--{name})"')
    return text


def _picture(spec: str) -> str:
    """A chart as SVG: coordinates cut to tenths of a pixel, the font inherited, and without what nobody sees or hears.

    It is hidden from screen readers, because the chart's label and the table have the content."""
    svg = vl_convert.vegalite_to_svg(spec).replace(_FONT, "")
    svg = _UNSEEN.sub("", _TAG.sub(lambda tag: _SILENT.sub("", _DIGITS.sub(r"\1", tag[0])), svg))
    return svg.replace("<svg ", f'<svg aria-hidden="true"{_FONT} ', 1)


def _inert(text: str) -> str:
    """JSON with escaped characters, so that no text in it can end a script element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, in the same versions that draw the SVGs."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return f"(function () {{\n{bundle}\n}})();".replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
