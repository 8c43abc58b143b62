"""Charts of the report and of Dagster's UI as Vega-Lite: intervals, distributions, shares, amounts.

Here: specifications, made by Altair from aggregated rows. Not here: the rows (content), the page around a chart (page).

The palette is Okabe and Ito's, which works for any color vision. Color is never the only distinction: kinds also
differ in shape, shares have a number, bands have a position on the axis. All colors are in `COLORS`, which the page
replaces with the colors of its light or dark style.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from resources.exhibits import WIDE, Ranges

Spec = dict[str, Any]
"""A chart as a Vega-Lite specification."""

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

LABEL = 46
"""Width in pixels of a segment that has room for its label."""


def ranges(rows: pl.DataFrame, chart: Ranges) -> Spec:
    """Chart of values with their intervals: one row for each name, panels side by side.

    Parameters
    ----------
    rows
        Columns `panel`, `row`, `kind`, `value`, `low`, `high`, in the order in which rows and panels are drawn. Rows
        with a null `value` are skipped.
    chart
        Axis, sizes and rule. By default, each panel has its own domain.
    """
    rows = rows.drop_nulls("value")
    order, panels, kinds = (rows[name].unique(maintain_order=True).to_list() for name in ("row", "panel", "kind"))
    color, shape = _looks(kinds)
    legend = alt.Legend(title=None, orient="top", symbolSize=70) if len(kinds) > 1 else None
    scale = alt.Scale(zero=False, nice=True) if chart.domain is None else alt.Scale(domain=list(chart.domain))
    base = alt.Chart().encode(
        y=_names(order), color=color.legend(legend),
        tooltip=_tips(row="name", kind="kind", panel="part", value="value", low="from", high="to"),
    )  # fmt: skip
    layers: list[alt.Chart] = []
    if chart.rule is not None:
        line = alt.Chart(alt.InlineData(values=[{"rule": chart.rule}]))
        layers.append(line.mark_rule(strokeDash=[5, 3], color=COLORS["ink"]).encode(x="rule:Q"))
    x = alt.X("value:Q").scale(scale).title(chart.axis).axis(tickCount=5)
    layers.append(base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q").scale(scale).title(chart.axis), x2="high:Q"))
    point = base.mark_point(filled=True, size=70, opacity=1)
    layers.append(point.encode(x=x, shape=shape.legend(legend)))
    layered = alt.layer(*layers, data=_values(rows)).properties(width=chart.width, height=alt.Step(STEP))
    if len(panels) == 1 and panels[0] == "":
        return _spec(layered)
    header = alt.Header(title=None, labelFontWeight="bold", labelAnchor="start", labelLimit=chart.width)
    facet = alt.Facet("panel:N").sort(panels).header(header)
    facets = layered.facet(facet, columns=min(chart.columns, len(panels)))
    return _spec(facets.resolve_scale(x="independent" if chart.domain is None else "shared"))


def dodged(rows: pl.DataFrame, axis: str, kinds: Sequence[str], *, domain: Sequence[float]) -> Spec:
    """Chart of values with their intervals. In every row, the kinds are one below the other.

    Parameters
    ----------
    rows
        As for `ranges`; `panel` is ignored.
    axis, domain
        Title of the axis (the quantity and its unit), and its lowest and highest value.
    kinds
        Names of the kinds from top to bottom.
    """
    order = rows["row"].unique(maintain_order=True).to_list()
    color, shape = _looks(kinds)
    legend = alt.Legend(title=None, orient="top", symbolSize=70, columns=4)
    base = alt.Chart(_values(rows)).encode(
        y=_names(order),
        yOffset=alt.YOffset("kind:N").sort(list(kinds)).scale(paddingInner=0.2, paddingOuter=0.5),
        color=color.legend(legend),
        tooltip=_tips(row="name", kind="kind", value="value", low="from", high="to"),
    )
    scale = alt.Scale(domain=list(domain))
    rule = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q").scale(scale).title(axis), x2="high:Q")
    point = base.mark_point(filled=True, size=50, opacity=1)
    points = point.encode(x=alt.X("value:Q").scale(scale), shape=shape.legend(legend))
    step = alt.Step(10, **{"for": "offset"})
    return _spec(alt.layer(rule, points).properties(width=WIDE, height=step))


def distribution(bins: pl.DataFrame, edges: Sequence[float], most: float, axis: str) -> Spec:
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
    order, kinds = bins["row"].unique(maintain_order=True).to_list(), ["model", "human"]
    color = alt.Color("kind:N").scale(domain=kinds, range=[COLORS[KINDS[kind][0]] for kind in kinds])
    x = alt.X("start:Q").title(axis).axis(values=[0, *edges], format=".3~f")
    bars = alt.Chart().mark_bar(binSpacing=0, orient="vertical").encode(
        x=x.bin("binned").scale(domain=[0, most]), x2="end:Q",
        y=alt.Y("share:Q").axis(None), color=color.legend(title=None, orient="top"),
        tooltip=_tips(row="name", start="from", end="to", share="share", median="median"),
    )  # fmt: skip
    bands = alt.Chart(alt.InlineData(values=[{"edge": edge} for edge in edges]))
    lines = bands.mark_rule(strokeDash=[3, 3], color=COLORS["quiet"]).encode(x="edge:Q")
    median = alt.Chart().mark_rule(strokeWidth=3, color=COLORS["ink"]).encode(x="mean(median):Q")
    layers = alt.layer(bars, lines, median, data=_values(bins)).properties(width=620, height=30)
    header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelOrient="left", labelLimit=170)
    rows = alt.Row("row:N").sort(order).header(header)
    return _spec(layers.facet(row=rows, spacing=4).resolve_scale(y="independent"))


def shares(rows: pl.DataFrame, order: Sequence[str], axis: str) -> Spec:
    """Stacked bars of shares that add up to 1. Segments of at least `LABEL` pixels are labeled with percentages.

    Parameters
    ----------
    rows
        Columns `panel`, `row`, `level` (a key of `LEVELS`), `share` (0 to 1), `count`, and `before`: the sum of the
        shares of the levels before this one.
    order
        Names of the rows from top to bottom, the same in all panels.
    """
    panels, levels = rows["panel"].unique(maintain_order=True).to_list(), list(LEVELS)
    color = alt.Color("level:N").scale(domain=levels, range=[COLORS[LEVELS[level]] for level in levels])
    segments = rows.filter(pl.col("share") > 0).with_columns(
        to=pl.col("before") + pl.col("share"),
        middle=pl.col("before") + pl.col("share") / 2,
        words=pl.format("{} {}%", pl.col("level").str.head(3), (100 * pl.col("share")).round(0).cast(pl.Int32)),
    )
    base = alt.Chart().encode(y=_names(order))
    bars = base.mark_bar(stroke=COLORS["ink"], strokeWidth=0.5).encode(
        x=alt.X("before:Q").scale(domain=[0, 1]).axis(format="%", title=axis), x2="to:Q",
        color=color.legend(title=None, orient="top"),
        tooltip=_tips(row="name", level="level", count="outputs", share="share"),
    )  # fmt: skip
    words = base.mark_text(color=ON_COLOR, fontSize=10).encode(x="middle:Q", text="words:N")
    words = words.transform_filter(f"datum.share * child_width >= {LABEL}")
    chart = alt.layer(bars, words, data=_values(segments)).properties(width=WIDE, height=alt.Step(STEP + 4))
    header = alt.Header(title=None, labelFontWeight="bold", labelAnchor="start")
    return _spec(chart.facet(alt.Facet("panel:N").sort(panels).header(header), columns=1))


def amounts(rows: pl.DataFrame, axis: str, kinds: Mapping[str, str], *, width: int = WIDE) -> Spec:
    """Bars of amounts, each followed by its number. In every row, the kinds are one below the other.

    Parameters
    ----------
    rows
        Columns `row`, `kind`, `value` and `words` (the formatted number).
    kinds
        Name of a color in `COLORS` for each kind, in the order in which the kinds are drawn.
    """
    order = rows["row"].unique(maintain_order=True).to_list()
    color = alt.Color("kind:N").scale(domain=list(kinds), range=[COLORS[name] for name in kinds.values()])
    legend = alt.Legend(title=None, orient="top") if len(kinds) > 1 else None
    base = alt.Chart(_values(rows)).encode(
        y=_names(order), yOffset=alt.YOffset("kind:N").sort(list(kinds)),
        x=alt.X("value:Q").title(axis).axis(tickMinStep=0.0001, tickCount=6),
        tooltip=_tips(row="name", kind="kind", words="value"),
    )  # fmt: skip
    bars = base.mark_bar(stroke=COLORS["ink"], strokeWidth=0.5).encode(color=color.legend(legend))
    words = base.mark_text(align="left", dx=4, color=COLORS["ink"], fontSize=10).encode(text="words:N")
    return _spec(alt.layer(bars, words).properties(width=width, height=alt.Step(14, **{"for": "offset"})))


def _names(order: Sequence[str]) -> alt.Y:
    """Encoding of the rows' names. Long names are cut in the middle, since names of a chart often begin alike."""
    return alt.Y("row:N").sort(list(order)).title(None).axis(labelExpr=f"truncate(datum.label, {LONGEST}, 'center')")


def _looks(kinds: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """Encodings of the kinds as color and shape, from `KINDS` or else from `FURTHER`."""
    looks = [KINDS.get(kind, FURTHER[at % len(FURTHER)]) for at, kind in enumerate(kinds)]
    colors, shapes = [COLORS[color] for color, _ in looks], [shape for _, shape in looks]
    color = alt.Color("kind:N").scale(domain=list(kinds), range=colors)
    return color, alt.Shape("kind:N").scale(domain=list(kinds), range=shapes)


def _values(rows: pl.DataFrame) -> alt.InlineData:
    """Rows as inline data of a chart, rounded to five decimals."""
    return alt.InlineData(values=rows.with_columns(pl.selectors.float().round(5)).to_dicts())


def _tips(**titles: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(name, type="nominal", title=title) for name, title in titles.items()]


def _spec(chart: alt.LayerChart | alt.FacetChart) -> Spec:
    """Vega-Lite specification with the common style of all charts and a transparent background."""
    words = {"labelColor": COLORS["ink"], "titleColor": COLORS["ink"], "labelFontSize": 11, "titleFontSize": 11}
    axis = {
        **words, "domainColor": COLORS["quiet"], "tickColor": COLORS["quiet"], "gridColor": COLORS["grid"],
        "titleFontWeight": "normal", "labelLimit": 240, "labelSeparation": 5,
    }  # fmt: skip
    styled = chart.configure(background="transparent", font=FONT, aria=False)
    styled = styled.configure_axis(**axis).configure_legend(**words, labelLimit=190).configure_header(**words)
    spec: Spec = styled.configure_view(stroke=None).to_dict()
    return spec
