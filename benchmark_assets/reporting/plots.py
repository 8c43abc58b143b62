"""Small static plots of aggregates for the metadata of assets in Dagster's UI, by the charts of the report.

Here: how charts become pictures in Markdown, of a size that Dagster can keep with an event. Not here: which charts an
asset shows (drawings), how a chart looks (report.charts), tables (readings).
"""

import base64
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any
from xml.etree import ElementTree

from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.plots")

Spec = dict[str, Any]

MOST = 40_000
"""Characters of the plots of one asset. Dagster keeps every event, and reads it whole where it lists one."""

LONGEST = 120
"""Characters of a title or a name."""

MORE = "{} more: `variorum report` has room for all."

WIDTH = 600
"""Pixels that there are in the window in which Dagster shows Markdown."""

PAPER = "#ffffff"
"""Pictures have a background of their own: they cannot know whether Dagster's page is light or dark."""

FONT = "Verdana, 'DejaVu Sans', sans-serif"
"""The widest of the common ones: where a browser has another, words are narrower than the room left for them."""

SVG = "http://www.w3.org/2000/svg"
NEEDLESS = {"class", "role", "aria-hidden", "aria-label", "aria-roledescription", "pointer-events", "stroke-miterlimit",
            "font-family", "font-size"}  # fmt: skip
PLAIN = {"opacity": "1", "font-weight": "normal", "stroke-width": "1", "transform": "translate(0,0)"}
"""Attributes that have no effect with this value."""

GEOMETRY = {"d", "transform", "x", "y", "x2", "y2", "width", "height"}
SIZE = "11px"


def plots(warehouse: Warehouse, asset: str) -> Mapping[str, str]:
    """Metadata `plot` of an asset of `drawings.OF`: its charts as pictures in Markdown; empty if it has no charts.

    Empty also if VARIORUM_PLOTS is `off`: drawing takes up to a second for each asset, and is useful in Dagster's UI
    only. A chart that cannot be drawn is reported in the metadata and the log, and does not fail the asset.
    """
    if os.environ.get("VARIORUM_PLOTS") == "off":
        return {}
    from benchmark_assets.reporting import drawings  # Altair takes a second to import

    try:
        text = pictured(drawings.OF[asset](warehouse))
    except Exception as error:
        logger.warning("no plot of %s", asset, exc_info=True)
        text = f"could not be drawn: {_escaped(str(error))[:500]}"
    return {"plot": text} if text else {}


def pictured(charts: Iterable[tuple[str, Spec]]) -> str:
    """Titles and charts as Markdown with pictures, and the number of charts left out beyond `MOST` characters.

    If a chart is too large, only its first rows are drawn, and its title gives the number of rows drawn and of all
    rows.
    """
    parts: list[str] = []
    waiting = list(charts)
    room = MOST - len(MORE) - 10
    while waiting:
        alone = len(waiting) == 1 or parts
        part = _within(*waiting[0], room if alone else room // 2)
        if part is None:
            break
        parts.append(part)
        room -= len(part) + 2
        waiting.pop(0)
    if waiting:
        parts.append(MORE.format(len(waiting)))
    return "\n\n".join(parts)


def _within(title: str, chart: Spec, most: int) -> str | None:
    """A chart as Markdown of at most `most` characters, cut to its first rows if necessary; None if no row fits."""
    rows = _rows(chart)
    text, kept = _picture(title, chart), len(rows)
    while len(text) > most:
        kept = min(kept - 1, kept * most * 4 // (len(text) * 5))  # a little less, for what every chart has
        if kept < 1:
            return None
        text = _picture(f"{title}: the first {kept} of {len(rows)}", _first(chart, set(rows[:kept])))
    return text


def _picture(title: str, chart: Spec) -> str:
    shown = _escaped(title[:LONGEST])
    encoded = base64.b64encode(svg(chart).encode()).decode()
    return f"**{shown}**\n\n![{shown}](data:image/svg+xml;base64,{encoded})"


def svg(chart: Spec) -> str:
    """A chart as SVG on white, no wider than `WIDTH`, without markup that is useful only in a page of its own."""
    import vl_convert  # starts a JavaScript engine, which only a run that draws should wait for

    config = {**chart.get("config", {}), "background": PAPER, "font": FONT, "axisBand": {"ticks": False}}
    paper = {**_cut(chart), "config": config, "padding": {"left": 16, "right": 12, "top": 8, "bottom": 8}}
    ElementTree.register_namespace("", SVG)
    tree = ElementTree.fromstring(vl_convert.vegalite_to_svg(paper, allowed_base_urls=[]))
    _strip(tree)
    tree.set("font-family", FONT)
    tree.set("font-size", SIZE)
    width, height = float(tree.get("width", WIDTH)), float(tree.get("height", WIDTH))
    if width > WIDTH:
        tree.set("width", str(WIDTH))
        tree.set("height", f"{height * WIDTH / width:.0f}")
    return ElementTree.tostring(tree, encoding="unicode")


def _cut(part: Any) -> Any:
    """A part of a chart with long names cut in the middle: measuring a name of 20,000 characters takes a minute."""
    if isinstance(part, str):
        return part if len(part) <= LONGEST else f"{part[: LONGEST // 2]}…{part[-LONGEST // 2 :]}"
    if isinstance(part, dict):
        return {key: _cut(each) for key, each in part.items()}
    return [_cut(each) for each in part] if isinstance(part, list) else part


def _strip(element: ElementTree.Element) -> None:
    """Remove attributes, elements and decimals that are not visible."""
    for name, value in list(element.attrib.items()):
        if PLAIN.get(name) == value or (name in NEEDLESS and not (name == "font-size" and value != SIZE)):
            del element.attrib[name]
        elif name in GEOMETRY:
            element.set(name, re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), value))
    for child in list(element):
        _strip(child)
        hollow = child.tag == f"{{{SVG}}}g" and not len(child)
        if hollow or child.get("display") == "none" or child.get("d", "").startswith("M0,0h0v"):
            element.remove(child)


def _rows(chart: Spec) -> list[str]:
    """Names of the rows of a chart, in their order."""
    return list(dict.fromkeys(value["row"] for values in _values(chart) for value in values))


def _first(chart: Spec, kept: set[str]) -> Spec:
    """A chart reduced to the rows in `kept`."""
    smaller = deepcopy(chart)
    for values in _values(smaller):
        values[:] = [value for value in values if value["row"] in kept]
    return smaller


def _values(part: Any) -> Iterator[list[dict[str, Any]]]:
    """All lists of values in a chart that have a `row`, at any depth."""
    if isinstance(part, list) and part and isinstance(part[0], dict) and isinstance(part[0].get("row"), str):
        yield part
    elif isinstance(part, dict | list):
        for each in part.values() if isinstance(part, dict) else part:
            yield from _values(each)


def _escaped(words: str) -> str:
    """Words that Markdown shows as they are."""
    return re.sub(r"([\\`*_{}\[\]()<>#|!&~$])", r"\\\1", " ".join(words.split()))
