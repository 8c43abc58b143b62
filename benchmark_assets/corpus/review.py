"""What the files of a corpus contain, in words, before anything is computed from them.

Here: counts, languages, lengths, licences, what would be aligned, the first passage. Not here: reading (scan), faults
(the readers), costs of models.
"""

from collections.abc import Iterator

import polars as pl

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Lengths
from benchmark_assets.corpus.pairs import RUNS
from benchmark_assets.corpus.proposed import UNSTATED
from benchmark_assets.corpus.readers import table
from benchmark_assets.corpus.roles import UNKNOWN
from benchmark_assets.corpus.scan import Scan, covered

MOST = 40
"""Number of lines about doubts."""

LONGEST = 300
"""Characters that are shown of a text."""


def review(description: Description, scanned: Scan) -> Iterator[str]:
    """Sentences about a corpus that was scanned alone, faulty documents excluded."""
    source = scanned.source
    segments = int(source["segments"].list.len().sum()) if len(source) else 0
    documents = source["document"].n_unique()
    yield (
        f"{description.name}: {len(source)} passages, {segments} segments, {documents} "
        f"document{'s' * (documents != 1)}, {description.source.language} into {description.target_language}"
    )
    if source.is_empty():
        return
    lengths = source["text"].str.len_chars().sort().to_list()
    yield (
        f"  source: {sum(lengths):,} characters; a passage has {lengths[0]} to {lengths[-1]}, "
        f"median {lengths[len(lengths) // 2]}"
    )
    for (translator,), texts in covered(scanned.coverage).group_by(["translator"], maintain_order=True):
        parts = ", ".join(f"{name} {texts[name].sum():,}" for name in Lengths._fields)
        yield f"  characters of {translator or 'the source'}: {parts}{_least(texts)}"
    yield from rows(description)
    doubts = scanned.aside.filter(kind="doubt")
    for (translator,), doubted in doubts.group_by(["translator"], maintain_order=True):
        segment, text = doubted.select("segment_id", "text").row(0)
        yield f"  doubts about {len(doubted)} segments of {translator or 'the source'}, such as {segment}: {_cut(text)}"
    for translator in description.segmented:
        rendered = scanned.reference.filter(translator=translator)
        whole = rendered.filter(pl.col("segments").list.drop_nulls().list.len() == pl.col("segments").list.len())
        partial = len(rendered) - len(whole)
        yield f"  {translator}: complete in {len(whole)} of {len(source)} passages, in parts in {partial}"
    for translator, text in description.continuous.items():
        prose = scanned.prose.filter(translator=translator)
        if prose.is_empty():
            continue
        how = f"by the model {text.aligner}" if text.aligner else "offline, by sentence embeddings"
        how += f", by the published protocol of {text.protocol}" if text.protocol else ""
        characters = prose["text"].str.len_chars().sum()
        yield f"  {translator}: prose of {len(prose)} documents, {characters:,} characters, to be aligned {how}"
    yield from doubt_lines(scanned.pair_doubt)
    if len(description.references) < 2:
        yield "  drift needs two references of a passage; with fewer, similarity and lexical scores remain"


def _least(texts: pl.DataFrame) -> str:
    """The document with the smallest share of text in segments, if it is not whole."""
    document, share = texts.select("document", "share").row(0)
    return f"; in {document}, {share:.1%} are in segments" if share < 1 else ""


def rows(description: Description) -> Iterator[str]:
    """For tables: how many rows became how many passages, and which rows are no segment."""
    if description.layout == "table":
        yield from (f"  {line}" for line in table.accounts(description))


def doubt_lines(rows: pl.DataFrame) -> Iterator[str]:
    """What is doubted in the pairs of a corpus: a line for each run of segments, and for each kind of single doubts.

    `rows` has columns of `pair_doubt`.
    """
    runs = pl.when(pl.col("kind").is_in(RUNS)).then("evidence").otherwise(pl.lit(""))
    groups = rows.sort("document", "translator").group_by(
        "document", "translator", "kind", runs.alias("run"), maintain_order=True
    )
    counted = groups.agg(pl.len(), pl.first("segment_id", "evidence"), accepted=pl.col("accepted").all())
    for document, translator, kind, run, count, segment, evidence, accepted in counted.head(MOST).iter_rows():
        what = f"{evidence} ({count} segments)" if run else f"{count} {kind}, such as {segment}, which {evidence}"
        yield f"  doubted: {document} {translator}: {what}{', but right by hand' * accepted}"
    if len(counted) > MOST:
        yield f"  doubted: and {len(counted) - MOST} more; `variorum trace CORPUS/PASSAGE` shows those of a passage"


def reminders(description: Description) -> Iterator[str]:
    """What the description leaves open: languages and licences that are not stated."""
    for translator, text in description.texts.items():
        key = f"references.{translator}" if translator else "source"
        if text.language == UNKNOWN:
            yield f"{key}.language: is not known; write the language's ISO 639 code, such as la"
        if text.licence == UNSTATED and not text.restricted:
            remedy = "write its licence, or add `restricted: true`"
            yield f"{key}.licence: is not stated, so packages and pages would contain the text; {remedy}"


def first_passage(scanned: Scan) -> Iterator[str]:
    """The first passage as it was read: its id, its source and its references. Long texts are cut."""
    for passage, text in scanned.source.head(1).select("passage", "text").iter_rows():
        yield f"the first passage as it was read: {passage}"
        yield f"  source: {_cut(text)}"
        for translator, segments in (
            scanned.reference.filter(passage=passage).select("translator", "segments").iter_rows()
        ):
            yield f"  {translator}: {_cut(' '.join(segment or '—' for segment in segments))}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
