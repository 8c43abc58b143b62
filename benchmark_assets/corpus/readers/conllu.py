"""CoNLL-U, the form of Universal Dependencies: a sentence is a segment.

Its id is `sent_id` or, without one, its number in the file; `segments.located` explains such ids. Its text is `text`
or, without one, its words. The translation into a language is in the comment `text_en`, and that of one of several
translators in `text_en_NAME`.
"""

from collections.abc import Iterator
from pathlib import Path

from conllu import TokenList, parse
from conllu.exceptions import ParseException

from benchmark_assets.corpus.description import Description
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers.characters import clean, decode
from benchmark_assets.corpus.readers.files import listed
from benchmark_assets.corpus.readers.segments import Unit, documents_of, located
from resources.errors import BadInput, collecting
from resources.keys import slug


def documents(description: Description) -> Iterator[Document | BadInput]:
    """Documents of one .conllu file, or of all .conllu files in a folder in order of their names.

    Raises
    ------
    BadInput
        If the folder contains no .conllu file.
    """
    for path in listed(description, ".conllu"):
        faults: list[BadInput] = []
        with collecting(faults):
            units = list(_units(path, description, faults))
        yield from faults or documents_of(path, units, description)


def _units(path: Path, description: Description, faults: list[BadInput]) -> Iterator[Unit]:
    """The sentences of a file. Faults of single sentences are added to `faults`."""
    try:
        sentences = parse(decode(path))
    except (ParseException, ValueError, IndexError) as error:
        problem = f"is not CoNLL-U ({str(error).splitlines()[0]})"
        raise BadInput(path, "", problem, "correct the file, or fetch it again") from error
    if not sentences:
        raise BadInput(path, "", "contains no sentences", "fetch the file again, or remove it")
    for number, sentence in enumerate(sentences, start=1):
        with collecting(faults):
            comments = {str(name): str(text or "") for name, text in sentence.metadata.items()}
            _, segment = located(slug(comments.get("sent_id", "").strip() or str(number)), path)
            texts = {"source": comments.get("text") or _words(sentence)}
            for translator, text in description.segmented.items():
                own = comments.get(f"text_{text.language}_{translator}", "")
                texts[translator] = own or comments.get(f"text_{text.language}", "") * (len(description.segmented) == 1)
            where = f"sentence {number}"
            yield Unit(slug(path.stem), segment, number, {k: clean(v, path, where).strip() for k, v in texts.items()})


def _words(sentence: TokenList) -> str:
    """The words of a sentence, with spaces except where `SpaceAfter=No` says that there is none."""
    text, covered = "", 0
    for token in sentence:
        place = token["id"]
        if isinstance(place, tuple):
            if place[1] != "-":  # a word that is only understood (8.1)
                continue
            covered = place[2]
        elif place <= covered:
            continue
        text += token["form"] + " " * ((token["misc"] or {}).get("SpaceAfter") != "No")
    return text.strip()
