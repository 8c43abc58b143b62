"""Small static plots of aggregates, for the metadata of assets in Dagster's UI.

Here: charts rendered as SVG images in Markdown, small enough to be stored in Dagster's events. Not here: which charts
an asset shows (drawings), how a chart looks (report.charts), tables (the rooms' modules `exhibits`).
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.plots")

Spec = dict[str, Any]

MOST = 40_000
"""Maximum number of characters of one asset's plots. Dagster keeps every event, and reads whole events even to list
them."""

LONGEST = 120
"""Maximum number of characters of a title or a name."""

MORE = "{} more charts: `variorum report` shows all of them."

WIDTH = 600
"""Width in pixels of the window in which Dagster shows Markdown."""

PAPER = "#ffffff"
"""Background of the images. They must be legible on Dagster's light and dark pages."""

FONT = "Verdana, 'DejaVu Sans', sans-serif"
"""The layout is computed for Verdana, the widest common font, so that text in a substitute font also fits."""

SVG = "http://www.w3.org/2000/svg"
NEEDLESS = {"class", "role", "aria-hidden", "aria-label", "aria-roledescription", "pointer-events", "stroke-miterlimit",
            "font-family", "font-size"}  # fmt: skip
PLAIN = {"opacity": "1", "font-weight": "normal", "stroke-width": "1", "transform": "translate(0,0)"}
"""Attributes with their default values, which can be removed."""

GEOMETRY = {"d", "transform", "x", "y", "x2", "y2", "width", "height"}
SIZE = "11px"


def plots(warehouse: Warehouse, asset: str) -> Mapping[str, str]:
    """Metadata entry `plot`: the charts of an asset as images in Markdown.

    There is no entry if there are no charts, or if the environment variable VARIORUM_PLOTS is `off`: drawing takes up
    to a second per asset, and is useful only in Dagster's UI. If drawing fails, the asset still succeeds; the entry and
    the log show the error.
    """
    if os.environ.get("VARIORUM_PLOTS") == "off":
        return {}
    from benchmark_assets.reporting import drawings  # only a run that draws needs the report

    try:
        text = pictured(drawings.drawn(warehouse, asset))
    except Exception as error:
        logger.warning("no plot of %s", asset, exc_info=True)
        text = f"could not be drawn: {_escaped(str(error))[:500]}"
    return {"plot": text} if text else {}


def pictured(charts: Iterable[tuple[str, Spec]]) -> str:
    """Charts (title, specification) as Markdown with images, in at most `MOST` characters.

    A chart that is too large is cut to its first rows, and its title states this. The Markdown ends with the number
    of charts that did not fit.
    """
    remaining = list(charts)
    parts: list[str] = []
    room = MOST - len(MORE) - 10
    while remaining:
        part = _within(*remaining[0], room if parts or len(remaining) == 1 else room // 2)
        if part is None:
            parts.append(MORE.format(len(remaining)))
            break
        parts.append(part)
        room -= len(part) + 2
        remaining.pop(0)
    return "\n\n".join(parts)


def _within(title: str, chart: Spec, most: int) -> str | None:
    """A chart as Markdown of at most `most` characters, cut to its first rows if necessary; None if no row fits."""
    rows = _rows(chart)
    text, kept = _picture(title, chart), len(rows)
    while len(text) > most:
        kept = min(kept - 1, kept * most * 4 // (len(text) * 5))  # 4/5, because axes and legend do not shrink
        if kept < 1:
            return None
        text = _picture(f"{title}: the first {kept} of {len(rows)}", _first(chart, set(rows[:kept])))
    return text


def _picture(title: str, chart: Spec) -> str:
    shown = _escaped(title[:LONGEST])
    encoded = quote(svg(chart), safe="/:;,=-")  # compresses better than base64 in Dagster's event log
    return f"**{shown}**\n\n![{shown}](data:image/svg+xml,{encoded})"


def svg(chart: Spec) -> str:
    """A chart as SVG on white, no wider than `WIDTH`, without accessibility markup, which Markdown images ignore."""
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
    """A part of a chart, with long names shortened in the middle: Vega takes a minute to measure 20,000 characters."""
    if isinstance(part, str):
        return part if len(part) <= LONGEST else f"{part[: LONGEST // 2]}…{part[-LONGEST // 2 :]}"
    if isinstance(part, dict):
        return {key: _cut(value) for key, value in part.items()}
    return [_cut(element) for element in part] if isinstance(part, list) else part


def _strip(element: ElementTree.Element) -> None:
    """Remove attributes, elements and decimals that have no visible effect."""
    for name, value in list(element.attrib.items()):
        if PLAIN.get(name) == value or (name in NEEDLESS and not (name == "font-size" and value != SIZE)):
            del element.attrib[name]
        elif name in GEOMETRY:
            element.set(name, re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), value))
    for child in list(element):
        _strip(child)
        hollow = child.tag == f"{{{SVG}}}g" and not len(child)
        if hollow or child.get("display") == "none" or child.get("d", "").startswith("M0,0h0v"):
            element.remove(child)


def _rows(chart: Spec) -> list[str]:
    """Distinct row names of a chart, in order of their first occurrence."""
    return list(dict.fromkeys(value["row"] for values in _values(chart) for value in values))


def _first(chart: Spec, kept: set[str]) -> Spec:
    """A copy of a chart that has only the rows named in `kept`."""
    smaller = deepcopy(chart)
    for values in _values(smaller):
        values[:] = [value for value in values if value["row"] in kept]
    return smaller


def _values(part: Any) -> Iterator[list[dict[str, Any]]]:
    """Lists of values with the key `row`, at any depth of a chart."""
    if isinstance(part, list) and part and isinstance(part[0], dict) and isinstance(part[0].get("row"), str):
        yield part
    elif isinstance(part, dict | list):
        for nested in part.values() if isinstance(part, dict) else part:
            yield from _values(nested)


def _escaped(words: str) -> str:
    """Text on one line with Markdown's special characters escaped."""
    return re.sub(r"([\\`*_{}\[\]()<>#|!&~$])", r"\\\1", " ".join(words.split()))
