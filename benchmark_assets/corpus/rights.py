"""Rights in the texts of a corpus, and outputs that may not be passed on because they contain a restricted text.

Here: the rights according to the current description, and the texts and outputs that commands leave out unless called
with `--private` (`disclosure`). Not here: writing files and pages.
"""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.overlap import copied
from benchmark_assets.corpus.registry import current
from benchmark_assets.corpus.renderings import renderings
from resources.warehouse import Warehouse


class Disclosure(NamedTuple):
    """Which texts of a corpus may be shown, and which are left out.

    - `rights`: rights in the texts, as returned by `rights_of`.
    - `hidden`: translators whose texts are left out; '' for the source.
    - `secrets`: restricted texts (columns `passage`, `translator` and `text`); outputs that copy one of
      them are left out, too.
    - `words`: whether judges and annotators may be quoted. Their words may contain any text.
    """

    rights: pl.DataFrame
    hidden: frozenset[str]
    secrets: pl.DataFrame
    words: bool

    @property
    def restricted(self) -> list[str]:
        """Translators whose texts may not be passed on, whether hidden or not; '' for the source."""
        return self.rights.filter("restricted")["translator"].to_list()

    def withheld(self, outputs: pl.DataFrame) -> pl.Series:
        """The reason why each output is withheld: its overlap with a restricted text. Null if the output may be shown.

        An output is compared with the restricted texts of its passage. A model may have memorized a translation, or may
        repeat the source; an imported output may be a human translation.

        Parameters
        ----------
        outputs
            Columns `passage` and `text` (null where the model refused).

        Returns
        -------
        Strings, parallel to `outputs`.
        """
        originals: dict[str, list[tuple[str, str]]] = {}
        for passage, translator, text in self.secrets.iter_rows():
            originals.setdefault(passage, []).append((translator, text))

        def reason(passage: str, text: str) -> str | None:
            for translator, original in originals.get(passage, []):
                if shared := copied(text, original):
                    return f"copies a restricted text ({translator or 'source'}); {shared}"
            return None

        rows = outputs.select("passage", "text").iter_rows()
        reasons = [reason(passage, text) if text else None for passage, text in rows]
        return pl.Series("withheld", reasons, dtype=pl.String)


def disclosure(
    warehouse: Warehouse, corpus: str, translators: Iterable[str], passages: pl.DataFrame, private: bool
) -> Disclosure:
    """Decide which texts of a corpus's passages may be shown.

    Parameters
    ----------
    translators
        Names of the translators who translated these passages.
    passages
        Column `passage`.
    private
        Whether to show everything, for readers who may have the restricted texts.

    Raises
    ------
    BadInput
        For an unknown corpus or an unreadable description (see `rights_of`).
    """
    rights = rights_of(warehouse, corpus, translators)
    if private:
        return Disclosure(rights, frozenset(), secrets(warehouse, passages.clear(), rights), words=True)
    hidden = frozenset(rights.filter("restricted")["translator"])
    return Disclosure(rights, hidden, secrets(warehouse, passages, rights), words=not hidden)


def rights_of(warehouse: Warehouse, corpus: str, translators: Iterable[str]) -> pl.DataFrame:
    """The rights in the texts of a corpus, according to its current description.

    Returns
    -------
    Columns `translator` ('' for the source), `licence` and `restricted`, one row for each of `translators` and each
    text in the description. A text without a licence is restricted.

    Raises
    ------
    BadInput
        For an unknown corpus, or for an unreadable description, without which the restricted texts are unknown.
    """
    current(warehouse, corpus)
    licences = warehouse.read("licence", pl.DataFrame({"corpus": [corpus]}), ["translator", "licence", "restricted"])
    names = pl.DataFrame({"translator": sorted({"", *translators, *licences["translator"]})})
    rows = names.join(licences, on="translator", how="left", maintain_order="left")
    return rows.with_columns(pl.col("licence").fill_null("unknown"), pl.col("restricted").fill_null(True))


def named(translators: Iterable[str]) -> list[str]:
    """Names of translators for display; '', the source, becomes 'source'."""
    return [name or "source" for name in translators]


def secrets(warehouse: Warehouse, passages: pl.DataFrame, rights: pl.DataFrame) -> pl.DataFrame:
    """The restricted texts of passages, in every form in which they are stored.

    If a continuous translation has no text for a passage, the text of its whole document is included.

    Parameters
    ----------
    passages
        Column `passage`.
    rights
        Rights in the texts of their corpus, as returned by `rights_of`; a text without a row is restricted.

    Returns
    -------
    Columns `passage`, `translator` ('' for the source) and `text`, sorted.
    """
    columns = ["passage", "translator", "text"]
    sources = warehouse.read("source_text", passages, ["passage", "corpus", "document", "text"])
    references = warehouse.read("reference", passages, columns)
    aligned = renderings(warehouse, passages).select(columns).filter(pl.col("text") != "")
    prose = warehouse.read("prose", sources.select("corpus", "document").unique())
    documents = sources.drop("text").join(prose.drop("corpus"), on="document")
    unaligned = documents.join(aligned, on=["passage", "translator"], how="anti")
    texts = [sources.with_columns(translator=pl.lit("")), references, aligned, unaligned]
    rows = pl.concat([text.select(columns) for text in texts])
    open_texts = rights.filter(~pl.col("restricted"))
    return rows.join(open_texts, on="translator", how="anti").unique().sort(columns)
