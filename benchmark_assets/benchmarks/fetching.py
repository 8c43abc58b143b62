"""Fetching the files of a recipe's sources, and the terms on which they are fetched.

Here: which sources are fetched, consent, faults of required and optional sources. Not here: HTTP, digests and the
manifest (resources.downloads), folders that users bring (folders), recipes (recipe), their import (parts).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchmark_assets.benchmarks.folders import Obtained, bring, way
from benchmark_assets.benchmarks.recipe import FETCHED, FILE, ReadRecipe, UserFolder
from resources import whole_files
from resources.downloads import manifest
from resources.downloads.downloads import Downloads
from resources.downloads.sources import SOURCES, Download, wanted
from resources.errors import BadInput, collecting, raise_all

RAW = "raw.githubusercontent.com/"
"""Host of files on GitHub, which a mirror leaves out of its paths."""

NAMED = 5
"""Maximum number of faults of a source that are listed singly."""


class Stock(NamedTuple):
    """Files and bytes on disk after fetching, and the reason for each optional source that is left out."""

    files: int
    bytes: int
    left_out: dict[str, str]


def offer(recipe: ReadRecipe) -> Iterator[str]:
    """Lines that state what would be fetched and on which terms."""
    about = recipe.recipe
    yield f"{about.name}, version {about.version}: {about.title}"
    if about.paper:
        yield f"paper: {about.paper.citation} {about.paper.url}".rstrip()
    for name, source in about.sources.items():
        download = recipe.downloads[name]
        kind = "required" if source.required else "optional"
        consent = " Needs consent: --accept." if source.consent else ""
        if isinstance(download, UserFolder):
            count = f"{len(download.files)} files" if download.files else "all files"
            yield f"source {name} ({kind}): {count} of a folder of yours, `--folder {name}=PATH`; {download.licence}"
            yield f"  {source.terms}{consent} {source.how}"
            continue
        place = f"{download.repository} at {download.commit[:7]}" if download.commit else download.source
        licence = download.licence or SOURCES[download.source].licence
        yield f"source {name} ({kind}): {len(wanted([download], name))} files from {place}; {licence}"
        yield f"  {source.terms}{consent}"
    for corpus, names in asked(recipe).items():
        yield f"corpus {corpus} asks models of your registry, within its budget: {', '.join(names)}; needs --accept"
    for need in about.needs:
        yield f"not included: {need.what}, because {need.why}. {need.how}"


def asked(recipe: ReadRecipe) -> dict[str, list[str]]:
    """Names of the models and judges that the descriptions name, by corpus; corpora that name none are left out."""
    names = {}
    for corpus in recipe.corpora.values():
        aligners = (text.aligner for text in corpus.references.values())
        ensemble = (seat.judge for seat in corpus.literary.ensemble)
        judges = (*corpus.audit.judges, *corpus.rubric.judges, *corpus.spans.judges)
        names[corpus.name] = sorted({*aligners, *ensemble, *judges, corpus.literary.extractor} - {""})
    return {corpus: found for corpus, found in names.items() if found}


def check_consent(recipe: ReadRecipe, accepted: bool) -> None:
    """Raise BadInput if the recipe cannot be added without consent, and the consent is missing."""
    sources = recipe.recipe.sources
    needing = [f"the terms of {name}" for name, source in sources.items() if source.required and source.consent]
    needing += [f"calls by the corpus {corpus}" for corpus in asked(recipe)]
    if needing and not accepted:
        problem = f"needs your consent to {', '.join(needing)}"
        raise BadInput(recipe.recipe.name, "", problem, "read what is printed above, then add `--accept`")


def fetch(
    recipe: ReadRecipe,
    place: Path,
    downloads: Downloads,
    accepted: bool,
    base: str = "",
    folders: Mapping[str, Path] | None = None,
) -> Stock:
    """Fetch the files of all sources into subfolders of `place`. Files that are present are not requested again.

    Parameters
    ----------
    accepted
        Whether terms that need consent are accepted. Without consent, optional sources are left out.
    base
        URL of a mirror, which has the files of GitHub under `OWNER/REPOSITORY/COMMIT/PATH` and other files under
        `HOST/PATH`; '' for the publishers themselves.
    folders
        The user's folders by source.

    Raises
    ------
    BadInput
        If `base` is not a URL, or a file of a required source is missing, cannot be fetched, or has another digest than
        the recipe names. All sources are tried first.
    """
    if base and not re.match(r"https?://[^/]", base):
        raise BadInput("--base", "", f"{base!r} is not a URL", "give a URL such as http://localhost:8000")
    files, size, left_out = 0, 0, dict[str, str]()
    faults: list[BadInput] = []
    for name, source in recipe.recipe.sources.items():
        if source.consent and not accepted:
            left_out[name] = "its terms need your consent: `--accept`"
            continue
        download, into = recipe.downloads[name], place / FETCHED
        if isinstance(download, UserFolder):
            obtained = bring(name, download, (folders or {}).get(name), into, way(name, source))
        else:
            obtained = _fetched(recipe, name, download, into, downloads, base)
        if obtained is None:
            left_out[name] = f"it needs a folder of yours; {way(name, source)}"
            continue
        files += len(obtained.sizes)
        size += sum(obtained.sizes)
        if source.required:
            faults += obtained.faults
        elif obtained.faults:
            left_out[name] = listed(obtained.faults)
    raise_all(faults)
    return Stock(files, size, left_out)


def _fetched(
    recipe: ReadRecipe, name: str, download: Download, into: Path, downloads: Downloads, base: str
) -> Obtained:
    """Fetch the files of a source into the folder `name` below `into`.

    Files that nothing pins are pinned by their first fetch, so that a corpus does not change under its results.
    """
    sizes, faults = list[int](), list[BadInput]()
    megabytes = recipe.recipe.sources[name].megabytes
    if megabytes:
        slow = downloads.deadline * megabytes * 10**6 / downloads.most_bytes
        downloads = downloads.model_copy(update={"most_bytes": megabytes * 10**6, "deadline": slow})
    with collecting(faults):
        files = [file for file in wanted([download], recipe.folder / FILE) if (name, file.path) not in recipe.skipped]
        known = manifest.read(into / name)
        for number, file in enumerate(files):
            digest = known[file.path].sha256 if file.path in known and not file.sha256 else file.sha256
            path = file.url.removeprefix("https://").removeprefix(RAW)
            files[number] = replace(file, sha256=digest, url=f"{base.rstrip('/')}/{path}" if base else file.url)
        result = downloads.fetch(files, into / name)
        sizes = [file.record.bytes for file in result.fetched]
        faults += result.faults
    return Obtained(sizes, faults)


def listed(faults: Sequence[BadInput]) -> str:
    """The first few faults, one on a line, and the number of the others."""
    more = f"\n  and {len(faults) - NAMED} further files" if len(faults) > NAMED else ""
    return "\n  ".join(map(str, faults[:NAMED])) + more


def provenance(recipe: ReadRecipe, place: Path, source: str, file: str) -> dict[str, str]:
    """URL, commit, licence and SHA-256 of a fetched file of a source. A file of a user's folder has no URL."""
    download, folder, origin = recipe.downloads[source], place / FETCHED / source, {"url": "", "commit": ""}
    if not isinstance(download, UserFolder):
        origin = manifest.read(folder)[file].model_dump(include={"url", "commit"})
    return origin | {"licence": download.licence, "sha256": whole_files.sha256(folder / file)}
