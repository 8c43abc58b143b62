"""Rights in the texts of a corpus, and outputs that may not be passed on because they contain a restricted text.

Here: the rights according to the current descriptions, and the texts and outputs that commands leave out unless called
with `--private` (`disclosure`). Not here: writing files and pages, and how much makes a text a copy (overlap).
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import polars as pl

from benchmark_assets.corpus.description import examine
from benchmark_assets.corpus.overlap import Index, copies
from benchmark_assets.corpus.registry import current, paths
from benchmark_assets.corpus.renderings import renderings
from resources.warehouse import Warehouse

DOCUMENT = ["corpus", "translator", "document"]
"""Columns that identify the text of a document by one translator; '' for the source."""

TEXTS = ("source_text", "reference", "segmented_reference", "alignment", "prose")
"""Tables with texts of documents."""


class Disclosure(NamedTuple):
    """Which texts of a corpus may be shown, and which are left out.

    - `rights`: rights in the texts, as returned by `rights_of`.
    - `hidden`: translators whose texts are left out; '' for the source.
    - `words`: whether judges and annotators may be quoted. Their words may contain any text.
    """

    warehouse: Warehouse
    corpus: str
    rights: pl.DataFrame
    hidden: frozenset[str]
    words: bool
    private: bool

    @property
    def restricted(self) -> list[str]:
        """Translators whose texts may not be passed on, whether hidden or not; '' for the source."""
        return self.rights.filter("restricted")["translator"].to_list()

    def withheld(self, outputs: pl.DataFrame) -> pl.Series:
        """The reason why each output is withheld: its overlap with a restricted text. Null if the output may be shown.

        An output is compared with the restricted texts of all corpora. A model may have memorized a translation, may
        translate a neighboring passage or repeat the source; an imported output may be a human translation. The model's
        other outputs in the document are taken into account, because a text may be divided among outputs.

        Parameters
        ----------
        outputs
            Columns `passage`, `text` (null where the model refused) and, if known, `model`.

        Returns
        -------
        Strings, parallel to `outputs`.
        """
        reasons: list[str | None] = [None] * len(outputs)
        texts = _texts(self.warehouse)
        if not self.private and texts.labels:
            rows = self._with_the_others(outputs)
            found = copies(
                rows["text"].fill_null("").to_list(), rows.select("model", "document").rows(), texts.restricted,
                lambda: texts.openly_licensed,
            )  # fmt: skip
            for number, copy in enumerate(found[: len(outputs)]):
                if copy:
                    corpus, translator = texts.labels[copy.document]
                    name = f"{'' if corpus == self.corpus else f'{corpus}: '}{translator or 'source'}"
                    reasons[number] = f"copies a restricted text ({name}); {copy.amount}"
        return pl.Series("withheld", reasons, dtype=pl.String)

    def _with_the_others(self, outputs: pl.DataFrame) -> pl.DataFrame:
        """Columns `model`, `document` and `text` of these outputs, followed by those of the same models' other outputs
        in the same documents."""
        passages = self.warehouse.read("source_text", pl.DataFrame({"corpus": [self.corpus]}), ["passage", "document"])
        rows = outputs.select("passage", "text", model="model" if "model" in outputs.columns else pl.lit(""))
        rows = rows.join(passages, on="passage", how="left", maintain_order="left")
        siblings = passages.join(rows.select("document", "model").unique(), on="document")
        siblings = siblings.join(rows, on=["passage", "model"], how="anti")
        others = self.warehouse.read("model_output", siblings.select("model", "passage"), ["model", "passage", "text"])
        others = others.join(passages, on="passage")
        columns = ["model", "document", "text"]
        return pl.concat([rows.select(columns), others.select(columns)])


def disclosure(warehouse: Warehouse, corpus: str, translators: Iterable[str], private: bool) -> Disclosure:
    """Decide which texts of a corpus may be shown.

    Parameters
    ----------
    translators
        Names of the translators whose texts may be shown.
    private
        Whether to show everything, for readers who may have the restricted texts.

    Raises
    ------
    BadInput
        For an unknown corpus or an unreadable description (see `rights_of`).
    """
    rights = rights_of(warehouse, corpus, translators)
    hidden = frozenset[str]() if private else frozenset(rights.filter("restricted")["translator"])
    return Disclosure(warehouse, corpus, rights, hidden, not hidden, private)


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


class _Texts:
    """Texts of all corpora in every form in which they are stored, for comparison with outputs.

    `state` is the state of the tables and licences when the texts were read. `texts` has one row per document: the
    columns of `DOCUMENT`, `restricted`, and `text`, its passages or paragraphs.
    """

    def __init__(self, state: object, texts: pl.DataFrame) -> None:
        restricted, self.state = texts.filter("restricted"), state
        self.labels: list[tuple[str, str]] = restricted.select("corpus", "translator").rows()
        self.restricted = Index.of(restricted["text"].to_list())
        self._open = texts.filter(~pl.col("restricted"))["text"]

    @cached_property
    def openly_licensed(self) -> Index:
        """The index of the openly licensed texts. It is made when an output is first found to be a copy."""
        return Index.of(self._open.to_list())


_LATEST: dict[str, _Texts] = {}
"""The texts of each warehouse."""


def _texts(warehouse: Warehouse) -> _Texts:
    """The texts of a warehouse, read again if they or the licences have changed.

    Whether a text is restricted is read from the current descriptions; a text without a licence is. If a description
    cannot be read, its licences are those that were last stored.
    """
    licences = _licences(warehouse)
    stamps = [warehouse.read(table, columns=["updated_at"])["updated_at"] for table in TEXTS]
    state, latest = (licences.rows(), [(len(times), times.max()) for times in stamps]), _LATEST.get(warehouse.name)
    if latest is None or latest.state != state:
        latest = _LATEST[warehouse.name] = _Texts(state, _documents(warehouse, licences))
    return latest


def _licences(warehouse: Warehouse) -> pl.DataFrame:
    """Columns `corpus`, `translator` and `restricted`. Nothing is stored, since the caller may be reading one state."""
    stored = warehouse.read("licence", columns=["corpus", "translator", "restricted"])
    rows = []
    for corpus, path in paths(warehouse).items():
        description, _ = examine(path)
        if description is not None and description.name == corpus:
            rows += [(corpus, translator, text.restricted) for translator, text in description.texts.items()]
    described = pl.DataFrame(rows, stored.schema, orient="row")
    return pl.concat([described, stored.join(described, on="corpus", how="anti")]).sort("corpus", "translator")


def _documents(warehouse: Warehouse, licences: pl.DataFrame) -> pl.DataFrame:
    """The rows of `_Texts`. A continuous translation has two: what is aligned with passages, and its whole text."""
    sources = warehouse.read("source_text", columns=["passage", "corpus", "document", "position", "text"])
    references = warehouse.read("reference", columns=["passage", "translator", "text"])
    translations = pl.concat([references, renderings(warehouse, sources.select("passage")).select(references.columns)])
    own = sources.with_columns(translator=pl.lit(""))
    others = translations.unique().join(sources.drop("text"), on="passage").select(own.columns)
    passages = pl.concat([own, others])
    by_document = passages.sort("position", "text").group_by(DOCUMENT, maintain_order=True).agg("text")
    prose = warehouse.read("prose", columns=[*DOCUMENT, "text"]).with_columns(pl.col("text").str.split("\n\n"))
    rows = pl.concat([by_document, prose.select(by_document.columns)]).sort(DOCUMENT, maintain_order=True)
    rows = rows.join(licences, on=["corpus", "translator"], how="left", maintain_order="left")
    return rows.with_columns(pl.col("restricted").fill_null(True))
