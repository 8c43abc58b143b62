"""Making a base set: the pool of systems, their judgments among themselves, the choice of anchors, the folder.

Here: what of a pool becomes anchors and why, and the report on them. Not here: the form of the folder and its checks
(base_sets), what a judge is asked (comparing), asking it about many pairs (matches), strengths (bradley_terry).

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
    """How anchors lie on a slice, in win rates: the ends, the widest gap between neighbours and the one that all would
    have if they were even, and evenness (see `evenness`); None where an anchor has no win rate."""

    slice: str
    lowest: float | None
    highest: float | None
    largest_gap: float | None
    even_gap: float | None
    evenness: float | None


class Built(NamedTuple):
    """What was written: win rates of the pool by slice (`win_rates`), anchors from the weakest to the strongest by
    these, how unevenly they lie, and those of them whose texts may not be passed on."""

    pool: pl.DataFrame
    anchors: list[str]
    unevenness: float
    restricted: list[str]


def build_base_set(
    warehouse: Warehouse, provider: Provider, folder: Path, identity: Identity, items: Path, count: int,
    systems: Sequence[str], run: str,
) -> Built:  # fmt: skip
    """Make a base set from systems of the warehouse: judge them against each other, choose anchors, write the folder.

    Parameters
    ----------
    items
        JSON lines of `passage` (as `corpus/passage_id`) and `difficulty`, 'easy' or 'hard'. The direction is that of
        the passage's corpus.
    count
        How many anchors to choose.
    systems
        The pool; by default all models and translators that have every item (see `pool`).
    run
        The run that pays the judge.

    Raises
    ------
    BadInput
        For a fault of what is given, before anybody is asked; where calls of the judge failed, afterwards: what was
        answered is in the ledger.
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
    """The items of a base set that is to be.

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
    """What systems made of passages: columns `system`, `passage` and `text`.

    Parameters
    ----------
    systems
        Their names; without any, all that have every passage, but none of those with a text that may not be passed on
        (see `restricted_of`): who wants these names them.

    Raises
    ------
    BadInput
        For a system named that lacks a passage.
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
    """Have every two systems compared on every item, in both orders. The run pays.

    Parameters
    ----------
    items
        As from `read_items`.
    outputs
        As from `pool`: every system has every item.

    Returns
    -------
    Columns `passage`, `first`, `second` and `winner`, null where the judge gave none.

    Raises
    ------
    BadInput
        Where calls failed, or the judge is of the family of a model in the pool.
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
        raise BadInput(judge, "", problem, "run it again: what was answered is kept")
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
        Columns `passage`, `first`, `second` and `winner`, as in `anchor_judgment`. Two texts on one item are one match
        in whichever orders they were shown: a flip is half a win for each, an order that was refused does not count.
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

    Of all ways to choose `count` systems, one with the least `unevenness`, by dynamic programming: with systems in
    order of overall win rate, the best choice of j among the first i either leaves the i-th out or has it in j-th
    place, and what it costs there depends on nothing else.

    Parameters
    ----------
    rates
        Of the pool, as `win_rates` gives them. Systems without a win rate on some slice cannot be chosen.
    count
        How many to choose, two or more.

    Returns
    -------
    Systems from the weakest to the strongest; of equal ones the first by name.

    Raises
    ------
    BadInput
        Where fewer systems can be chosen than are wanted.

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
    """How far anchors are from lying evenly in the range of the pool: what `choose` makes as small as it can.

    Parameters
    ----------
    rates
        Of the pool, as `win_rates` gives them.

    Returns
    -------
    Root of the mean square, over anchors, of the distance between the win rate of the j-th from below (overall) and the
    j-th of as many equidistant points between the pool's lowest and highest win rate. Half of the mean is of overall
    win rates, half of those on the other slices, each with its own range: an anchor counts as out of place where it is
    strong in one direction and weak in the other. In win rates, 0 where all lie evenly.
    """
    systems, values = _matrix(rates)
    own = np.isin(systems, list(anchors))
    count = int(own.sum())
    return float(np.sqrt(np.trace(_costs(values[own], values, count)) / count))


def evenness(win_rates: Sequence[float]) -> float:
    """How alike the gaps between neighbours are: 1 where all are equal, 0 where one gap is all the range, or none is.

    Entropy of the gaps' shares in the range, divided by its highest value (Pielou's evenness). With two systems 1.
    """
    gaps = np.diff(np.sort(win_rates))
    if not gaps.any():
        return 0.0
    shares = gaps[gaps > 0] / gaps.sum()
    return float((shares * np.log(1 / shares)).sum() / np.log(len(gaps))) if len(gaps) > 1 else 1.0


def spread(rates: pl.DataFrame, anchors: Sequence[str]) -> pl.DataFrame:
    """How anchors lie on each slice, in win rates of whoever is in `rates`: the columns of `Spread`."""
    rows = []
    for (name,), own in rates.filter(pl.col("system").is_in(anchors)).group_by("slice", maintain_order=True):
        if len(own) < len(anchors):
            rows.append(Spread(str(name), None, None, None, None, None))
            continue
        each = own["win_rate"].sort().to_numpy()
        even = float(each[-1] - each[0]) / (len(each) - 1)
        rows.append(
            Spread(str(name), float(each[0]), float(each[-1]), float(np.diff(each).max()), even, evenness(list(each)))
        )
    kinds = dict.fromkeys(Spread._fields[1:], pl.Float64)
    return pl.DataFrame(rows, schema={"slice": pl.String, **kinds}, orient="row").sort(
        pl.col("slice") != OVERALL, "slice"
    )


def _matrix(rates: pl.DataFrame) -> tuple[list[str], NDArray[np.float64]]:
    """Systems in order of overall win rate, those of equal one by name, and their win rates: overall, then by slice."""
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
    """The manifest of a base set: who judged it, its anchors by name, its items as from `read_items`.

    Raises
    ------
    BadInput
        Where it would be none.
    """
    rows = items.select("passage", "direction", "difficulty", "source").iter_rows(named=True)
    own = [row | {"source": text_hash(row["source"])} for row in rows]
    return checked(
        Manifest, **identity.model_dump(), judged=judged, anchors=sorted(anchors), restricted=sorted(restricted),
        items=own,
    )  # fmt: skip


def restricted_of(warehouse: Warehouse, outputs: pl.DataFrame) -> list[str]:
    """Those of the systems that have a text which may not be passed on.

    They are human translators whose licence says so, and models with an output in which a restricted source or
    translation of the passage stands whole: a model may have it by heart, and an imported output may be anybody's.

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
        Columns `system`, `passage` and `text`; those of other systems than the anchors are left out.
    judgments
        Columns `passage`, `first`, `second` and `winner`; the same.

    Raises
    ------
    BadInput
        Where the folder is there and not empty, or cannot be written.
    """
    check_vacant(folder)
    own = outputs.filter(pl.col("system").is_in(manifest.anchors)).sort("system", "passage")
    between = pl.col("first").is_in(manifest.anchors) & pl.col("second").is_in(manifest.anchors)
    texts = jsonl(own.select("passage", "text", anchor="system").select("anchor", "passage", "text"))
    judged = jsonl(judgments.filter(between).select(JUDGMENT).sort(JUDGMENT[:3]))
    hashes = sealed(manifest, texts, judged)
    fields = manifest.model_dump(mode="json")
    content = {name: fields[name] for name in ("name", "version", "judge")} | fields | {"hashes": hashes.model_dump()}
    said = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000)
    put({MANIFEST: (_HEADER + said).encode(), OUTPUTS: texts, JUDGMENTS: judged}, folder.resolve())
    return hashes


class Report(NamedTuple):
    """Anchors of a base set against each other.

    `anchors` has their rows of `anchor_score`, overall first, from the strongest to the weakest by overall win rate;
    `spread` is as from the function. `contract` and `signature` say what the numbers hang on, `problem` why there are
    no finite strengths overall, or what is wrong with their intervals; None where nothing is.
    """

    anchors: pl.DataFrame
    spread: pl.DataFrame
    contract: str
    signature: str
    problem: str | None


def report(warehouse: Warehouse, base_set: str) -> Report:
    """How the anchors of an imported base set, `name@version`, stand to each other.

    Raises
    ------
    BadInput
        For one that is not in the warehouse.
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
