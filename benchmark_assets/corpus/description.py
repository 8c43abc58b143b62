"""The description of a corpus: a YAML file with its layout, files, licences and settings."""

import re
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from benchmark_assets.corpus.filters import Filters
from benchmark_assets.corpus.model import Licence
from resources import yaml_files
from resources.downloads.sources import Download
from resources.errors import BadInput
from resources.keys import check_key


class Text(BaseModel):
    """The description of the source or of one reference.

    `edition` names the source's edition in layouts that have several (bilara: `root/<language>/<edition>`).

    A reference with a `layout` of its own is a continuous translation, which is aligned to the source's segments. Its
    files lie under `root` (relative to the description; by default the corpus's), one a document, named by `files`,
    where `{document}` stands for the document's id, `*` for any part of a name and `**/` for any folders (by default
    `**/{document}` with the layout's ending). `numbering` is a regular expression for the numbers of its paragraphs. It
    is matched at the beginning of each paragraph, and the match is kept apart from the text. The translation is aligned
    offline, by sentence embeddings, or by the model that `aligner` names in the registry. `ask` decides whether the
    model is asked about `all` segments, or only where the offline alignment is `unsure`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str
    licence: str
    restricted: bool = False
    edition: str = ""
    layout: str = ""
    root: Path | None = None
    files: str = ""
    numbering: str = ""
    aligner: str = ""
    ask: Literal["all", "unsure"] = "all"

    def terms(self) -> Licence:
        """The licence in the form of the corpus model."""
        return Licence(self.licence, self.restricted)


class Sensitivity(BaseModel):
    """Number of passages of a corpus that the sensitivity suite damages (0 for none), and the seed of the draw.

    The default is for a first look: some 850 texts with three translators. A study needs a hundred passages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    passages: int = Field(default=12, ge=0)
    seed: int = 1


class Audit(BaseModel):
    """Adjudication of outputs far from the references (audit, sections 3.3 to 3.6); the defaults are the paper's.

    `threshold` is the drift above which an output is queued for the panel, `bands` are the bounds between bands of
    drift. `judges` are names in the registry, an odd number; without judges nothing is judged. They see the scores only
    if `show_scores` is true. `sample` is the number of outputs of each model in each band that `seed` draws for people;
    the panel judges these, too.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(default=1.5, ge=0)
    bands: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0)
    judges: tuple[str, ...] = ()
    seed: int = 1
    show_scores: bool = False
    sample: tuple[Annotated[int, Field(ge=0)], ...] = (25, 25, 13, 7, 6)

    @model_validator(mode="after")
    def _whole(self) -> "Audit":
        if list(self.bands) != sorted({edge for edge in self.bands if edge > 0}):
            raise ValueError("`bands` must be positive and ascend")
        if len(self.sample) != len(self.bands) + 1:
            raise ValueError(f"`sample` needs a number for each of the {len(self.bands) + 1} bands")
        if self.threshold not in self.bands:
            raise ValueError("`threshold` must be one of `bands`, so that no band lies on both sides of it")
        return self


class Rubric(BaseModel):
    """Judges that give each output of a corpus a mark from 1 to 5 (JP-TL-Bench, appendix C); names in the registry."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judges: tuple[str, ...] = ()


Aspect = Literal["meaning", "prose", "voice", "terms"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
"""Aspects that a judge of the ensemble may compare; prompts/versus.yaml defines each."""


class Seat(BaseModel):
    """A judge of the ensemble by its name in the registry, the aspect that it compares, and the weight of its vote."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judge: str
    aspect: Aspect
    weight: float = Field(default=1, gt=0)


class Literary(BaseModel):
    """Settings of a literary corpus, whose outputs are compared with the human translation (LiTERatE).

    `human` is the reference that outputs are compared with; without it, the corpus is not literary. `glossary` is a
    file of terms (references.glossary), relative to the description; chunks without terms in it get terms from the
    model that `extractor` names in the registry. `ensemble` has the judges, each with an aspect; they see every pair in
    both orders, or in one order drawn by a hash. A verdict needs a balance of votes beyond `margin`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    human: str = ""
    glossary: Path | None = None
    extractor: str = ""
    ensemble: tuple[Seat, ...] = ()
    orders: Literal["both", "one"] = "both"
    margin: float = Field(default=0, ge=0, lt=1)

    @model_validator(mode="after")
    def _whole(self) -> "Literary":
        if not self.human and (self.glossary or self.extractor or self.ensemble):
            raise ValueError("`human` must name the reference that outputs are compared with")
        if len({(seat.judge, seat.aspect) for seat in self.ensemble}) < len(self.ensemble):
            raise ValueError("`ensemble` has a judge twice with the same aspect")
        return self


class Chunks(BaseModel):
    """Sizes of chunks of running text (LiTERatE): the least and most CJK characters of a chunk, and of its context on
    each side."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    least: int = Field(default=200, ge=1)
    most: int = Field(default=500, ge=1)
    context: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] = (60, 80)

    @model_validator(mode="after")
    def _ordered(self) -> "Chunks":
        if self.least > self.most or self.context[0] > self.context[1]:
            raise ValueError("the least must not be above the most")
        return self


class Description(BaseModel):
    """A corpus. `root` is the folder or file that the layout's reader reads, relative to the description's own file.

    All references are in one language, the language that models translate into. A corpus without references, whose
    outputs are compared pairwise only, names it as `target`. Without `filters`, every passage is selected.
    `corrections` is a file of manually aligned segments (corpus.corrections); `downloads` lists the texts that
    `variorum download` fetches into `root`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    layout: str
    root: Path
    source: Text
    references: dict[str, Text] = {}
    target: str = ""
    filters: Filters | None = None
    sensitivity: Sensitivity = Sensitivity()
    audit: Audit = Audit()
    rubric: Rubric = Rubric()
    literary: Literary = Literary()
    chunks: Chunks = Chunks()
    corrections: Path | None = None
    downloads: tuple[Download, ...] = ()

    @property
    def segmented(self) -> dict[str, Text]:
        """References in the corpus's own layout, in the segments of the source."""
        return {translator: text for translator, text in self.references.items() if not text.layout}

    @property
    def continuous(self) -> dict[str, Text]:
        """References with a layout of their own, which are aligned."""
        return {translator: text for translator, text in self.references.items() if text.layout}

    @property
    def target_language(self) -> str:
        """Language of the references, or without references that of the outputs."""
        return next((text.language for text in self.references.values()), self.target)


def load(path: Path) -> Description:
    """Read a description; the returned `root` is absolute.

    Raises
    ------
    BadInput
        If the file is missing, is no YAML mapping, has a wrong or unknown key, a name that is no slug, a `numbering`
        that is no regular expression, files for a text without a layout of its own, or filters that need more
        references than it has.
    """
    description = yaml_files.read(path, Description, "compare it with warehouse/sample/corpus.yaml")
    if "/" in description.name:
        raise BadInput(
            path, "name", f"{description.name!r} has a slash, which separates corpus and passage", "rename it"
        )
    if len(languages := {text.language for text in description.references.values()}) > 1:
        raise BadInput(
            path,
            "references",
            f"are in several languages ({', '.join(sorted(languages))})",
            "describe a corpus for each",
        )
    if bool(description.references) == bool(description.target):
        problem = "goes with references" if description.target else "is missing, and so are references"
        remedy = "give `references`, or where there are none the language that models translate into as `target`"
        raise BadInput(path, "target", problem, remedy)
    for name in (description.name, *description.references):
        check_key(name, "corpus or translator", path)
    _check_files(path, description)
    _check_filters(path, description)
    root = (path.parent / description.root).resolve()
    references = {
        translator: text.model_copy(update={"root": (path.parent / text.root).resolve() if text.root else root})
        for translator, text in description.references.items()
    }
    corrections = (path.parent / description.corrections).resolve() if description.corrections else None
    literary = description.literary
    if literary.human and literary.human not in references:
        raise BadInput(
            path, "literary.human", f"{literary.human!r} is none of the references", f"use one of {sorted(references)}"
        )
    if literary.glossary:
        literary = literary.model_copy(update={"glossary": (path.parent / literary.glossary).resolve()})
    return description.model_copy(
        update={"root": root, "references": references, "corrections": corrections, "literary": literary}
    )


def _check_files(path: Path, description: Description) -> None:
    texts = {"source": description.source}
    texts |= {f"references.{translator}": text for translator, text in description.references.items()}
    for key, text in texts.items():
        given = [name for name in ("layout", "root", "files", "numbering", "aligner") if getattr(text, name)]
        if key == "source" and given:
            raise BadInput(path, f"{key}.{given[0]}", "is for references only", "drop it; the corpus has a `layout`")
        if given and not text.layout:
            raise BadInput(
                path, f"{key}.{given[0]}", "is for a reference with a layout of its own", "add its `layout`, or drop it"
            )
        try:
            re.compile(text.numbering)
        except re.error as error:
            raise BadInput(
                path,
                f"{key}.numbering",
                f"is no regular expression ({error})",
                "correct it; `\\d+\\.` is a number and a dot",
            ) from error


def _check_filters(path: Path, description: Description) -> None:
    needed = description.filters.references if description.filters else None
    if needed is not None and needed > len(description.references):
        raise BadInput(
            path, "filters.references", f"asks for {needed} of {len(description.references)} references", "lower it"
        )
