"""The charts of the report and of Dagster's UI, as Vega-Lite by Altair: intervals, distributions, shares, amounts.

Here: what is drawn from rows that are aggregated already. Not here: the rows (content), where a chart stands (page).

Colors are Okabe and Ito's, which people with any color vision can distinguish, and no information is in color alone: a
kind also has a shape, a share its number, a band its place on the axis. Every color is one of `COLOURS`; the page
replaces them with the colors of its light and dark style.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

Spec = dict[str, Any]
"""A chart as Vega-Lite."""

COLOURS = {
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
ON_COLOUR = "#101214"
"""Numbers that stand on a colour: dark in both styles, as the colours are light in both."""

KINDS = {
    "model": ("blue", "circle"),
    "human": ("vermilion", "diamond"),
    "anchor": ("quiet", "square"),
    "trained": ("green", "triangle-up"),
    "rule": ("purple", "triangle-down"),
    "baseline": ("quiet", "cross"),
    "panel": ("vermilion", "diamond"),
    "judge": ("blue", "circle"),
}
FURTHER = [
    ("blue", "circle"), ("vermilion", "diamond"), ("green", "triangle-up"), ("purple", "square"),
    ("orange", "triangle-down"), ("sky", "cross"), ("quiet", "triangle-right"), ("ink", "triangle-left"),
]  # fmt: skip
"""Colours and shapes of what is not one of `KINDS`: translators by name. More than there are shapes begin anew."""

LEVELS = {"valid": "sky", "minor": "orange", "major": "vermilion", "uncertain": "grey"}

STEP = 18
"""Height of a row in pixels."""

WIDE = 560
"""Width of a chart that stands alone, in pixels."""


def ranges(
    rows: pl.DataFrame, axis: str, *, width: int = 340, columns: int = 2, rule: float | None = None,
    domain: Sequence[float] | None = None,
) -> Spec:  # fmt: skip
    """Chart of values with their intervals: one row for each name, panels side by side.

    Parameters
    ----------
    rows
        Columns `panel`, `row`, `kind`, `value`, `low`, `high`. Rows and panels are drawn in the order of the frame. If
        `value` is null, nothing is drawn.
    axis
        Title of the axis: the quantity and its unit.
    rule
        Position of a line that marks parity or chance.
    domain
        Least and greatest value of the axis, the same in all panels; without it, each panel has its own.
    """
    there = rows.drop_nulls("value")
    order, panels, kinds = (there[name].unique(maintain_order=True).to_list() for name in ("row", "panel", "kind"))
    colour, shape = _looks(kinds)
    legend = alt.Legend(title=None, orient="top", symbolSize=70) if len(kinds) > 1 else None
    scale = alt.Scale(zero=False, nice=True) if domain is None else alt.Scale(domain=list(domain))
    base = alt.Chart().encode(
        y=alt.Y("row:N").sort(order).title(None), color=colour.legend(legend),
        tooltip=_tips(row="name", kind="kind", panel="part", value="value", low="from", high="to"),
    )  # fmt: skip
    layers: list[alt.Chart] = []
    if rule is not None:
        line = alt.Chart(alt.InlineData(values=[{"rule": rule}]))
        layers.append(line.mark_rule(strokeDash=[5, 3], color=COLOURS["ink"]).encode(x="rule:Q"))
    x = alt.X("value:Q").scale(scale).title(axis).axis(tickCount=5)
    layers.append(base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q").scale(scale).title(axis), x2="high:Q"))
    point = base.mark_point(filled=True, size=70, opacity=1)
    layers.append(point.encode(x=x, shape=shape.legend(legend)))
    chart = alt.layer(*layers, data=_values(there)).properties(width=width, height=alt.Step(STEP))
    if len(panels) == 1 and panels[0] == "":
        return _spec(chart)
    header = alt.Header(title=None, labelFontWeight="bold", labelAnchor="start", labelLimit=width)
    facets = chart.facet(alt.Facet("panel:N").sort(panels).header(header), columns=min(columns, len(panels)))
    return _spec(facets.resolve_scale(x="independent" if domain is None else "shared"))


def dodged(rows: pl.DataFrame, axis: str, *, domain: Sequence[float]) -> Spec:
    """Chart of values with their intervals; in every row, the kinds are one below the other.

    Parameters
    ----------
    rows
        Columns as for `ranges`, without `panel`.
    """
    order, kinds = rows["row"].unique(maintain_order=True).to_list(), sorted(rows["kind"].unique())
    colour, shape = _looks(kinds)
    legend = alt.Legend(title=None, orient="top", symbolSize=70, columns=4)
    base = alt.Chart(_values(rows)).encode(
        y=alt.Y("row:N").sort(order).title(None),
        yOffset=alt.YOffset("kind:N").sort(kinds).scale(paddingInner=0.2, paddingOuter=0.5),
        color=colour.legend(legend),
        tooltip=_tips(row="name", kind="kind", value="value", low="from", high="to"),
    )
    scale = alt.Scale(domain=list(domain))
    rule = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q").scale(scale).title(axis), x2="high:Q")
    point = base.mark_point(filled=True, size=50, opacity=1)
    points = point.encode(x=alt.X("value:Q").scale(scale), shape=shape.legend(legend))
    step = alt.Step(10, **{"for": "offset"})
    return _spec(alt.layer(rule, points).properties(width=WIDE, height=step))


def distribution(bins: pl.DataFrame, edges: Sequence[float], most: float, axis: str) -> Spec:
    """Chart of histograms, one below the other, with the edges of the bands and the medians.

    Parameters
    ----------
    bins
        Columns `row`, `kind` ('model' or 'human'), `start`, `end`, `share` (of the row's values, 0 to 1), `median`.
    edges
        Edges between the bands.
    most
        End of the axis, which begins at 0.
    """
    order, kinds = bins["row"].unique(maintain_order=True).to_list(), ["model", "human"]
    colour = alt.Color("kind:N").scale(domain=kinds, range=[COLOURS[KINDS[kind][0]] for kind in kinds])
    x = alt.X("start:Q").title(axis).axis(values=[0, *edges], format="~f")
    bars = alt.Chart().mark_bar(binSpacing=0, orient="vertical").encode(
        x=x.bin("binned").scale(domain=[0, most]), x2="end:Q",
        y=alt.Y("share:Q").axis(None), color=colour.legend(title=None, orient="top"),
        tooltip=_tips(row="name", start="from", end="to", share="share", median="median"),
    )  # fmt: skip
    bands = alt.Chart(alt.InlineData(values=[{"edge": edge} for edge in edges]))
    lines = bands.mark_rule(strokeDash=[3, 3], color=COLOURS["quiet"]).encode(x="edge:Q")
    median = alt.Chart().mark_rule(strokeWidth=3, color=COLOURS["ink"]).encode(x="mean(median):Q")
    layers = alt.layer(bars, lines, median, data=_values(bins)).properties(width=620, height=30)
    header = alt.Header(title=None, labelAngle=0, labelAlign="left", labelOrient="left", labelLimit=170)
    rows = alt.Row("row:N").sort(order).header(header)
    return _spec(layers.facet(row=rows, spacing=4).resolve_scale(y="independent"))


def shares(rows: pl.DataFrame, order: Sequence[str], axis: str) -> Spec:
    """Stacked bars of shares that add up to one, with the percentages where there is room.

    Parameters
    ----------
    rows
        Columns `panel`, `row`, `level` (of `LEVELS`), `share` (0 to 1), `count` and `before` (sum of the shares of the
        levels before it).
    order
        Rows from top to bottom, the same in all panels.
    """
    panels, levels = rows["panel"].unique(maintain_order=True).to_list(), list(LEVELS)
    colour = alt.Color("level:N").scale(domain=levels, range=[COLOURS[LEVELS[each]] for each in levels])
    drawn = rows.filter(pl.col("share") > 0).with_columns(
        to=pl.col("before") + pl.col("share"),
        middle=pl.col("before") + pl.col("share") / 2,
        words=pl.when(pl.col("share") >= 0.07)
        .then(pl.format("{} {}%", pl.col("level").str.head(3), (100 * pl.col("share")).round(0).cast(pl.Int32)))
        .otherwise(pl.lit("")),
    )
    base = alt.Chart().encode(y=alt.Y("row:N").sort(list(order)).title(None))
    bars = base.mark_bar(stroke=COLOURS["ink"], strokeWidth=0.5).encode(
        x=alt.X("before:Q").scale(domain=[0, 1]).axis(format="%", title=axis), x2="to:Q",
        color=colour.legend(title=None, orient="top"),
        tooltip=_tips(row="name", level="level", count="outputs", share="share"),
    )  # fmt: skip
    words = base.mark_text(color=ON_COLOUR, fontSize=10).encode(x="middle:Q", text="words:N")
    chart = alt.layer(bars, words, data=_values(drawn)).properties(width=WIDE, height=alt.Step(STEP + 4))
    header = alt.Header(title=None, labelFontWeight="bold", labelAnchor="start")
    return _spec(chart.facet(alt.Facet("panel:N").sort(panels).header(header), columns=1))


def amounts(rows: pl.DataFrame, axis: str, kinds: Mapping[str, str], *, width: int = WIDE) -> Spec:
    """Bars of amounts, with the number behind each bar; in every row, the kinds are one below the other.

    Parameters
    ----------
    rows
        Columns `row`, `kind`, `value` and `words` (the formatted number).
    kinds
        Names of `COLOURS` by kind, in the order of the kinds.
    """
    order = rows["row"].unique(maintain_order=True).to_list()
    colour = alt.Color("kind:N").scale(domain=list(kinds), range=[COLOURS[each] for each in kinds.values()])
    legend = alt.Legend(title=None, orient="top") if len(kinds) > 1 else None
    base = alt.Chart(_values(rows)).encode(
        y=alt.Y("row:N").sort(order).title(None), yOffset=alt.YOffset("kind:N").sort(list(kinds)),
        x=alt.X("value:Q").title(axis).axis(tickMinStep=0.0001, tickCount=6),
        tooltip=_tips(row="name", kind="kind", words="value"),
    )  # fmt: skip
    bars = base.mark_bar(stroke=COLOURS["ink"], strokeWidth=0.5).encode(color=colour.legend(legend))
    words = base.mark_text(align="left", dx=4, color=COLOURS["ink"], fontSize=10).encode(text="words:N")
    return _spec(alt.layer(bars, words).properties(width=width, height=alt.Step(14, **{"for": "offset"})))


def _looks(kinds: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """Color and shape of each kind, from `KINDS`; kinds that `KINDS` lacks look as `FURTHER` says."""
    looks = [KINDS.get(kind, FURTHER[at % len(FURTHER)]) for at, kind in enumerate(kinds)]
    colours, shapes = [COLOURS[colour] for colour, _ in looks], [shape for _, shape in looks]
    colour = alt.Color("kind:N").scale(domain=list(kinds), range=colours)
    return colour, alt.Shape("kind:N").scale(domain=list(kinds), range=shapes)


def _values(rows: pl.DataFrame) -> alt.InlineData:
    """Rows as values of the chart, rounded to five decimals."""
    return alt.InlineData(values=rows.with_columns(pl.selectors.float().round(5)).to_dicts())


def _tips(**titles: str) -> list[alt.Tooltip]:
    return [alt.Tooltip(name, type="nominal", title=title) for name, title in titles.items()]


def _spec(chart: alt.LayerChart | alt.FacetChart) -> Spec:
    """Vega-Lite with the style that all charts share, on the background of the page."""
    words = {"labelColor": COLOURS["ink"], "titleColor": COLOURS["ink"], "labelFontSize": 11, "titleFontSize": 11}
    axis = {
        **words, "domainColor": COLOURS["quiet"], "tickColor": COLOURS["quiet"], "gridColor": COLOURS["grid"],
        "titleFontWeight": "normal", "labelLimit": 190,
    }  # fmt: skip
    styled = chart.configure(background="transparent", font="system-ui, sans-serif", aria=False)
    styled = styled.configure_axis(**axis).configure_legend(**words, labelLimit=190).configure_header(**words)
    spec: Spec = styled.configure_view(stroke=None).to_dict()
    return spec
