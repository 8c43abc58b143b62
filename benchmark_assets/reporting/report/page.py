"""The report as one self-contained HTML file: it needs no network, and its content no script.

Each chart is an SVG in the colors of the page's style, light or dark. Vega, embedded once, redraws it from the same
specification, so that readers can point at a mark and read its numbers. A policy in the page forbids every request.

Here: HTML, and the input of the scripts. Not here: content (content), drawing (charts).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from types import MappingProxyType
from urllib.parse import quote, urlencode

import vl_convert

from benchmark_assets.reporting.report.charts import COLOURS, Spec
from benchmark_assets.reporting.report.exhibits import Cell, Exhibit, ExhibitColumn, ExhibitSource, Part

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval'; img-src data:"
"""Vega compiles the expressions of a specification, hence unsafe-eval."""

TIME = re.compile(r"<time\b[^>]*>[^<]*</time>")
_TAG, _DIGITS = re.compile(r"<[^>]*>"), re.compile(r"(\.\d\d)\d+")


def page(parts: Sequence[Part], made: datetime, readers: Mapping[str, str] = MappingProxyType({})) -> str:
    """The report as HTML.

    Parameters
    ----------
    made
        When, in UTC.
    readers
        By corpus, the path of its reader's page as the report's folder sees it: numbers of the corpus then link to the
        passages behind them.
    """
    specs: list[str] = []
    body = "\n".join(line for at, part in enumerate(parts) for line in _part(part, f"part-{at}", specs, readers))
    named = escape(", ".join(part.title for part in parts)) or "nothing yet"
    return "\n".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>Variorum report: {named}</title>\n<style>\n{_file('style.css')}</style>\n</head>\n<body>",
        '<a class="skip" href="#content">Skip to the content</a>',
        f"<header>\n<h1>Variorum report</h1>\n<p>{named}. Made {_time(made)}.</p>\n</header>",
        f'<nav aria-label="Contents">\n{_contents(parts)}\n</nav>\n<main id="content">\n{body}\n</main>',
        '<footer><p>Brackets hold 95 % intervals. Headings of columns sort their table.</p></footer>',
        f'<script type="application/json" id="charts">[{_inert(",".join(specs))}]</script>',
        f"<script>(function () {{\n{_vega() if specs else ''}\n}})();</script>\n<script>\n{_file('table.js')}</script>",
        "</body>\n</html>\n",
    ])  # fmt: skip


def content_hash(html: str) -> str:
    """Hash of a page's content, without the times that the page shows: 64 hexadecimal digits."""
    return sha256(TIME.sub("", html).encode()).hexdigest()


def _contents(parts: Sequence[Part]) -> str:
    items = []
    for at, part in enumerate(parts):
        own = "".join(
            f'<li><a href="#part-{at}-{i}">{_words(each.title)}</a></li>' for i, each in enumerate(part.exhibits)
        )
        items.append(f'<li><a href="#part-{at}">{_words(part.title)}</a><ul>{own}</ul></li>')
    return f"<ul>{''.join(items)}</ul>"


def _part(part: Part, name: str, specs: list[str], readers: Mapping[str, str]) -> Iterator[str]:
    yield f'<section class="part" aria-labelledby="{name}"><h2 id="{name}">{_words(part.title)}</h2>'
    for at, each in enumerate(part.exhibits):
        yield from _exhibit(each, part.title, f"{name}-{at}", specs, readers)
    yield "</section>"


def _exhibit(
    exhibit: Exhibit, part: str, name: str, specs: list[str], readers: Mapping[str, str]
) -> Iterator[str]:  # fmt: skip
    title = _words(exhibit.title)
    yield f'<section class="exhibit"><h3 id="{name}">{title}</h3>'
    yield f"<p>{_words(exhibit.words)}</p>"
    if exhibit.chart is not None:
        spec = styled(exhibit.chart)
        label = escape(f"Chart: {exhibit.title}. {exhibit.words} The table below has its numbers.")
        yield (
            f'<figure><div class="chart" role="img" data-chart="{len(specs)}" aria-label="{label}">'
            f"{_picture(spec)}</div></figure>"
        )  # fmt: skip
        specs.append(spec)
    yield f'<div class="scroll" role="region" tabindex="0" aria-label="Table: {escape(f"{exhibit.title}, {part}")}">'
    yield _table(exhibit, readers)
    yield "</div>"
    yield from _beneath(exhibit)
    yield "</section>"


def _table(exhibit: Exhibit, readers: Mapping[str, str]) -> str:
    columns = exhibit.columns
    heads = "".join(f'<th scope="col"{_kind(column)}>{_words(column.heading)}</th>' for column in columns)
    first = next((at for at, column in enumerate(columns) if column.of_names), 0)
    rows = (
        "<tr>" + "".join(_cell(cell, columns[at], at == first, readers) for at, cell in enumerate(cells)) + "</tr>"
        for cells in zip(*(column.cells for column in columns), strict=True)
    )
    caption = f"<caption>{_words(exhibit.title)}</caption>"
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>\n{chr(10).join(rows)}\n</tbody></table>"


def _cell(cell: Cell, column: ExhibitColumn, first: bool, readers: Mapping[str, str]) -> str:
    tag = "th scope=row" if first else "td"
    text = _words(cell.text) if column.of_names else escape(cell.text)
    if cell.behind and (reader := readers.get(cell.behind["corpus"])):
        address = f"{quote(reader)}#{urlencode(cell.behind, quote_via=quote)}"
        text = f'<a href="{escape(address)}">{text}</a>'
    if cell.interval:
        text += f' <span class="interval">{escape(cell.interval)}</span>'
    key = "" if cell.value is None else f" data-value={cell.value:.10g}"
    return f"<{tag}{_kind(column)}{key}>{text}</{tag.partition(' ')[0]}>"


def _kind(column: ExhibitColumn) -> str:
    return "" if column.of_names else " class=number"


def _beneath(exhibit: Exhibit) -> Iterator[str]:
    """Sources of an exhibit (partitions and versions) and its signatures."""
    if exhibit.sources:
        yield f'<p class="beneath">From {"; ".join(_source(each) for each in exhibit.sources)}.</p>'
    if exhibit.signatures:
        own = "".join(f"<li>{_words(each)}</li>" for each in exhibit.signatures)
        yield f'<details class="beneath"><summary>Signature</summary><ul>{own}</ul></details>'


def _source(source: ExhibitSource) -> str:
    covers = f", {escape(source.covers)}" if source.covers else ""
    return f"{escape(source.asset)} <code>v {source.version}…</code>{covers}, run of {_time(source.changed)}"


def _time(moment: datetime) -> str:
    return f'<time datetime="{moment:%Y-%m-%dT%H:%M}Z">{moment:%Y-%m-%d}</time>'


def _words(text: str) -> str:
    """Escaped text; non-ASCII text is isolated from the direction of the text around it."""
    return f"<bdi>{escape(text)}</bdi>" if not text.isascii() else escape(text)


def styled(chart: Spec) -> str:
    """A chart as JSON, with the page's colours in place of those of `COLOURS`."""
    text = json.dumps(chart, ensure_ascii=False, separators=(",", ":"))
    for name, colour in COLOURS.items():
        text = text.replace(f'"{colour}"', f'"var(--{name})"')
    return text


def _picture(spec: str) -> str:
    """A chart as SVG, to a hundredth of a pixel: that halves it."""
    drawn = _TAG.sub(lambda tag: _DIGITS.sub(r"\1", tag[0]), vl_convert.vegalite_to_svg(spec))
    return drawn.replace("<svg ", '<svg aria-hidden="true" ', 1)  # what it says stands beside it, and in the table


def _inert(text: str) -> str:
    """JSON in which no HTML parser finds the end of a script element."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed of the version that draws the SVGs, as one script."""
    return (
        vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        .replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
    )


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
