"""A reader: files `DOCUMENT.lines`, in which a line `ID<tab>SOURCE<tab>TRANSLATION…` is a segment."""

from collections.abc import Iterator

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.segments import Unit, documents_of
from resources.errors import BadInput


def documents(description: Description) -> Iterator[Document | BadInput]:
    """A document of each file; translations are in the order of the description."""
    names = ("source", *description.segmented)
    for path in listed(description, ".lines"):
        rows = [clean(line, path).split("\t") for line in decode(path).splitlines()]
        units = [
            Unit(path.stem, key, at, dict(zip(names, texts, strict=True))) for at, (key, *texts) in enumerate(rows, 1)
        ]
        yield from documents_of(path, units, description)
