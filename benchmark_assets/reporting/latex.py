"""Tables for papers: LaTeX in the layouts of the papers that introduced the measures.

Each table is a file that requires `booktabs` and `threeparttable`. Its note has the signatures of its numbers.
`all.tex` is a document that includes every table. All tables have one type size: a table that would be too wide is
divided into panels, one below the other. Tables without rows are not written. Here: the choice of tables, their rows as
text, escaping. Not here: the numbers.

Layouts: PaliBench, tables 5 to 8; the audit paper, tables 6 to 12; JP-TL-Bench, tables 3 and 5; LiTERatE's scores;
DharmaBench, tables 4 and 5.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchmark_assets.adjudication.triage import audits
from benchmark_assets.audit.exhibits import CALIBRATION, CATEGORIES, OUTCOMES
from benchmark_assets.audit.rated import PANEL, PEOPLE
from benchmark_assets.reporting import leaderboard
from benchmark_assets.reporting.exhibits import AGREEMENT, across, ranked, separating
from benchmark_assets.understanding.exhibits import boards, groups
from resources.catalogue import column
from resources.errors import BadInput
from resources.exhibits import Exhibit, Rows, every_row
from resources.folders import check_vacant, put
from resources.harmless import visible
from resources.tables import cells, computed
from resources.warehouse import Warehouse

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "[": "{[}", "]": "{]}", "σ": r"\ensuremath{\sigma}",
}  # fmt: skip
"""Brackets are escaped because LaTeX would read a bracket at the start of a row as an argument of the preceding row. σ
is escaped because the font encoding T1 lacks it."""

WIDEST = 125
"""Characters in a row of a panel that fit into a text width of 16 cm in `\\footnotesize`."""

GAP = 2
"""Width of the space between two columns, in characters."""

KEYS = ["kind", "system"]
DOCUMENT = r"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage{{lmodern}}
\usepackage[margin=2cm]{{geometry}}
\usepackage{{booktabs}}
\usepackage{{threeparttable}}
\begin{{document}}
{inputs}
\end{{document}}
"""


_MODEL, _BAND = pl.col("model") != "", pl.col("band") != ""


def _outcomes(raters: str, *conditions: pl.Expr) -> Rows:
    """Select rows of `audit_outcome` from the verdicts or labels of some raters."""
    return lambda rows: rows.filter(pl.col("judged") > 0, *conditions, raters=raters)


_RATES = "judged valid_rate minor_rate major_rate any_rate"
PRINTED: list[tuple[str, str, Exhibit, Rows, str, str]] = [
    ("palibench-5", "agreement of the human translators", AGREEMENT, every_row, "measure translator other",
     "passages value sd"),
    ("audit-7", "people's labels by band of drift", OUTCOMES, _outcomes(PEOPLE, ~_MODEL, _BAND), "band", _RATES),
    ("audit-9", "the panel's verdicts on outputs with high drift, by band", OUTCOMES,
     _outcomes(PANEL, ~_MODEL, _BAND), "band", _RATES),
    ("audit-10", "the panel's verdicts on outputs with high drift, by model", OUTCOMES,
     _outcomes(PANEL, _MODEL, ~_BAND), "model", _RATES),
    ("audit-11", "the panel's verdicts by model and band of drift", OUTCOMES, _outcomes(PANEL, _MODEL, _BAND),
     "model band", _RATES),
    ("audit-8", "agreement of the judges with people's labels, in percent", CALIBRATION,
     lambda rows: rows.sort(pl.col("judge").str.starts_with("panel"), "judge"), "judge",
     "outputs exact major_precision major_recall major_f1 any_precision any_recall any_f1"),
    ("audit-12", "major errors found by the panel, by category", CATEGORIES,
     lambda rows: rows.filter(pl.col("major") > 0, raters=PANEL).sort("major", "error_category",
                                                                      descending=[True, False]),
     "error_category", "major major_share"),
]  # fmt: skip
"""Tables that papers print of an exhibit: name, caption, exhibit, selection and order of its rows, names, numbers."""


class LatexTable(NamedTuple):
    """A table as text. `name` is used for its file and its label. The first `texts` columns are left-aligned."""

    name: str
    caption: str
    rows: pl.DataFrame
    texts: int
    signatures: Sequence[str]


def write(warehouse: Warehouse, folder: Path, corpus: str | None = None) -> list[str]:
    """Write the tables of a corpus (if given) and of the understanding tasks to a folder.

    Returns
    -------
    Names of the files, except `all.tex`.

    Raises
    ------
    BadInput
        If the corpus is unknown, the folder already exists, or no table has rows.
    """
    folder = folder.resolve()
    check_vacant(folder)
    with warehouse.consistently():
        if corpus and not len(warehouse.read("corpus", pl.DataFrame({"corpus": [corpus]}), ["corpus"])):
            raise BadInput(corpus, "", "is not a corpus of this warehouse", "`variorum status` lists the corpora")
        candidates = [*(_of_corpus(warehouse, corpus) if corpus else ()), *_understanding(warehouse)]
        tables = sorted((table for table in candidates if len(table.rows)), key=_numbered)
    if not tables:
        remedy = "run `variorum update`" if corpus else "run `variorum update`, or name a corpus"
        raise BadInput(corpus or "understanding", "", "has no tables yet", remedy)
    files = {f"{table.name}.tex": typeset(table) for table in tables}
    inputs = "\n".join(rf"\input{{{table.name}}}" for table in tables)
    put({name: text.encode() for name, text in (files | {"all.tex": DOCUMENT.format(inputs=inputs)}).items()}, folder)
    return sorted(files)


def _numbered(table: LatexTable) -> list[str | int]:
    """Key that sorts tables by name, with numbers in the name by their value."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", table.name)]


def typeset(table: LatexTable) -> str:
    """A table as a LaTeX float, in panels if it is too wide."""
    panels = _panels(table)
    columns = "l" * table.texts + "r" * (max(panel.width for panel in panels) - table.texts)
    blocks = [[_row(panel.columns), r"\midrule", *(_row(row) for row in panel.iter_rows())] for panel in panels]
    lines = [line for block in blocks for line in (r"\midrule", *block)][1:]
    signatures = escaped(". ".join(dict.fromkeys(table.signatures))).replace(r"\textbar{}", r"\textbar{}\allowbreak{}")
    note = rf"\begin{{tablenotes}}[flushleft]\raggedright\item[] Method: {signatures}.\end{{tablenotes}}"
    return "\n".join([
        r"\begin{table}", r"\centering", r"\begin{threeparttable}",
        rf"\caption{{{escaped(table.caption)}}}", rf"\label{{tab:{table.name}}}",
        r"\footnotesize", r"\setlength{\tabcolsep}{3pt}",
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}",
        *([note] if signatures else []), r"\end{threeparttable}", r"\end{table}", "",
    ])  # fmt: skip


def _panels(table: LatexTable) -> list[pl.DataFrame]:
    """The table in as few parts as fit into `WIDEST` characters, each with the text columns and some of the others.

    A column is as wide as the widest of the columns that stand below each other. A table with a column that is too wide
    by itself has one part for each column.
    """
    texts, numbers = table.rows.columns[: table.texts], table.rows.columns[table.texts :]
    widths = {name: GAP + max(map(len, [name, *_cells(table.rows[name])])) for name in table.rows.columns}
    room = WIDEST - sum(widths[name] for name in texts)
    for size in [ceil(len(numbers) / count) for count in range(1, len(numbers) + 1)]:
        parts = [numbers[at : at + size] for at in range(0, len(numbers), size)]
        if sum(max(widths[name] for name in numbers[at::size]) for at in range(size)) <= room:
            break
    return [table.rows.select(*texts, *part) for part in parts]


def escaped(text: str) -> str:
    """Text with LaTeX's special characters escaped, and each run of white space and line breaks reduced to one
    space."""
    return "".join(SPECIAL.get(character, character) for character in visible(" ".join(text.split())))


def _row(cells: Iterable[object]) -> str:
    return " & ".join(map(escaped, _cells(cells))) + r" \\"


def _cells(values: Iterable[object]) -> list[str]:
    return ["--" if value is None else str(value) for value in values]


def _of_corpus(warehouse: Warehouse, corpus: str) -> Iterator[LatexTable]:
    key = pl.DataFrame({"corpus": [corpus]})
    for name, words, exhibit, rows, texts, numbers in PRINTED:
        frame = rows(exhibit.frame(warehouse, corpus))
        yield _table(name, f"{corpus}: {words}.", frame, exhibit.table, texts.split(), numbers.split())
    yield from _palibench(warehouse, key, corpus)
    yield from _audit(warehouse, key, corpus)
    yield from _judged(warehouse, key, corpus)


def _understanding(warehouse: Warehouse) -> Iterator[LatexTable]:
    rows = warehouse.read("understanding_board")
    tables = boards(rows)
    for title, group in groups(rows).items():
        name = re.sub("[^a-z0-9]+", "-", (title if group["benchmark"][0] else f"understanding-{title}").lower())
        caption = f"{title}: scores from 0 to 100 by task, with standard deviation over seeds"
        if group["near"].count():
            caption += "; near: share of the test split with a near neighbor in the train split"
        yield LatexTable(name, f"{caption}.", tables[title], 2, group["signature"].to_list())


def _palibench(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    for number, (heading, rows) in enumerate(
        leaderboard.groups(leaderboard.read(warehouse, keys=key)).items(), start=1
    ):
        yield _table(
            f"palibench-6-{number}" if number > 1 else "palibench-6",
            f"{corpus}. {heading}", rows, "leaderboard", KEYS,
            ("passages", *leaderboard.headline(rows)),
        )  # fmt: skip
    shares = warehouse.read("closest_share", key).sort("kind", "system", descending=[True, False])
    yield LatexTable(
        "palibench-7", f"{corpus}: translator of the closest reference, in percent of passages.",
        across(shares, "closest_share", KEYS, "translator", "share"), 2, shares["signature"].to_list(),
    )  # fmt: skip
    ranks = warehouse.read("metric_rank", key)
    (rank,) = cells("metric_rank", "rank")
    yield LatexTable(
        "palibench-8", f"{corpus}: ranks by measure (1 is best).",
        ranked(ranks, rank, [*KEYS, *separating(ranks)]), 2,
        ranks["signature"].to_list(),
    )  # fmt: skip


def _audit(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    board = leaderboard.in_order(leaderboard.read(warehouse, keys=key).filter(kind="model"))
    passages = warehouse.read("source_text", key, ["passage"])
    triage = warehouse.read("triage", passages, ["model", "drift"]).drop_nulls().rename({"model": "system"})
    edges = {f"drift above {edge:g}": edge for edge in audits(warehouse)[corpus].bands}
    counts = triage.group_by("system").agg((pl.col("drift") > edge).sum().alias(name) for name, edge in edges.items())
    rows = board.join(counts, on="system", how="left", maintain_order="left")
    yield _table(
        "audit-6", f"{corpus}: models, and numbers of outputs with high drift.", rows, "leaderboard", ("system",),
        leaderboard.headline(board), edges,
    )  # fmt: skip


def _judged(warehouse: Warehouse, key: pl.DataFrame, corpus: str) -> Iterator[LatexTable]:
    passages = warehouse.read("source_text", key, ["passage"])
    sets = warehouse.read("base_set_item", passages, ["base_set"]).unique()
    scored = warehouse.read("pairwise_score", sets).sort("base_set", "contract")
    for (base_set,), of_set in scored.group_by(["base_set"], maintain_order=True):
        contracts = of_set.partition_by(
            "contract", maintain_order=True
        )  # scores under different contracts are not comparable
        for place, rows in enumerate(contracts, start=1):
            slices = sorted(rows["slice"].unique(), key=lambda name: (name != "overall", name))
            order = rows.filter(slice="overall").sort("lt", descending=True, nulls_last=True).select("model")
            table = across(rows, "pairwise_score", ["model"], "slice", "lt")
            table = order.join(table, on="model", maintain_order="left").select("model", *slices)
            number = f" {place}" if len(contracts) > 1 else ""
            name = f"jp-tl-bench-{re.sub('[^A-Za-z0-9.]+', '-', f'{base_set}{number}')}"
            contract = f", contract{number} of {len(contracts)}" if number else ""
            caption = f"Strength against the anchors of {base_set} (LT, 0 to 10) by slice{contract}."
            methods = rows.select(pl.format("{}; {}", "contract", "signature")).to_series().to_list()
            yield LatexTable(name, caption, table, 1, methods)
    marks = warehouse.read("rubric_summary", key).sort("mean", descending=True, nulls_last=True)
    counts = ("ones", "twos", "threes", "fours", "fives")
    shares = (
        computed(pl.col(name) / pl.sum_horizontal(counts), "fraction", column("rubric_summary", name).label)
        for name in counts[:-1]
    )
    table = marks.select(
        *cells("rubric_summary", "model", "judge", "outputs", "mean", "median"), *shares,
        *cells("rubric_summary", "perfect", "useful"),
    )  # fmt: skip
    yield LatexTable("jp-tl-bench-rubric", f"{corpus}: marks from 1 to 5.", table, 2, marks["signature"].to_list())
    scores = warehouse.read("literary_score", key)
    if len(scores):
        order = scores.filter(aspect="").sort("score", descending=True, nulls_last=True).select("model", "chunks")
        table = across(scores, "literary_score", ["model"], "aspect", "score")
        overall = column("literary_score", "aspect").empty
        aspects = sorted(table.columns[1:], key=lambda name: (name != overall, name))
        yield LatexTable(
            "literate", f"{corpus}: models against the human translation, 0 to 100; 50 is parity.",
            order.join(table.select("model", *aspects), on="model", maintain_order="left"), 1,
            scores["signature"].to_list(),
        )  # fmt: skip


def _table(
    name: str, caption: str, rows: pl.DataFrame, table: str, texts: Sequence[str], numbers: Sequence[str],
    others: Iterable[str] = (),
) -> LatexTable:  # fmt: skip
    """A LaTeX table with columns of `rows`: first `texts`, then `numbers`, then `others`.

    `texts` and `numbers` name columns of the warehouse's `table`; they are formatted as the catalogue declares.
    """
    shown = rows.select(*cells(table, *texts, *numbers), *others)
    return LatexTable(name, caption, shown, len(texts), rows["signature"].to_list())
