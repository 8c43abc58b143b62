"""Building a base set: the pool of systems, the judgments between them, the choice of anchors, the folder.

Here: the choice of anchors from a pool, and the report on them. Not here: the format of the folder and its checks
(base_sets), the question to the judge (comparing), items of pairs (matches), strengths (bradley_terry).

A system is a model with outputs, or a human translator of complete references (`translator:NAME`).
"""

from collections.abc import Iterable, Sequence
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import yaml
from numpy.typing import NDArray

from benchmark_assets.adjudication.impartial import impartial
from benchmark_assets.corpus.rights import disclosure
from benchmark_assets.pairwise.base_sets import (
    JUDGMENTS,
    MANIFEST,
    OUTPUTS,
    REMEDY,
    TRANSLATOR,
    Hashes,
    Identity,
    JudgeRecord,
    Manifest,
    checked,
    jsonl,
    records,
    sealed,
    text_hash,
)
from benchmark_assets.pairwise.comparing import SIDES, Contenders, comparing, judged_by
from benchmark_assets.pairwise.matches import match
from benchmark_assets.pairwise.scores import OVERALL, anchor_scores, contract, tallies
from benchmark_assets.studies.study import ask_about
from resources.errors import BadInput
from resources.folders import check_vacant, put
from resources.keys import CORPUS
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

JUDGMENT = ["passage", "first", "second", "winner"]
LANGUAGES = ["source_language", "target_language"]

_HEADER = (
    "# A base set: anchors with frozen outputs and judgments. docs/base-sets.md says what it is. Do not edit it.\n"
)


class Spread(NamedTuple):
    """Distribution of the anchors' win rates on a slice: lowest, highest, largest gap between neighbors, the gap if all
    were equal, and `evenness`; None if an anchor has no win rate."""

    slice: str
    lowest: float | None
    highest: float | None
    largest_gap: float | None
    even_gap: float | None
    evenness: float | None


class Built(NamedTuple):
    """Result of a build: the pool's win rates by slice (`win_rates`), anchors from the weakest to the strongest, their
    unevenness, and the anchors whose texts may not be passed on."""

    pool: pl.DataFrame
    anchors: list[str]
    unevenness: float
    restricted: list[str]


def build_base_set(
    warehouse: Warehouse, provider: Provider, folder: Path, identity: Identity, items: Path, count: int,
    systems: Sequence[str], run: str,
) -> Built:  # fmt: skip
    """Build a base set from systems of the warehouse: judge them against each other, choose anchors, write the folder.

    Parameters
    ----------
    items
        JSON lines of `passage` (as `corpus/passage_id`) and `difficulty`, 'easy' or 'hard'. The direction comes from
        the passage's corpus.
    count
        Number of anchors to choose.
    systems
        The pool; by default all models and translators that have every item (see `pool`).
    run
        The run that pays the judge.

    Raises
    ------
    BadInput
        For a faulty argument, before any question is asked; or if calls of the judge failed. Replies stay in the
        ledger.
    """
    check_vacant(folder)
    if identity.judge not in provider.registry().judges:
        raise BadInput(provider.registry_path, f"judges.{identity.judge}", "is missing", "add it, or name another")
    rows = read_items(warehouse, items)
    outputs = pool(warehouse, rows["passage"].to_list(), systems)
    names = outputs["system"].unique().sort().to_list()
    if not 2 <= count <= len(names):
        raise BadInput(
            "pool", "", f"has {len(names)} systems, so that {count} cannot be chosen", "choose fewer, or more"
        )
    manifest(identity, None, names, rows, [])
    judgments = judge_pool(provider, identity.judge, rows, outputs, run)
    judged = judged_by(provider, identity.judge)
    rates = win_rates(judgments, rows)
    anchors = choose(rates, count)
    restricted = restricted_of(warehouse, outputs.filter(pl.col("system").is_in(anchors)))
    write_base_set(folder, manifest(identity, judged, anchors, rows, restricted), outputs, judgments)
    return Built(rates, anchors, unevenness(rates, anchors), restricted)


def read_items(warehouse: Warehouse, path: Path) -> pl.DataFrame:
    """Read the items for a new base set.

    Returns
    -------
    Columns `passage`, `direction`, `difficulty`, `source` (the text), `source_language` and `target_language`, in the
    order of the file.

    Raises
    ------
    BadInput
        For a fault of the file, a passage that occurs twice or is not in the warehouse, or a corpus without a target
        language.
    """
    given: dict[str, str] = {}
    for place, record in records(path, ["passage", "difficulty"]):
        if record["passage"] in given:
            raise BadInput(path, f"{place} {record['passage']}", "occurs twice", "keep one of them")
        given[record["passage"]] = record["difficulty"]
    if not given:
        raise BadInput(path, "", "holds no items", REMEDY)
    rows = pl.DataFrame({"passage": list(given), "difficulty": list(given.values())})
    texts = warehouse.read("source_text", rows.select("passage"), ["passage", "corpus", "text"])
    if missing := sorted(set(given) - set(texts["passage"])):
        raise BadInput(path, missing[0], "is no passage of this warehouse", "`variorum import corpus FILE` first")
    corpora = warehouse.read("corpus", columns=["corpus", *LANGUAGES])
    rows = rows.join(texts.rename({"text": "source"}), on="passage", maintain_order="left")
    rows = rows.join(corpora, on="corpus", how="left", maintain_order="left")
    if (open_ended := rows.filter(pl.any_horizontal(pl.col(LANGUAGES).is_null()))).height:
        problem = f"is of {open_ended['corpus'][0]}, whose languages are not known"
        raise BadInput(path, open_ended["passage"][0], problem, "name a reference with its language in the description")
    direction = pl.concat_str(LANGUAGES, separator="-")
    return rows.with_columns(direction=direction).drop("corpus")


def pool(warehouse: Warehouse, passages: Sequence[str], systems: Sequence[str]) -> pl.DataFrame:
    """Texts of systems for passages: columns `system`, `passage` and `text`.

    Parameters
    ----------
    systems
        Names of systems. If empty, all systems that have every passage, except systems with a text that may not be
        passed on (see `restricted_of`), which must be named.

    Raises
    ------
    BadInput
        For a named system that lacks a passage.
    """
    keys = pl.DataFrame({"passage": passages})
    outputs = warehouse.read("model_output", keys, ["model", "passage", "text"]).rename({"model": "system"})
    references = warehouse.read("reference", keys, ["translator", "passage", "text", "complete"]).filter("complete")
    people = references.select(pl.concat_str(pl.lit(TRANSLATOR), "translator").alias("system"), "passage", "text")
    rows = pl.concat([outputs, people])
    whole = rows.group_by("system").len().filter(pl.col("len") == len(passages))["system"].to_list()
    for name in systems:
        if name not in whole:
            has = len(rows.filter(system=name))
            raise BadInput(name, "", f"has {has} of {len(passages)} items", "translate them, or leave the system out")
    if systems:
        return rows.filter(pl.col("system").is_in(systems)).sort("system", "passage")
    rows = rows.filter(pl.col("system").is_in(whole))
    return rows.filter(~pl.col("system").is_in(restricted_of(warehouse, rows))).sort("system", "passage")


def judge_pool(provider: Provider, judge: str, items: pl.DataFrame, outputs: pl.DataFrame, run: str) -> pl.DataFrame:
    """Judge every pair of systems on every item, in both orders. The run pays.

    Parameters
    ----------
    items
        As `read_items` returns them.
    outputs
        As `pool` returns them: every system has every item.

    Returns
    -------
    Columns `passage`, `first`, `second` and `winner`, null where the judge named none.

    Raises
    ------
    BadInput
        If calls failed, or if the judge is of the family of a model in the pool.
    """
    for system in outputs["system"].unique().sort():
        if not system.startswith(TRANSLATOR):
            impartial(provider, [judge], system, "the base set", "judge")
    model = provider.model(judge)
    texts = {(system, passage): text for system, passage, text in outputs.iter_rows()}
    ordered = list(permutations(outputs["system"].unique().sort(), 2))
    work = []
    for passage, source, *languages in items.select("passage", "source", *LANGUAGES).iter_rows():
        template = comparing(model, (languages[0], languages[1]))
        for first, second in ordered:
            pair = Contenders(source, texts[first, passage], texts[second, passage])
            work.append(match((first, passage), "", second, "A", template, pair))
    found = ask_about(provider, "base set", work, run)
    if errors := [verdict.error for _, verdict in found if verdict.error]:
        problem = f"failed in {len(errors)} of {len(work)} comparisons, first: {errors[0]}"
        raise BadInput(judge, "", problem, "run the command again: replies are kept and not paid again")
    rows = [
        (item.partition[1], *who, verdict.value and who[SIDES.index(verdict.value)])
        for item, verdict in found
        for who in [(item.partition[0], item.key["anchor"])]
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(JUDGMENT, pl.String), orient="row").sort(JUDGMENT[:3])


def win_rates(judgments: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Share of its matches that each system wins, by slice.

    Parameters
    ----------
    judgments
        Columns `passage`, `first`, `second` and `winner`, as in `anchor_judgment`. Two texts on one item are one match,
        shown in one order or both: a flip is half a win for each, and a refused order does not count.
    items
        Columns `passage`, `direction` and `difficulty`.

    Returns
    -------
    Columns `system`, `slice`, `matches`, `wins` and `win_rate` in [0, 1], sorted by the first two.
    """
    found = tallies(judgments, items).filter(pl.col("matches") > 0).sort("system", "slice")
    return found.select("system", "slice", "matches", "wins", win_rate=pl.col("wins") / pl.col("matches"))


def choose(rates: pl.DataFrame, count: int) -> list[str]:
    """The systems whose win rates lie most evenly, overall and on every slice.

    Minimizes `unevenness` over all choices of `count` systems by dynamic programming: with systems in order of overall
    win rate, the best choice of j among the first i either leaves the i-th out or has it in j-th place, and its cost
    there depends on nothing else.

    Parameters
    ----------
    rates
        Win rates of the pool, as `win_rates` returns them. Systems without a win rate on any slice cannot be chosen.
    count
        Number of systems to choose, two or more.

    Returns
    -------
    Systems from the weakest to the strongest; ties go to the first by name.

    Raises
    ------
    BadInput
        If fewer than `count` systems can be chosen.

    Notes
    -----
    200 systems take milliseconds. The aim is that of JP-TL-Bench, section 3.2, whose authors chose by hand.
    """
    systems, values = _matrix(rates)
    if not 2 <= count <= len(systems):
        problem = f"has {len(systems)} systems that were judged on every slice, so that {count} cannot be chosen"
        raise BadInput("pool", "", problem, "choose two or more, or add systems")
    costs = _costs(values, values, count)
    best = np.full((len(systems) + 1, count + 1), np.inf)
    best[:, 0] = 0
    for i in range(1, len(systems) + 1):
        best[i, 1:] = np.minimum(best[i - 1, 1:], best[i - 1, :-1] + costs[i - 1])
    chosen, place = [], count
    for i in range(len(systems), 0, -1):
        if place and best[i, place] < best[i - 1, place]:
            chosen.append(systems[i - 1])
            place -= 1
    return chosen[::-1]


def unevenness(rates: pl.DataFrame, anchors: Iterable[str]) -> float:
    """Deviation of anchors from even places in the range of the pool: the objective that `choose` minimizes.

    Parameters
    ----------
    rates
        Win rates of the pool, as `win_rates` returns them.

    Returns
    -------
    Root of the mean square, over anchors, of the distance between the win rate of the j-th from below (overall) and the
    j-th of as many equidistant points between the pool's lowest and highest win rate. Overall win rates have half of
    the weight, win rates on the other slices the other half, each with the range of its slice: an anchor that is strong
    in one direction and weak in the other counts as out of place. In units of win rates; 0 if all lie evenly.
    """
    systems, values = _matrix(rates)
    own = np.isin(systems, list(anchors))
    count = int(own.sum())
    return float(np.sqrt(np.trace(_costs(values[own], values, count)) / count))


def evenness(win_rates: Sequence[float]) -> float:
    """Evenness of the gaps between neighbors: 1 if all are equal, 0 if one gap is the whole range, or if all are 0.

    Entropy of the gaps' shares in the range, divided by its maximum (Pielou's evenness). With two systems 1.
    """
    gaps = np.diff(np.sort(win_rates))
    if not gaps.any():
        return 0.0
    shares = gaps[gaps > 0] / gaps.sum()
    return float((shares * np.log(1 / shares)).sum() / np.log(len(gaps))) if len(gaps) > 1 else 1.0


def spread(rates: pl.DataFrame, anchors: Sequence[str]) -> pl.DataFrame:
    """Distribution of the anchors' win rates in `rates` on each slice: the columns of `Spread`."""
    rows = []
    for (name,), own in rates.filter(pl.col("system").is_in(anchors)).group_by("slice", maintain_order=True):
        if len(own) < len(anchors):
            rows.append(Spread(str(name), None, None, None, None, None))
            continue
        ends = own["win_rate"].sort().to_numpy()
        even = float(ends[-1] - ends[0]) / (len(ends) - 1)
        rows.append(
            Spread(str(name), float(ends[0]), float(ends[-1]), float(np.diff(ends).max()), even, evenness(list(ends)))
        )
    kinds = dict.fromkeys(Spread._fields[1:], pl.Float64)
    return pl.DataFrame(rows, schema={"slice": pl.String, **kinds}, orient="row").sort(
        pl.col("slice") != OVERALL, "slice"
    )


def _matrix(rates: pl.DataFrame) -> tuple[list[str], NDArray[np.float64]]:
    """Systems in order of overall win rate, then name, and their win rates: overall, then by slice."""
    wide = rates.pivot("slice", index="system", values="win_rate").drop_nulls().sort(OVERALL, "system")
    others = sorted(set(wide.columns) - {"system", OVERALL})
    return wide["system"].to_list(), wide.select(OVERALL, *others).to_numpy()


def _costs(values: NDArray[np.float64], pool: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Squared distance of each system from each of `count` even places, shape (systems, places)."""
    places = np.linspace(pool.min(axis=0), pool.max(axis=0), count)
    squares: NDArray[np.float64] = (values[:, None, :] - places[None, :, :]) ** 2
    if values.shape[1] == 1:
        return squares[:, :, 0]
    others: NDArray[np.float64] = squares[:, :, 1:].mean(axis=2)
    return 0.5 * (squares[:, :, 0] + others)


def manifest(
    identity: Identity,
    judged: JudgeRecord | None,
    anchors: Sequence[str],
    items: pl.DataFrame,
    restricted: Sequence[str],
) -> Manifest:
    """The manifest of a base set: the record of its judge, its anchors by name, its items as from `read_items`.

    Raises
    ------
    BadInput
        If the manifest is not valid.
    """
    rows = items.select("passage", "direction", "difficulty", "source").iter_rows(named=True)
    own = [row | {"source": text_hash(row["source"])} for row in rows]
    return checked(
        Manifest, **identity.model_dump(), judged=judged, anchors=sorted(anchors), restricted=sorted(restricted),
        items=own,
    )  # fmt: skip


def restricted_of(warehouse: Warehouse, outputs: pl.DataFrame) -> list[str]:
    """The systems that have a text that may not be passed on.

    They are human translators whose license forbids it, and models with an output that contains a whole restricted
    source or translation of the passage: a model may have memorized it, and an imported output may be a copy.

    Parameters
    ----------
    outputs
        Columns `system`, `passage` and `text`.
    """
    found: set[str] = set()
    for (corpus,), own in outputs.group_by(CORPUS):
        systems = own["system"].unique()
        people = [name.removeprefix(TRANSLATOR) for name in systems if name.startswith(TRANSLATOR)]
        shown = disclosure(warehouse, str(corpus), people, own.select("passage").unique(), private=False)
        closed = {f"{TRANSLATOR}{name}" for name in shown.hidden}
        repeating = own.filter(shown.withheld(own))
        found |= closed & set(systems) | set(repeating["system"])
    return sorted(found)


def write_base_set(folder: Path, manifest: Manifest, outputs: pl.DataFrame, judgments: pl.DataFrame) -> Hashes:
    """Write the folder of a base set, whole or not at all; the same content gives the same bytes.

    Parameters
    ----------
    outputs
        Columns `system`, `passage` and `text`; only rows of anchors are written.
    judgments
        Columns `passage`, `first`, `second` and `winner`; only rows between anchors are written.

    Raises
    ------
    BadInput
        If the folder exists and is not empty, or cannot be written.
    """
    check_vacant(folder)
    own = outputs.filter(pl.col("system").is_in(manifest.anchors)).sort("system", "passage")
    between = pl.col("first").is_in(manifest.anchors) & pl.col("second").is_in(manifest.anchors)
    texts = jsonl(own.select("passage", "text", anchor="system").select("anchor", "passage", "text"))
    judged = jsonl(judgments.filter(between).select(JUDGMENT).sort(JUDGMENT[:3]))
    hashes = sealed(manifest, texts, judged)
    fields = manifest.model_dump(mode="json")
    content = {name: fields[name] for name in ("name", "version", "judge")} | fields | {"hashes": hashes.model_dump()}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000)
    put({MANIFEST: (_HEADER + text).encode(), OUTPUTS: texts, JUDGMENTS: judged}, folder.resolve())
    return hashes


class Report(NamedTuple):
    """Anchors of a base set against each other.

    `anchors` has their rows of `anchor_score`, overall first, from the strongest to the weakest by overall win rate.
    `spread` is the result of the function `spread`. `contract` and `signature` state what the numbers depend on.
    `problem` says why no finite strengths exist overall, or what is wrong with their intervals; None if nothing is.
    """

    anchors: pl.DataFrame
    spread: pl.DataFrame
    contract: str
    signature: str
    problem: str | None


def report(warehouse: Warehouse, base_set: str) -> Report:
    """Score the anchors of an imported base set by their matches against each other.

    Parameters
    ----------
    base_set
        Name and version of the base set, `name@version`.

    Raises
    ------
    BadInput
        If the base set is not in the warehouse.
    """
    key = pl.DataFrame({"base_set": [base_set]})
    found = warehouse.read("base_set", key)
    if found.is_empty():
        known = ", ".join(warehouse.read("base_set", columns=["base_set"])["base_set"]) or "none"
        raise BadInput(base_set, "", "is no base set of this warehouse", f"there is {known}")
    judgments, items = warehouse.read("anchor_judgment", key), warehouse.read("base_set_item", key)
    rows = anchor_scores(judgments, items, contract(found.row(0, named=True)))
    overall = rows.filter(slice=OVERALL).select("anchor", place=pl.col("win_rate"))
    rows = rows.join(overall, on="anchor", how="left").sort(
        pl.col("slice") != OVERALL, "slice", "place", "anchor", descending=[False, False, True, False], nulls_last=True
    )  # fmt: skip
    names = sorted(set(rows["anchor"]))
    first = rows.row(0, named=True)
    return Report(
        rows.drop("place"), spread(win_rates(judgments, items), names), first["contract"], first["signature"],
        first["problem"],
    )  # fmt: skip
