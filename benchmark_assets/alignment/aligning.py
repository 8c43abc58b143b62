"""Align documents, each by the aligner that its corpus names for the translator. Not here: the aligners themselves
(monotone, asking), the documents (documents), the form of the rows (rows)."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from benchmark_assets.alignment.asking import AlignmentWork, Extracted, ModelAligner
from benchmark_assets.alignment.documents import Aligner, ProseDocument
from benchmark_assets.alignment.likeness import Embed
from benchmark_assets.alignment.monotone import Aligned
from benchmark_assets.alignment.rows import ALIGNMENT, aligned_rows, by_embeddings, unsure
from resources.digest import digest
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.provider.estimate import Estimate, total
from resources.provider.provider import Provider

FAILURES = pl.Schema({"passage": pl.String(), "error": pl.String()})


def align_documents(
    documents: Sequence[ProseDocument],
    aligners: Mapping[tuple[str, str], Aligner],
    embed: Embed,
    provider: Provider,
    run: str,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Align documents; a fault of one document is an error of its own passages only.

    Parameters
    ----------
    aligners
        By corpus and translator.
    run
        The run that pays for the calls.

    Returns
    -------
    Rows of `alignment`, and columns `passage` and `error` of failed passages.
    """
    offline: list[Aligned | None] = []
    asked: dict[str, list[AlignmentWork]] = {}
    errors: dict[tuple[str, str], str] = {}
    for document in documents:
        aligner = aligners[document.corpus, document.translator]
        aligned = None
        try:
            if not aligner.model or aligner.ask == "unsure":
                aligned = by_embeddings(document.prose, document.segments, embed)
        except (ValueError, BadInput) as fault:
            errors[document.name] = f"{document.translator}: {fault}"
        offline.append(aligned)
        if aligner.model and document.name not in errors:
            asked.setdefault(aligner.model, []).append(_work(document, aligned))
    extracted: dict[tuple[str, str], list[Extracted]] = {}
    for model, works in asked.items():
        try:
            extracted |= model_aligner(provider, model).align(works, run)
        except BadInput as fault:
            errors |= {(work.document, work.translator): str(fault) for work in works}
    rows, failures = [pl.DataFrame(schema=ALIGNMENT)], [pl.DataFrame(schema=FAILURES)]
    for document, aligned in zip(documents, offline, strict=True):
        if error := errors.get(document.name):
            failures.append(document.sources.select("passage", error=pl.lit(error)))
            continue
        document_rows, failed = aligned_rows(
            document.translator, document.prose, document.segments, aligned, extracted.get(document.name, []),
            document.corrections,
        )  # fmt: skip
        rows.append(document_rows)
        failures.append(failed)
    return pl.concat(rows), pl.concat(failures).unique("passage", maintain_order=True)


def cost(
    documents: Iterable[ProseDocument], aligners: Mapping[tuple[str, str], Aligner], provider: Provider
) -> Estimate | None:
    """Calls and cost of aligning, assuming that models are asked about everything; None if no model is asked."""
    asked: dict[str, list[AlignmentWork]] = {}
    for document in documents:
        if model := aligners[document.corpus, document.translator].model:
            asked.setdefault(model, []).append(_work(document, None))
    if not asked:
        return None
    try:
        return total(model_aligner(provider, model).estimate(works) for model, works in asked.items())
    except BadInput:
        return None


def model_aligner(provider: Provider, model: str) -> ModelAligner:
    """The aligner of the registry with this name.

    Raises
    ------
    BadInput
        If the registry has no such aligner.
    """
    names = provider.registry().aligners
    if model not in names:
        raise BadInput(
            provider.registry_path, f"aligners.{model}", "is missing, but a corpus names it as its aligner",
            f"add it, or name one of {sorted(names)} in the description",
        )  # fmt: skip
    return ModelAligner(provider, provider.model(model))


def _work(document: ProseDocument, aligned: Aligned | None) -> AlignmentWork:
    segments = document.segments
    return document.work(unsure(segments, aligned) if aligned else [segment.id for segment in segments])


def fingerprints(
    passages: pl.DataFrame,
    languages: Mapping[str, tuple[str, str]],
    aligners: Mapping[tuple[str, str], Aligner],
    embedder: str,
    provider: Provider,
) -> pl.DataFrame:
    """Everything besides its texts that determines the alignment of a passage: columns `passage` and `settings`.

    Parameters
    ----------
    passages
        Column `passage`.
    languages
        By corpus, the language of its source and of its references.
    embedder
        Signature of the embedder.
    """
    parts: dict[str, list[object]] = {}
    for (corpus, translator), (model, ask) in sorted(aligners.items()):
        determinants: list[object] = [translator, embedder if not model or ask == "unsure" else "", ask]
        if model:
            try:
                determinants.append(model_aligner(provider, model).fingerprint(*languages[corpus]))
            except BadInput as fault:  # becomes the error of its documents when they are aligned
                determinants.append(str(fault))
        parts.setdefault(corpus, []).append(determinants)
    settings = {corpus: digest(by_translator) for corpus, by_translator in parts.items()}
    return passages.select("passage", settings=CORPUS.replace_strict(settings, default="", return_dtype=pl.String))
