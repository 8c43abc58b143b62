"""Charts of the report and of Dagster's UI as Vega-Lite: intervals, distributions, shares, amounts.

Here: specifications of aggregated rows, as dictionaries: a library that checks and copies them takes ten times as long
as everything else, and runs draw after every edit. Not here: the rows (content), the page around a chart (page).

The palette is Okabe and Ito's, which works for any color vision. Color is never the only distinction: kinds also
differ in shape, shares have a number, bands have a position on the axis. All colors are in `COLORS`, which the page
replaces with the colors of its light or dark style.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from resources.exhibits import INTERVAL, WIDE, Ranges

Spec = dict[str, Any]
"""A chart, or a part of one, as a Vega-Lite specification (https://vega.github.io/vega-lite/docs)."""

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"

COLORS = {
    "ink": "#1b1f24",
    "quiet": "#59626d",
    "grid": "#dde1e6",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "green": "#009e73",
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "purple": "#cc79a7",
    "grey": "#a5abb2",
}
ON_COLOR = "#101214"
"""Color of numbers on colored bars. The bars are light in both styles."""

KINDS = {
    "model": ("blue", "circle"),
    "human": ("vermilion", "diamond"),
    "anchor": ("quiet", "square"),
    "trained": ("green", "triangle-up"),
    "baseline": ("quiet", "cross"),
    "panel": ("vermilion", "diamond"),
    "judge": ("blue", "circle"),
}
FURTHER = [
    ("blue", "circle"), ("vermilion", "diamond"), ("green", "triangle-up"), ("purple", "square"),
    ("orange", "triangle-down"), ("sky", "cross"), ("quiet", "triangle-right"), ("ink", "triangle-left"),
]  # fmt: skip
"""Colors and shapes of kinds that are not in `KINDS`, such as names of translators. They repeat after the last one."""

LEVELS = {"valid": "sky", "minor": "orange", "major": "vermilion", "uncertain": "grey"}

STEP = 18
"""Height of a row in pixels."""

FONT = "system-ui, sans-serif"

LONGEST = 38
"""Maximum number of characters of a row's name."""

_WORDS = {"labelColor": COLORS["ink"], "titleColor": COLORS["ink"], "labelFontSize": 11, "titleFontSize": 11}
COMMON: Spec = {
    "$schema": SCHEMA,
    "config": {
        "background": "transparent", "font": FONT, "aria": False, "header": _WORDS, "view": {"stroke": None},
        "legend": {**_WORDS, "labelLimit": 190},
        "title": {"anchor": "start", "color": COLORS["quiet"], "fontSize": 11, "fontWeight": "normal", "offset": 8},
        "axis": {
            **_WORDS, "domainColor": COLORS["quiet"], "tickColor": COLORS["quiet"], "gridColor": COLORS["grid"],
            "titleFontWeight": "normal", "labelLimit": 240, "labelSeparation": 5,
        },
    },
}  # fmt: skip
"""What all charts have in common: version and style. A page states it once."""

LABEL = 46
"""Width in pixels of a segment that has room for its label."""


def ranges(rows: pl.DataFrame, chart: Ranges) -> Spec | None:
    """Chart of values with their intervals: one row for each name, panels side by side. None if no panel is left.

    Parameters
    ----------
    rows
        Columns `panel`, `row`, `kind`, `value`, `low`, `high`, in the order in which rows and panels are drawn. Rows
        with a null `value` are skipped.
    chart
        Unit, sizes and rule. By default, each panel has its own domain; then a panel in which all is at one place is
        left out, because its axis could have no two ticks.
    """
    rows = rows.drop_nulls("value")
    if chart.domain is None:
        ends = (
            pl.min_horizontal("value", "low", pl.lit(chart.rule)),
            pl.max_horizontal("value", "high", pl.lit(chart.rule)),
        )
        rows = rows.filter(ends[0].min().over("panel") < ends[1].max().over("panel"))
    if rows.is_empty():
        return None
    panels, kinds = (rows[name].unique(maintain_order=True).to_list() for name in ("panel", "kind"))
    legend = {"title": None, "orient": "top", "symbolSize": 70} if len(kinds) > 1 else None
    color, shape = _looks(kinds, legend)
    scale = {"zero": False, "nice": True} if chart.domain is None else {"domain": list(chart.domain)}
    base = {
        "y": _names(rows), "color": color,
        "tooltip": _tips(row="name", kind="kind", panel="part", value="value", low="from", high="to"),
    }  # fmt: skip
    layers: list[Spec] = []
    if chart.rule is not None:
        line = {"type": "rule", "strokeDash": [5, 3], "color": COLORS["ink"]}
        layers.append(_layer(line, {"x": _number("rule")}, data={"values": [{"rule": chart.rule}]}))
    x = {"scale": scale, "title": None}
    interval = {"x": _number("low", **x), "x2": {"field": "high"}}
    layers.append(_layer({"type": "rule", "strokeWidth": 2}, base | interval))
    point = {"type": "point", "filled": True, "size": 70, "opacity": 1}
    layers.append(_layer(point, base | {"x": _number("value", **x, axis={"tickCount": 5}), "shape": shape}))
    layered = {"layer": layers, "width": chart.width, "height": {"step": STEP}}
    unit = _unit(chart.unit, rows)
    if len(panels) == 1 and panels[0] == "":
        return _spec(layered, rows, unit)
    header = {"title": None, "labelFontWeight": "bold", "labelAnchor": "start", "labelLimit": chart.width}
    facets = {"facet": _name("panel", panels, header=header), "spec": layered}
    resolved = {"scale": {"x": "independent" if chart.domain is None else "shared"}}
    return _spec(facets | {"columns": min(chart.columns, len(panels)), "resolve": resolved}, rows, unit)


def dodged(rows: pl.DataFrame, unit: str, kinds: Sequence[str], *, domain: Sequence[float]) -> Spec:
    """Chart of values with their intervals. In every row, the kinds are one below the other.

    Parameters
    ----------
    rows
        As for `ranges`; `panel` is ignored.
    unit, domain
        The quantity, and the lowest and highest value of the axis.
    kinds
        Names of the kinds from top to bottom.
    """
    color, shape = _looks(kinds, {"title": None, "orient": "top", "symbolSize": 70, "columns": 4})
    base = {
        "y": _names(rows), "yOffset": _name("kind", kinds, scale={"paddingInner": 0.2, "paddingOuter": 0.5}),
        "color": color, "tooltip": _tips(row="name", kind="kind", value="value", low="from", high="to"),
    }  # fmt: skip
    scale = {"domain": list(domain)}
    interval = {"x": _number("low", scale=scale, title=None), "x2": {"field": "high"}}
    rule = _layer({"type": "rule", "strokeWidth": 1.5}, base | interval)
    value = {"x": _number("value", scale=scale), "shape": shape}
    points = _layer({"type": "point", "filled": True, "size": 50, "opacity": 1}, base | value)
    return _spec(
        {"layer": [rule, points], "width": WIDE, "height": {"step": 10, "for": "offset"}}, rows, _unit(unit, rows)
    )


def scatter(rows: pl.DataFrame, x_axis: str, unit: str) -> Spec:
    """Chart of values with their intervals over costs, which have a logarithmic axis. Each point has its name.

    Parameters
    ----------
    rows
        Columns `row` (name), `x` (above 0), `value`, `low` and `high`.
    """
    color = {"value": COLORS["blue"]}
    base = {"x": _number("x", scale={"type": "log"}, title=x_axis), "color": color,
            "tooltip": _tips(row="name", x="cost", value="value", low="from", high="to")}  # fmt: skip
    scale = {"zero": False, "nice": True}
    interval = {"y": _number("low", scale=scale, title=None), "y2": {"field": "high"}}
    value = {"y": _number("value", scale=scale)}
    text = {"type": "text", "align": "left", "dx": 7, "dy": -6, "fontSize": 10}
    layers = [
        _layer({"type": "rule", "strokeWidth": 1.5}, base | interval),
        _layer({"type": "point", "filled": True, "size": 70, "opacity": 1}, base | value),
        _layer(text, base | value | {"color": {"value": COLORS["ink"]}, "text": {"field": "row", "type": "nominal"}}),
    ]
    return _spec({"layer": layers, "width": WIDE, "height": 260}, rows, _unit(unit, rows))


def distribution(bins: pl.DataFrame, edges: Sequence[float], most: float, unit: str) -> Spec:
    """Histograms one below the other, with lines at the edges of the bands and at the medians.

    Parameters
    ----------
    bins
        Columns `row`, `kind` ('model' or 'human'), `start` and `end` of the bin, `share` (fraction of the row's
        values in the bin), `median` of the row.
    edges
        Edges between the bands.
    most
        End of the axis, which begins at 0.
    """
    kinds = ["model", "human"]
    color = _color("kind", kinds, [KINDS[kind][0] for kind in kinds])
    ticks = {"values": [0, *edges], "format": ".3~f"}
    bars = _layer({"type": "bar", "binSpacing": 0, "orient": "vertical"}, {
        "x": _number("start", title=None, axis=ticks, bin="binned", scale={"domain": [0, most]}),
        "x2": {"field": "end"}, "y": _number("share", axis=None), "color": color,
        "tooltip": _tips(row="name", start="from", end="to", share="share", median="median"),
    })  # fmt: skip
    band = {"type": "rule", "strokeDash": [3, 3], "color": COLORS["quiet"]}
    lines = _layer(band, {"x": _number("edge")}, data={"values": [{"edge": edge} for edge in edges]})
    median = {"type": "rule", "strokeWidth": 3, "color": COLORS["ink"]}
    layers = [bars, lines, _layer(median, {"x": _number("median", aggregate="mean")})]
    header = {"title": None, "labelAngle": 0, "labelAlign": "left", "labelOrient": "left", "labelLimit": 170}
    order = bins["row"].unique(maintain_order=True).to_list()
    chart = {
        "facet": {"row": _name("row", order, header=header)},
        "spec": {"layer": layers, "width": 620, "height": 30},
        "spacing": 4, "resolve": {"scale": {"y": "independent"}},
    }  # fmt: skip
    return _spec(chart, bins, unit)


def shares(rows: pl.DataFrame, order: Sequence[str], unit: str) -> Spec:
    """Stacked bars of shares that add up to 1. Segments of at least `LABEL` pixels are labeled with percentages.

    Parameters
    ----------
    rows
        Columns `panel`, `row`, `level` (a key of `LEVELS`), `share` (0 to 1), `count`, and `before`: the sum of the
        shares of the levels before this one.
    order
        Names of the rows from top to bottom, the same in all panels.
    """
    panels = rows["panel"].unique(maintain_order=True).to_list()
    segments = rows.filter(pl.col("share") > 0).with_columns(
        to=pl.col("before") + pl.col("share"),
        middle=pl.col("before") + pl.col("share") / 2,
        words=pl.format("{} {}%", pl.col("level").str.head(3), (100 * pl.col("share")).round(0).cast(pl.Int32)),
    )
    base = {"y": _names(rows, order)}
    bars = _layer({"type": "bar", "stroke": COLORS["ink"], "strokeWidth": 0.5}, base | {
        "x": _number("before", scale={"domain": [0, 1]}, axis={"format": "%", "title": None}), "x2": {"field": "to"},
        "color": _color("level", list(LEVELS), LEVELS.values()),
        "tooltip": _tips(row="name", level="level", count="outputs", share="share"),
    })  # fmt: skip
    place = base | {"x": _number("middle"), "text": {"field": "words", "type": "nominal"}}
    wide = [{"filter": f"datum.share * child_width >= {LABEL}"}]
    words = _layer({"type": "text", "color": ON_COLOR, "fontSize": 10}, place, transform=wide)
    header = {"title": None, "labelFontWeight": "bold", "labelAnchor": "start"}
    layered = {"layer": [bars, words], "width": WIDE, "height": {"step": STEP + 4}}
    return _spec({"facet": _name("panel", panels, header=header), "columns": 1, "spec": layered}, segments, unit)


def amounts(rows: pl.DataFrame, unit: str, kinds: Mapping[str, str], *, width: int = WIDE) -> Spec:
    """Bars of amounts, each followed by its number. In every row, the kinds are one below the other.

    Parameters
    ----------
    rows
        Columns `row`, `kind`, `value` and `words` (the formatted number).
    kinds
        Name of a color in `COLORS` for each kind, in the order in which the kinds are drawn.
    """
    color = _color("kind", list(kinds), kinds.values())
    base = {
        "y": _names(rows), "yOffset": _name("kind", list(kinds)),
        "x": _number("value", title=None, axis={"tickMinStep": 0.0001, "tickCount": 6}),
        "tooltip": _tips(row="name", kind="kind", words="value"),
    }  # fmt: skip
    bar = {"type": "bar", "stroke": COLORS["ink"], "strokeWidth": 0.5}
    bars = _layer(bar, base | {"color": color if len(kinds) > 1 else color | {"legend": None}})
    text = {"type": "text", "align": "left", "dx": 4, "color": COLORS["ink"], "fontSize": 10}
    words = _layer(text, base | {"text": {"field": "words", "type": "nominal"}})
    return _spec({"layer": [bars, words], "width": width, "height": {"step": 14, "for": "offset"}}, rows, unit)


def _layer(mark: Spec, encoding: Spec, **more: Any) -> Spec:
    return {"mark": mark, "encoding": encoding, **more}


def _number(field: str, **settings: Any) -> Spec:
    """Encoding of a quantity."""
    return {"field": field, "type": "quantitative", **settings}


def _name(field: str, order: Sequence[str], **settings: Any) -> Spec:
    """Encoding of names in the given order."""
    return {"field": field, "type": "nominal", "sort": list(order), **settings}


def _names(rows: pl.DataFrame, order: Sequence[str] | None = None) -> Spec:
    """Encoding of the rows' names, by default in the order of the rows. Long names are cut in the middle, since names
    of a chart often begin alike."""
    order = rows["row"].unique(maintain_order=True).to_list() if order is None else order
    cut = {"labelExpr": f"truncate(datum.label, {LONGEST}, 'center')"}
    return _name("row", order, title=None, axis=cut)


def _color(field: str, names: Sequence[str], colors: Iterable[str]) -> Spec:
    """Encoding of names as colors, with a legend."""
    scale = {"domain": names, "range": [COLORS[color] for color in colors]}
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"title": None, "orient": "top"}}


def _looks(kinds: Sequence[str], legend: Spec | None) -> tuple[Spec, Spec]:
    """Encodings of the kinds as color and shape, from `KINDS` or else from `FURTHER`."""
    looks = [KINDS.get(kind, FURTHER[at % len(FURTHER)]) for at, kind in enumerate(kinds)]
    color = _color("kind", list(kinds), [color for color, _ in looks]) | {"legend": legend}
    return color, color | {"scale": {"domain": list(kinds), "range": [shape for _, shape in looks]}}


def _tips(**titles: str) -> list[Spec]:
    return [{"field": name, "type": "nominal", "title": title} for name, title in titles.items()]


def _unit(unit: str, rows: pl.DataFrame) -> str:
    """What the values are, and whether the rows have intervals that can be drawn."""
    drawn = rows.select(pl.col("low") < pl.col("high")).to_series().fill_null(value=False)
    if not drawn.any():
        return unit
    where = INTERVAL if drawn.all() else f"{INTERVAL} where there is one"
    return f"{unit}, {where}" if unit else where


def _spec(chart: Spec, rows: pl.DataFrame, unit: str) -> Spec:
    """A chart of rows, which are rounded to five decimals, under its unit."""
    values = rows.with_columns(pl.selectors.float().round(5)).to_dicts()
    return COMMON | ({"title": {"text": unit}} if unit else {}) | {"data": {"values": values}, **chart}
