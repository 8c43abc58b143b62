"""Rights in the texts of a corpus, and outputs that may not be passed on because they contain a restricted text.

Here: rights from the current descriptions, their consequences for outputs, and the texts that every command with an
option `private` hides (`disclosure`). Not here: files and pages that are written.
"""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.renderings import renderings
from benchmark_assets.corpus.trigrams import normalized
from resources.warehouse import Warehouse


class Disclosure(NamedTuple):
    """The texts of a corpus that may be shown.

    `rights` is as `rights_of` returns it. `hidden` names the texts that are left out: translators, '' for the source.
    Outputs that repeat one of `secrets` (columns `passage` and `text`) are left out, too. `words` tells whether judges
    and annotators may be quoted; their words may quote any text.
    """

    rights: pl.DataFrame
    hidden: frozenset[str]
    secrets: pl.DataFrame
    words: bool

    @property
    def restricted(self) -> list[str]:
        """Translators whose texts may not be passed on, hidden or not; '' for the source."""
        return self.rights.filter("restricted")["translator"].to_list()

    def withheld(self, outputs: pl.DataFrame) -> pl.Series:
        """Whether each output is left out (see the function `withheld`)."""
        return withheld(outputs, self.secrets)


def disclosure(
    warehouse: Warehouse, corpus: str, translators: Iterable[str], passages: pl.DataFrame, private: bool
) -> Disclosure:
    """The disclosure for passages of a corpus (column `passage`).

    Parameters
    ----------
    translators
        Translators with a text of these passages.
    private
        Whether everything may be shown, because the readers may have the restricted texts.

    Raises
    ------
    BadInput
        As `rights_of`.
    """
    rights = rights_of(warehouse, corpus, translators)
    if private:
        return Disclosure(rights, frozenset(), secrets(warehouse, passages.clear(), rights), words=True)
    hidden = frozenset(rights.filter("restricted")["translator"])
    return Disclosure(rights, hidden, secrets(warehouse, passages, rights), words=not hidden)


def rights_of(warehouse: Warehouse, corpus: str, translators: Iterable[str]) -> pl.DataFrame:
    """The rights in the texts of a corpus, by its current description.

    Returns
    -------
    Columns `translator` ('' for the source), `licence` and `restricted`, a row for each of `translators` and for each
    text that the description names; without a licence a text is restricted.

    Raises
    ------
    BadInput
        For an unknown corpus, or an unreadable description, without which the restricted texts are unknown.
    """
    current(warehouse, corpus)
    given = warehouse.read("licence", pl.DataFrame({"corpus": [corpus]}), ["translator", "licence", "restricted"])
    names = pl.DataFrame({"translator": sorted({"", *translators, *given["translator"]})})
    rows = names.join(given, on="translator", how="left", maintain_order="left")
    return rows.with_columns(pl.col("licence").fill_null("unknown"), pl.col("restricted").fill_null(True))


def named(translators: Iterable[str]) -> list[str]:
    """Names of translators for display; the source, '', is named 'source'."""
    return [name or "source" for name in translators]


def secrets(warehouse: Warehouse, passages: pl.DataFrame, rights: pl.DataFrame) -> pl.DataFrame:
    """The restricted texts of passages, in every form that the warehouse has.

    Parameters
    ----------
    passages
        Column `passage`.
    rights
        Rights of their corpus, as from `rights_of`; a text without a row is restricted.

    Returns
    -------
    Columns `passage` and `text`.
    """
    sources = warehouse.read("source_text", passages, ["passage", "text"]).with_columns(translator=pl.lit(""))
    used = warehouse.read("reference", passages, ["passage", "translator", "text"])
    every = pl.concat([sources, used, renderings(warehouse, passages)], how="diagonal")
    return (
        every.join(rights.filter(~pl.col("restricted")), on="translator", how="anti").select("passage", "text").unique()
    )


def withheld(outputs: pl.DataFrame, secrets: pl.DataFrame) -> pl.Series:
    """Whether an output contains the whole of a restricted text of its passage (see `repeats`).

    A model may know a translation by heart, or repeat its source; an imported output may be any translation.

    Parameters
    ----------
    outputs
        Columns `passage` and `text`, null where the model refused.
    secrets
        As the function `secrets` returns them.
    """
    closed = dict(secrets.group_by("passage").agg("text").iter_rows())
    flags = [
        text is not None and repeats(text, closed.get(passage, []))
        for passage, text in outputs.select("passage", "text").iter_rows()
    ]
    return pl.Series("withheld", flags, dtype=pl.Boolean)


def repeats(text: str, restricted: Iterable[str]) -> bool:
    """Whether a text contains the whole of a restricted text, ignoring case and punctuation."""
    letters = normalized(text)
    return any(words and words in letters for words in map(normalized, restricted))
