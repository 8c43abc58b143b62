"""Answers of people that apply to the current texts of outputs. Not here: importing answers (answers)."""

import polars as pl

from benchmark_assets.people.consistency import left_out
from resources.keys import CORPUS
from resources.warehouse import Warehouse


def applicable(warehouse: Warehouse, stored: str, outputs: pl.DataFrame) -> pl.DataFrame:
    """Rows of a table of answers about the current texts of outputs, with `model` and `passage`, without answers of
    people whose standing is `failed`."""
    items = warehouse.read("triage", outputs.select("model", "passage"), ["model", "passage", "item"])
    return answers_to(warehouse, stored, items)


def answers_to(warehouse: Warehouse, stored: str, items: pl.DataFrame) -> pl.DataFrame:
    """As `applicable`, about items with the columns `model`, `passage` and `item`."""
    answers = warehouse.read(stored, items.select("item")).drop("passage")
    rows = items.join(answers, on="item").with_columns(CORPUS)
    rows = rows.join(left_out(warehouse, stored), on=["corpus", "annotator"], how="anti").drop("corpus")
    return rows.sort("model", "passage", "annotator")


def fingerprints(answers: pl.DataFrame) -> pl.DataFrame:
    """The settings of outputs that have answers (see `applicable`)."""
    words = pl.format("{} {}", "annotator", "fingerprint").str.join("\n")
    return answers.group_by("model", "passage", maintain_order=True).agg(settings=words)
