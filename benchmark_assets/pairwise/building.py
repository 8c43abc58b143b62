"""Building a base set: the pool of systems, the judgments among them, the choice of anchors, the folder.

Here: the choice of anchors from a pool, and the report on an imported set. Not here: the format of the folder and its
checks (base_sets), the question to the judge (comparing), making items from pairs (matches), strengths (bradley_terry).

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
from benchmark_assets.pairwise import base_sets
from benchmark_assets.pairwise.comparing import Contenders, comparing, judged_by
from benchmark_assets.pairwise.matches import match
from benchmark_assets.pairwise.scores import OVERALL, anchor_scores, contract, tallies
from benchmark_assets.studies.study import ask_about, expected
from resources.digest import text_hash
from resources.errors import BadInput
from resources.folders import check_vacant, put
from resources.keys import CORPUS
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

LANGUAGES = ["source_language", "target_language"]

_HEADER = "# A base set: anchors with frozen outputs and judgments. docs/base-sets.md explains it. Do not edit it.\n"


class Built(NamedTuple):
    """Result of a build: the pool's win rates as `win_rates` returns them, the anchors from the weakest to the
    strongest, the `unevenness` of their win rates, and the anchors whose texts may not be passed on."""

    pool: pl.DataFrame
    anchors: list[str]
    unevenness: float
    restricted: list[str]


def build_base_set(
    warehouse: Warehouse, provider: Provider, folder: Path, identity: base_sets.Identity, items: Path, count: int,
    systems: Sequence[str], run: str, accepted: bool = True,
) -> Built:  # fmt: skip
    """Build a base set from systems of the warehouse: judge them against each other, choose anchors, write the folder.

    Parameters
    ----------
    items
        File of JSON lines with `passage` (as `corpus/passage_id`) and `difficulty` ('easy' or 'hard'). An item has the
        direction of its corpus.
    count
        Number of anchors to choose.
    systems
        Names of the systems in the pool; if empty, the default of `pool`.
    run
        Id of the run whose budget pays for the judge's calls.
    accepted
        Whether these calls may cost something.

    Raises
    ------
    BadInput
        If an argument is not valid (checked before any question is asked), or if a call of the judge failed. Replies
        stay in the ledger.
    """
    check_vacant(folder)
    if identity.judge not in provider.registry().judges:
        remedy = "add it, or name another judge"
        raise BadInput(provider.registry_path, f"judges.{identity.judge}", "is missing", remedy)
    rows = read_items(warehouse, items)
    outputs = pool(warehouse, rows["passage"].to_list(), systems)
    names = outputs["system"].unique().sort().to_list()
    if not 2 <= count <= len(names):
        raise _bad_count(count, f"has {len(names)} systems")
    manifest(identity, None, names, rows, [])
    judgments = judge_pool(provider, identity.judge, rows, outputs, run, accepted)
    record = judged_by(provider, identity.judge)
    rates = win_rates(judgments, rows)
    anchors = choose(rates, count)
    restricted = restricted_of(warehouse, outputs.filter(pl.col("system").is_in(anchors)))
    write_base_set(folder, manifest(identity, record, anchors, rows, restricted), outputs, judgments)
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
        If the file is malformed, a passage occurs twice or is not in the warehouse, or the languages of its corpus are
        not known.
    """
    difficulties: dict[str, str] = {}
    for place, record in base_sets.records(path, ["passage", "difficulty"]):
        if record["passage"] in difficulties:
            raise BadInput(path, f"{place} {record['passage']}", "occurs twice", "keep one of the lines")
        difficulties[record["passage"]] = record["difficulty"]
    if not difficulties:
        raise BadInput(path, "", "contains no items", base_sets.REMEDY)
    rows = pl.DataFrame({"passage": list(difficulties), "difficulty": list(difficulties.values())})
    texts = warehouse.read("source_text", rows.select("passage"), ["passage", "corpus", "text"])
    if missing := sorted(set(difficulties) - set(texts["passage"])):
        problem, remedy = "is not a passage in this warehouse", "run `variorum import corpus FILE` first"
        raise BadInput(path, missing[0], problem, remedy)
    corpora = warehouse.read("corpus", columns=["corpus", *LANGUAGES])
    rows = rows.join(texts.rename({"text": "source"}), on="passage", maintain_order="left")
    rows = rows.join(corpora, on="corpus", how="left", maintain_order="left")
    if (incomplete := rows.filter(pl.any_horizontal(pl.col(LANGUAGES).is_null()))).height:
        problem = f"is in the corpus {incomplete['corpus'][0]}, whose languages are not known"
        remedy = "list a reference, with its language, in the description"
        raise BadInput(path, incomplete["passage"][0], problem, remedy)
    direction = pl.concat_str(LANGUAGES, separator="-")
    return rows.with_columns(direction=direction).drop("corpus")


def pool(warehouse: Warehouse, passages: Sequence[str], systems: Sequence[str]) -> pl.DataFrame:
    """Texts of the systems in a pool: columns `system`, `passage` and `text`, a row for each system and passage.

    Parameters
    ----------
    systems
        Names of the systems. If empty, all systems that have every passage, except systems with a text that may not be
        passed on (see `restricted_of`): such systems must be named explicitly.

    Raises
    ------
    BadInput
        If a named system lacks a passage.
    """
    keys = pl.DataFrame({"passage": passages})
    outputs = warehouse.read("model_output", keys, ["model", "passage", "text"]).rename({"model": "system"})
    references = warehouse.read("reference", keys, ["translator", "passage", "text", "complete"]).filter("complete")
    names = pl.concat_str(pl.lit(base_sets.TRANSLATOR), "translator")
    rows = pl.concat([outputs, references.select("passage", "text", system=names).select(outputs.columns)])
    complete = rows.group_by("system").len().filter(pl.col("len") == len(passages))["system"].to_list()
    for name in systems:
        if name not in complete:
            problem = f"has {len(rows.filter(system=name))} of {len(passages)} items"
            raise BadInput(name, "", problem, "translate the missing items, or leave the system out")
    if systems:
        return rows.filter(pl.col("system").is_in(systems)).sort("system", "passage")
    rows = rows.filter(pl.col("system").is_in(complete))
    return rows.filter(~pl.col("system").is_in(restricted_of(warehouse, rows))).sort("system", "passage")


def judge_pool(
    provider: Provider, judge: str, items: pl.DataFrame, outputs: pl.DataFrame, run: str, accepted: bool = True
) -> pl.DataFrame:
    """Judge every pair of systems on every item, in both orders; the calls are charged to `run`.

    Parameters
    ----------
    items
        As `read_items` returns them.
    outputs
        As `pool` returns them: every system has every item.
    accepted
        Whether the calls may cost something.

    Returns
    -------
    One row for each item and ordered pair: columns `passage`, `first`, `second` and `winner`, null if the judge named
    no winner.

    Raises
    ------
    BadInput
        If a call failed, or the judge belongs to the family of a model in the pool; before any question is asked, if
        the calls may cost something and `accepted` is false.
    """
    for system in outputs["system"].unique().sort():
        if not system.startswith(base_sets.TRANSLATOR):
            impartial(provider, [judge], system, "the base set", "judge")
    model = provider.model(judge)
    texts = {(system, passage): text for system, passage, text in outputs.iter_rows()}
    ordered_pairs = list(permutations(outputs["system"].unique().sort(), 2))
    comparisons = []
    for passage, source, *languages in items.select("passage", "source", *LANGUAGES).iter_rows():
        template = comparing(model, (languages[0], languages[1]))
        for first, second in ordered_pairs:
            pair = Contenders(source, texts[first, passage], texts[second, passage])
            comparisons.append(match((first, passage), "", second, "A", template, pair))
    cost = expected(provider, comparisons)
    if cost:
        cost.check_consent(judge, accepted)
    verdicts = ask_about(provider, "base set", comparisons, run)
    if errors := [verdict.error for _, verdict in verdicts if verdict.error]:
        problem = f"failed in {len(errors)} of {len(comparisons)} comparisons; the first error: {errors[0]}"
        raise BadInput(judge, "", problem, "run the command again: received replies are reused at no cost")
    rows = [
        (passage, first, item.key["anchor"], verdict.value and {"A": first, "B": item.key["anchor"]}[verdict.value])
        for item, verdict in verdicts for first, passage in [item.partition]
    ]  # fmt: skip
    judgments = pl.DataFrame(rows, schema=dict.fromkeys(base_sets.JUDGMENT, pl.String), orient="row")
    return judgments.sort(base_sets.JUDGMENT[:3])


def win_rates(judgments: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Win rate of each system, by slice: wins divided by decided matches.

    Parameters
    ----------
    judgments
        Columns `passage`, `first`, `second` and `winner`, as in `anchor_judgment`. The judgments of a pair on an item,
        in one or both orders, are one match. If the winner changes with the order, each system gets half a win. An
        order in which the judge refused does not count.
    items
        Columns `passage`, `direction` and `difficulty`.

    Returns
    -------
    Columns `system`, `slice`, `matches`, `wins` and `win_rate` in [0, 1], sorted by `system` and `slice`. A system
    without a decided match in a slice has no row.
    """
    counts = tallies(judgments, items).filter(pl.col("matches") > 0).sort("system", "slice")
    return counts.select("system", "slice", "matches", "wins", win_rate=pl.col("wins") / pl.col("matches"))


def choose(rates: pl.DataFrame, count: int) -> list[str]:
    """Choose the anchors: the systems whose win rates are most evenly spaced, overall and on every slice.

    Minimizes `unevenness` over all choices of `count` systems by dynamic programming. With the systems in order of
    overall win rate, the best choice of j systems among the first i either leaves out the i-th system or puts it in
    j-th place. The cost of that place does not depend on the other systems.

    Parameters
    ----------
    rates
        Win rates of the pool, as `win_rates` returns them. A system cannot be chosen if it lacks a win rate on a slice.
    count
        Number of systems to choose, two or more.

    Returns
    -------
    Names of the systems, from the weakest to the strongest. Ties go to the first name in alphabetical order.

    Raises
    ------
    BadInput
        If fewer than `count` systems can be chosen.

    Notes
    -----
    A pool of 200 systems takes milliseconds. JP-TL-Bench, section 3.2, has the same aim; its authors chose by hand.
    """
    systems, values = _matrix(rates)
    if not 2 <= count <= len(systems):
        raise _bad_count(count, f"has {len(systems)} systems that were judged on every slice")
    costs = _costs(values, values, count)
    best = np.full((len(systems) + 1, count + 1), np.inf)
    best[:, 0] = 0
    for i in range(1, len(systems) + 1):
        best[i, 1:] = np.minimum(best[i - 1, 1:], best[i - 1, :-1] + costs[i - 1])
    anchors, place = [], count
    for i in range(len(systems), 0, -1):
        if place and best[i, place] < best[i - 1, place]:
            anchors.append(systems[i - 1])
            place -= 1
    return anchors[::-1]


def unevenness(rates: pl.DataFrame, anchors: Iterable[str]) -> float:
    """Deviation of the anchors' win rates from even spacing over the range of the pool. `choose` minimizes it.

    Parameters
    ----------
    rates
        Win rates of the pool, as `win_rates` returns them.

    Returns
    -------
    Root mean square distance of the anchors' win rates from evenly spaced points, in units of win rates; 0 for even
    spacing. The points divide the range from the pool's lowest to its highest win rate; the j-th weakest anchor
    (overall) is compared with the j-th point. Overall win rates have half of the weight. The win rates on the other
    slices share the other half, each compared with points in the pool's range on that slice. An anchor that is strong
    in one direction and weak in the other therefore counts as out of place.
    """
    systems, values = _matrix(rates)
    mask = np.isin(systems, list(anchors))
    count = int(mask.sum())
    return float(np.sqrt(np.trace(_costs(values[mask], values, count)) / count))


def _bad_count(count: int, problem: str) -> BadInput:
    """The error for a pool from which `count` anchors cannot be chosen. `problem` states the size of the pool."""
    remedy = "choose at least two anchors and at most as many as the pool has systems, or add systems to the pool"
    return BadInput("pool", "", f"{problem}, so {count} anchors cannot be chosen", remedy)


def _matrix(rates: pl.DataFrame) -> tuple[list[str], NDArray[np.float64]]:
    """Systems that have a win rate on every slice, and their win rates, shape (systems, slices).

    Systems are sorted by overall win rate, then by name. The first slice is `OVERALL`.
    """
    wide = rates.pivot("slice", index="system", values="win_rate").drop_nulls().sort(OVERALL, "system")
    others = sorted(set(wide.columns) - {"system", OVERALL})
    return wide["system"].to_list(), wide.select(OVERALL, *others).to_numpy()


def _costs(values: NDArray[np.float64], pool: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Weighted squared distance of each system from each of `count` evenly spaced places in the range of the pool.

    `values` and `pool` are win rates, shape (systems, slices), overall first; the result has shape (systems, places).
    """
    places = np.linspace(pool.min(axis=0), pool.max(axis=0), count)
    squares: NDArray[np.float64] = (values[:, None, :] - places[None, :, :]) ** 2
    others: NDArray[np.float64] = squares[:, :, 1:].mean(axis=2)
    return 0.5 * (squares[:, :, 0] + others)


def manifest(
    identity: base_sets.Identity,
    judged: base_sets.JudgeRecord | None,
    anchors: Sequence[str],
    items: pl.DataFrame,
    restricted: Sequence[str],
) -> base_sets.Manifest:
    """The manifest of a base set. `judged` is the record of its judge; `items` are as `read_items` returns them.

    Raises
    ------
    BadInput
        If the manifest is not valid.
    """
    rows = items.select("passage", "direction", "difficulty", "source").iter_rows(named=True)
    hashed = [row | {"source": text_hash(row["source"])} for row in rows]
    return base_sets.checked(
        base_sets.Manifest, **identity.model_dump(), judged=judged, anchors=sorted(anchors),
        restricted=sorted(restricted), items=hashed,
    )  # fmt: skip


def restricted_of(warehouse: Warehouse, outputs: pl.DataFrame) -> list[str]:
    """Names of the systems with a text that may not be passed on, sorted.

    These are human translators with restricted texts, and models with an output that contains the complete text of a
    restricted source or translation of the passage. Such a model may have memorized the text, or an imported output may
    be a copy. `outputs` has the columns `system`, `passage` and `text`.
    """
    restricted: set[str] = set()
    for (corpus,), group in outputs.group_by(CORPUS):
        systems = group["system"].unique()
        people = [name.removeprefix(base_sets.TRANSLATOR) for name in systems if name.startswith(base_sets.TRANSLATOR)]
        rights = disclosure(warehouse, str(corpus), people, private=False)
        hidden = {f"{base_sets.TRANSLATOR}{name}" for name in rights.hidden}
        repeating = group.filter(rights.withheld(group.rename({"system": "model"})).is_not_null())
        restricted |= hidden & set(systems) | set(repeating["system"])
    return sorted(restricted)


def write_base_set(folder: Path, manifest: base_sets.Manifest, outputs: pl.DataFrame, judgments: pl.DataFrame) -> None:
    """Write the folder of a base set atomically; the same content gives the same bytes.

    Parameters
    ----------
    outputs
        Columns `system`, `passage` and `text`; only rows of anchors are written.
    judgments
        Columns `passage`, `first`, `second` and `winner`; only rows with two anchors are written.

    Raises
    ------
    BadInput
        If the folder exists and is not empty, or cannot be written.
    """
    check_vacant(folder)
    anchor_outputs = outputs.filter(pl.col("system").is_in(manifest.anchors)).sort("system", "passage")
    between = pl.col("first").is_in(manifest.anchors) & pl.col("second").is_in(manifest.anchors)
    output_lines = base_sets.jsonl(anchor_outputs.select(pl.col("system").alias("anchor"), "passage", "text"))
    judgment_lines = base_sets.jsonl(judgments.filter(between).select(base_sets.JUDGMENT).sort(base_sets.JUDGMENT[:3]))
    hashes = base_sets.sealed(manifest, output_lines, judgment_lines)
    fields = manifest.model_dump(mode="json")
    content = {name: fields[name] for name in ("name", "version", "judge")} | fields | {"hashes": hashes.model_dump()}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000)
    put(
        {
            base_sets.MANIFEST: (_HEADER + text).encode(),
            base_sets.OUTPUTS: output_lines,
            base_sets.JUDGMENTS: judgment_lines,
        },
        folder.resolve(),
    )


def report(warehouse: Warehouse, base_set: str) -> pl.DataFrame:
    """Score the anchors of an imported base set (`name@version`) by their matches against each other.

    Returns
    -------
    Rows of `anchor_score`: the slice 'overall' comes first, and each slice lists the anchors from the highest overall
    win rate to the lowest.

    Raises
    ------
    BadInput
        If the base set is not in the warehouse.
    """
    key = pl.DataFrame({"base_set": [base_set]})
    entries = warehouse.read("base_set", key)
    if entries.is_empty():
        imported = ", ".join(warehouse.read("base_set", columns=["base_set"])["base_set"]) or "none"
        raise BadInput(base_set, "", "no such base set in this warehouse", f"imported base sets: {imported}")
    judgments, items = warehouse.read("anchor_judgment", key), base_sets.items(warehouse, base_set)
    anchors = warehouse.read("anchor_output", key, ["anchor"])["anchor"]
    rows = anchor_scores(judgments, items, anchors, contract(entries.row(0, named=True)))
    overall = pl.col("win_rate").filter(slice=OVERALL).first().over("anchor")
    return rows.sort(
        pl.col("slice") != OVERALL, "slice", overall, "anchor", descending=[False, False, True, False], nulls_last=True
    )
