"""The description of a corpus: a YAML file with its layout, files, licences and settings."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from benchmark_assets.corpus.filters import Filters
from benchmark_assets.corpus.languages import plain
from resources import yaml_files
from resources.downloads.sources import Download
from resources.errors import BadInput, collecting, one_of, raise_all
from resources.frozen import Frozen
from resources.keys import check_key


class Text(Frozen):
    """The description of the source or of one reference.

    A restricted text is left out of exports and pages by default. `edition` is the edition of the source, for layouts
    with several editions (bilara: `root/<language>/<edition>`), or a variant of the source or a reference (tmx). A
    reference with its own `layout` is a continuous translation. It is aligned to the segments of the source or, in
    layouts that divide by citation, divided by its citations. The following keys apply only to such translations,
    except that a source that is divided by citations or into paragraphs may also have `files`, and that each text of
    the layout `offsets` has `files` (the path of its file below the corpus's root) and `sha256`:

    - `root`: folder of the files, by default the corpus's root. Each document has one file.
    - `files`: pattern for the paths of these files, in which `{document}` matches the document's id, `*` any part of a
      name and `**/` any folders; by default `**/{document}` with the layout's file name extension.
    - `numbering`: regular expression for paragraph numbers. Matches at the beginning of a paragraph become asides.
    - `aligner`: model of the registry that aligns the translation. Without an aligner, the translation is aligned
      offline by sentence embeddings.
    - `ask`: whether the model is asked about all segments, or only where the offline alignment is unsure.
    - `protocol`: the benchmark's corpus, such as `palibench`, as whose paper asks the model is asked and its texts are
      verified.
    - `compare`: what the translation is compared with offline: `guides` (the segmented translations, or the source if
      there are none), `source`, or `both`. The registry's `multilingual` embedder compares it with the source.

    `sha256` is the digest of the file for which the offsets hold, in the layout `offsets` only.
    """

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
    protocol: str = ""
    compare: Literal["guides", "source", "both"] = "guides"
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")


class Examining(Frozen):
    """Settings of the examination of the corpus's judges: the number of passages from which sentinels are made, and the
    seed of the draw. If the number of passages is 0, judges are not examined, and their scores are flagged. `hidden` is
    the share of questions that go with those of the studies as hidden sentinels.

    An examination takes about 20 to 220 calls for each judge and aspect; 40 passages are enough.
    """

    passages: int = Field(default=40, ge=0)
    seed: int = 1
    hidden: float = Field(default=0.05, ge=0, le=0.5)


class Sensitivity(Frozen):
    """Settings of the sensitivity suite: the number of passages that it damages (0 for none), and the seed of the draw.

    Twelve passages are enough for a first look: with three translators, they give about 850 texts, whose embedding
    takes longer than the rest of an import. A study needs a hundred passages.
    """

    passages: int = Field(default=0, ge=0)
    seed: int = 1


class Memory(Sensitivity):
    """Settings of the questions whether models know references by heart: the number of passages that are drawn (0 for
    none), and the seed of the draw.

    Each model with outputs that is in the registry gets up to two questions about each passage and translator. Below
    five passages, nothing can be told; 20 passages are enough.
    """


class Audit(Frozen):
    """Adjudication of outputs far from the references. Defaults: From Outliers to Errors, sections 3.3 to 3.6.

    - `by`: the number that `threshold` and `bands` refer to: `drift`; `length`, the length of the source as a multiple
      of its median; `support`, the same for (1 - support) times the root of the length; or `spread`, the same for the
      spread of the references (adjudication.triage).
    - `threshold`: number above which an output is queued for the panel.
    - `bands`: bounds between the bands, ascending; `threshold` is one of them.
    - `judges`: the panel, an odd number of names in the registry. Without judges, nothing is judged.
    - `show_scores`: whether judges see the scores of the output.
    - `sample`: for each band, the number of outputs per model that are drawn with `seed` for people to label. The panel
      judges these outputs, too. Outputs without a drift are a band of their own, with the largest of these numbers. A
      single number is divided among the bands by difficulty: an output's probability grows
      with the root of the number that the bands divide (adjudication.triage.allocated).
    - `below`: for each band below the threshold, the share of each model's outputs that is also drawn for the panel.
      The verdicts on these outputs make estimates of error rates below the threshold more precise (audit.anchored).
    """

    by: Literal["drift", "length", "support", "spread"] = "drift"
    threshold: float = Field(default=1.5, ge=0)
    bands: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0)
    judges: tuple[str, ...] = ()
    seed: int = 1
    show_scores: bool = False
    sample: Annotated[int, Field(gt=0)] | tuple[Annotated[int, Field(ge=0)], ...] = (25, 25, 13, 7, 6)
    below: float = Field(default=0, ge=0, le=1)

    @model_validator(mode="after")
    def _whole(self) -> "Audit":
        if list(self.bands) != sorted({edge for edge in self.bands if edge > 0}):
            raise ValueError("`bands` must be positive and in ascending order")
        if not isinstance(self.sample, int) and len(self.sample) != len(self.bands) + 1:
            raise ValueError(f"`sample` needs a number for each of the {len(self.bands) + 1} bands")
        if self.threshold not in self.bands:
            raise ValueError("`threshold` must be one of the bounds in `bands`, so that it does not divide a band")
        return self


class Rubric(Frozen):
    """Judges, named as in the registry, that score each output of a corpus from 1 to 5 (JP-TL-Bench, appendix C)."""

    judges: tuple[str, ...] = ()


class Scoring(Frozen):
    """Settings of the statistics of a corpus.

    - `cluster`: how passages are grouped into units, because passages of a unit are not independent of each other
      (`corpus.units`). The value is `document`, `blocks` (of consecutive passages), `passage`, or a regular expression
      whose match in a passage's id names the unit. The default is `document` if there are five documents or more, else
      `blocks`.
    - `tokenizer`: sacrebleu's tokenizer of BLEU, by default the one for the target language.
    - `missing`: whether a passage without a usable output gets the worst value of each measure, or is left out (then
      only models without a missing output are ranked).
    - `coverage`: share of the corpus's passages for which a model needs a usable output in order to be ranked.
    - `false_alarms`: target share of human translations above the calibrated outlier threshold.
    """

    cluster: str = ""
    tokenizer: str = ""
    missing: Literal["worst", "omit"] = "worst"
    coverage: float = Field(default=0.95, ge=0, le=1)
    false_alarms: float = Field(default=0.05, gt=0, lt=1)


class ErrorSpans(Frozen):
    """Judges, named as in the registry, that mark the errors of each output (GEMBA-MQM, ESA).

    `references` sets whether judges see the references. Without judges, nothing is marked.
    """

    judges: tuple[str, ...] = ()
    references: bool = False


Aspect = Literal["meaning", "prose", "voice", "terms"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
"""Aspects that a judge of the ensemble may compare, as defined in prompts/versus.yaml."""


class Seat(Frozen):
    """A judge of the ensemble: its name in the registry, the aspect that it compares, and the weight of its vote."""

    judge: str
    aspect: Aspect
    weight: float = Field(default=1, gt=0)


class Literary(Frozen):
    """Settings of a literary corpus, whose outputs are compared with a human translation (LiTERatE).

    - `human`: the reference that outputs are compared with; without it, the corpus is not literary.
    - `glossary`: file of terms (literary.glossary_file).
    - `extractor`: model of the registry that extracts terms from chunks for which the glossary has none.
    - `ensemble`: the judges, each with one aspect.
    - `orders`: whether judges see every pair in both orders, or in one order that is drawn by a hash.
    - `margin`: a verdict is unsure if the absolute balance of votes is at most the margin, in [0, 1).
    """

    human: str = ""
    glossary: Path | None = None
    extractor: str = ""
    ensemble: tuple[Seat, ...] = ()
    orders: Literal["both", "one"] = "both"
    margin: float = Field(default=0.2, ge=0, lt=1)

    @model_validator(mode="after")
    def _whole(self) -> "Literary":
        if not self.human and (self.glossary or self.extractor or self.ensemble):
            raise ValueError("`human` must name the reference that outputs are compared with")
        if len({(seat.judge, seat.aspect) for seat in self.ensemble}) < len(self.ensemble):
            raise ValueError("`ensemble` lists a judge twice with the same aspect")
        return self


class Chunks(Frozen):
    """Sizes of chunks of running text, in CJK characters (LiTERatE).

    A chunk has `least` to `most` characters; `context` is the range for the context before and after a chunk.
    """

    least: int = Field(default=200, ge=1)
    most: int = Field(default=500, ge=1)
    context: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] = (60, 80)

    @model_validator(mode="after")
    def _ordered(self) -> "Chunks":
        if self.least > self.most or self.context[0] > self.context[1]:
            raise ValueError("the lower bound of a range must not exceed the upper bound")
        return self


AUDIT, MQM = "audit", "mqm"
PALI = "pi"

Taxonomies = Literal["audit", "mqm"]
"""Names of taxonomies of error categories (adjudication.labels): `AUDIT` and `MQM`."""


def default_taxonomy(source_language: str) -> str:
    """The taxonomy of a corpus that names none: the audit paper's for Pali, for which it was made, else MQM's."""
    return AUDIT if plain(source_language) == PALI else MQM


class Description(Frozen):
    """The description of a corpus. Its paths are relative to its file.

    - `root`: the folder or file that the layout's reader reads.
    - `references`: references by translator, all in the language that models translate into.
    - `target`: language that models translate into if there are no references; outputs are then compared only with each
      other.
    - `filters`: thresholds of the filters; without them, every passage is selected.
    - `addressing`: whether outputs that address the judges or praise themselves (metrics.addressing) are judged, or
      withheld from all judges. Withheld outputs have no verdicts.
    - `taxonomy`: the error categories in the questions to judges, in sheets and in tables (adjudication.labels): `mqm`,
      the dimensions of MQM, or `audit`, those of the audit paper; by default `audit` for Pali, else `mqm`.
    - `translated`: whether models translate the corpus; false if it only shows how the passages of another corpus were
      chosen.
    - `corrections`: file of manually aligned segments (corpus.corrections).
    - `only`: table of passages (.csv with the column `passage_id`). Documents without a listed passage are not read.
      Other documents are read and aligned whole, but only their listed passages are selected.
    - `offsets`: for the layout `offsets` only, the table of the segments and their places in the files.
    - `wrapped`: for the layout `offsets` only, whether lines of the files were broken at a fixed width.
    - `ignore`: keys of JSON lines and columns of tables that are not read. Other unknown keys and columns are faults.
    - `downloads`: texts that `variorum scan --download` fetches into `root`.
    - `coverage`: minimum share of a source's text, from 0 to 1, that has to be in segments (layout `tei`).
    - `questions`: what was left open when the description was proposed. A corpus with open questions is not read:
      correct the description, and delete the question.

    The following keys are only for the layout `table`:

    - `columns`: names of columns in the files, by `segment_id`, `source`, a translator, or `document` (names of the
      documents). `segment_id: ''` numbers the rows of each file from 1; several columns, such as chapter and verse, are
      joined by dots, and an empty cell of all but the last repeats the one above. A column without a head, or with that
      of another, is called `column 3`.
    - `asides`: kinds of columns whose cells are kept beside the text and shown: `note`, `reference` (a citation, a
      place in an edition) or `variant`.
    - `heads`: numbers of the rows with the heads; `[]` if there are none. By default, the first row that has the most
      of the names in `columns`.
    - `pivot`: of a table that has a row for each text, the column that says whose text it is, and the column of the
      texts. Rows with one id become a row, in which each text has a column named after the first of these cells.
    - `sheets`: sheets of a workbook; by default the first.
    - `encoding`: of text files, such as `cp1252`; by default UTF-8, or UTF-16 with a byte order mark.
    - `passage: row`: each row is a passage. By default, ids that agree up to their last dot name one passage.

    The following keys are only for layouts that divide texts by citation (`BY_CITATION`). A level is given by its name
    (`book`, `chapter`, `section`) or its number, from 1:

    - `segment`: level of the segments, by default the finest level that the source and all such translations share.
    - `passage`: level of the passages, by default the one above the segments.
    - `lines`: number of lines (or other segments) in a part of a divided passage; 0 if passages are not divided.
    """

    name: str
    layout: str
    root: Path
    source: Text
    references: dict[str, Text] = Field(default={})
    target: str = ""
    filters: Filters | None = None
    sensitivity: Sensitivity = Sensitivity()
    examination: Examining = Examining()
    memory: Memory = Memory()
    audit: Audit = Audit()
    rubric: Rubric = Rubric()
    spans: ErrorSpans = ErrorSpans()
    literary: Literary = Literary()
    scoring: Scoring = Scoring()
    chunks: Chunks = Chunks()
    addressing: Literal["judge", "withhold"] = "judge"
    taxonomy: Taxonomies | Literal[""] = ""
    translated: bool = True
    corrections: Path | None = None
    only: Path | None = None
    offsets: Path | None = None
    wrapped: bool = False
    ignore: tuple[str, ...] = ()
    downloads: tuple[Download, ...] = ()
    coverage: float = Field(default=0.98, ge=0, le=1)
    questions: tuple[str, ...] = ()
    columns: dict[str, str | tuple[str, ...]] = Field(default={})
    asides: dict[str, Literal["note", "reference", "variant"]] = Field(default={})
    heads: tuple[int, ...] | None = None
    pivot: tuple[str, str] | None = None
    sheets: tuple[str, ...] = ()
    encoding: str = ""
    segment: str | int = ""
    passage: str | int = ""
    lines: int = Field(default=0, ge=0)

    @property
    def segmented(self) -> dict[str, Text]:
        """References without a layout of their own, which the corpus's layout divides into the source's segments."""
        return {translator: text for translator, text in self.references.items() if not text.layout}

    @property
    def continuous(self) -> dict[str, Text]:
        """Continuous translations: references with a layout of their own, which are aligned to the source."""
        return {translator: text for translator, text in self.references.items() if text.layout}

    @property
    def texts(self) -> dict[str, Text]:
        """The source, under the name '', and the references by translator."""
        return {"": self.source, **self.references}

    @property
    def beside(self) -> dict[str, Path]:
        """Files of the description that are no texts, by key."""
        files = {name: getattr(self, name) for name in ("corrections", "only", "offsets")}
        files["literary.glossary"] = self.literary.glossary
        return {key: file for key, file in files.items() if file}

    @property
    def target_language(self) -> str:
        """The language that models translate into."""
        return next((text.language for text in self.references.values()), self.target)


BY_CITATION = (
    "tei", "cbeta", "docx", "epub", "html", "kanripo", "numbered-text", "osis", "sefaria", "tei-lines",
    "tei-milestones", "usfm",
)  # fmt: skip
"""Layouts that divide texts by citation."""

ROW = "row"
"""Value of `passage` with which each row of a table is a passage."""

ONLY_FOR = {
    **dict.fromkeys(("segment", "passage", "lines"), BY_CITATION),
    **dict.fromkeys(("offsets", "wrapped"), ("offsets",)),
    **dict.fromkeys(("columns", "asides", "heads", "pivot", "sheets", "encoding"), ("table",)),
}  # fmt: skip
"""The layouts for which a key of a description is."""

ENDINGS = (".yaml", ".yml")
"""File name extensions of descriptions."""

ESSENTIAL = ("name", "layout", "root", "source", "references", "target")
"""Keys without which a description cannot be checked."""


def load(path: Path) -> Description:
    """Read and check a description; the paths in the result are absolute.

    Raises
    ------
    BadInput
        If the file is missing, is not a YAML mapping, has invalid or unknown keys, names that cannot be keys, an
        invalid regular expression, references in several languages, settings of continuous translations on a text that
        is not continuous, or filters that require more references than there are. All faults are raised together.
    """
    description, faults = examine(path)
    raise_all(faults)
    assert description is not None  # it has no fault
    return description


def examine(path: Path) -> tuple[Description | None, list[BadInput]]:
    """Return a description, and all the faults that `load` would raise. Paths in the description are absolute.

    A description with faults can be used only to check its files. None replaces a description that cannot be used at
    all.
    """
    if path.suffix.lower() not in ENDINGS and path.exists():
        problem = "holds texts, and does not describe them"
        return None, [BadInput(path, "", problem, f"open it with `variorum open {path}`")]
    remedy = "compare it with warehouse/sample/corpus.yaml"
    description, faults = yaml_files.examine(path, Description, remedy, ESSENTIAL)
    if description is None:
        return None, faults
    faults += _faults(path, description)
    update: dict[str, object] = {
        name: _absolute(place, path)
        for name in ("root", "corrections", "only", "offsets") if (place := getattr(description, name))
    }  # fmt: skip
    update["references"] = {
        translator: text.model_copy(
            update={
                "root": _absolute(text.root or description.root, path),
                "numbering": "" if _invalid(text.numbering) else text.numbering,
            }
        )
        for translator, text in description.references.items()
    }
    if glossary := description.literary.glossary:
        update["literary"] = description.literary.model_copy(update={"glossary": _absolute(glossary, path)})
    return description.model_copy(update=update), faults


def _faults(path: Path, description: Description) -> Iterator[BadInput]:
    """Faults of a description whose keys are individually valid."""
    if "/" in description.name:
        yield BadInput(
            path, "name", f"{description.name!r} contains a slash, which separates corpus and passage", "rename it"
        )
    if len(languages := {text.language for text in description.references.values()}) > 1:
        problem = f"are in several languages ({', '.join(sorted(languages))})"
        yield BadInput(path, "references", problem, "describe one corpus per language")
    if bool(description.references) == bool(description.target):
        missing = "is missing, and `references` is missing, too"
        problem = "is only for corpora without references" if description.target else missing
        remedy = "give either `references`, or `target`, the language that models translate into"
        yield BadInput(path, "target", problem, remedy)
    for name in (description.name, *description.references):
        faults: list[BadInput] = []
        with collecting(faults):
            check_key(name, "corpus or translator", path)
        yield from faults
    yield from _file_faults(path, description)
    required, count = description.filters.references if description.filters else None, len(description.references)
    if required is not None and required > count:
        yield BadInput(path, "filters.references", f"requires {required} references, but there are {count}", "lower it")
    if (judges := description.audit.judges) and len(judges) % 2 == 0:
        problem = f"has {len(judges)} judges, so votes could be tied"
        yield BadInput(path, "audit.judges", problem, "name an odd number of judges")
    if (human := description.literary.human) and human not in description.references:
        remedy = f"use {one_of(sorted(description.references))}"
        yield BadInput(path, "literary.human", f"{human!r} is not a reference", remedy)
    if error := _invalid(cluster := description.scoring.cluster):
        remedy = "use `document`, `blocks`, `passage`, or a regular expression such as '^[^.]+' for passage ids"
        yield BadInput(path, "scoring.cluster", f"{cluster!r} is not a valid regular expression ({error})", remedy)
    if tokenizer := description.scoring.tokenizer:
        from sacrebleu.metrics.bleu import BLEU

        if tokenizer not in BLEU.TOKENIZERS:
            remedy = f"use one of {', '.join(sorted(BLEU.TOKENIZERS))}"
            yield BadInput(path, "scoring.tokenizer", f"{tokenizer!r} is not a tokenizer of sacrebleu", remedy)


def _file_faults(path: Path, description: Description) -> Iterator[BadInput]:
    """Faults in the settings of files, of levels and of continuous translations."""
    for question in description.questions:
        yield BadInput(path, "questions", question, "correct the description, and delete the question")
    for key, layouts in ONLY_FOR.items():
        is_row = key == "passage" and description.passage == ROW and description.layout in ("table", "tmx")
        if getattr(description, key) and description.layout not in layouts and not is_row:
            yield BadInput(path, key, f"is only for the layout `{'` or `'.join(layouts)}`", "drop it")
    if description.layout == "offsets" and not description.offsets:
        yield BadInput(path, "offsets", "is missing", "name the table of the segments' places")
    ours = ["document", "segment_id", "source", *description.segmented]
    for name in sorted(description.columns.keys() - {*ours}):
        remedy = f"use one of {', '.join(ours)}"
        yield BadInput(path, f"columns.{name}", "is neither the id, nor the source, nor a reference", remedy)
    for translator, text in description.texts.items():
        key = f"references.{translator}" if translator else "source"
        names = ("layout", "root", "files", "numbering", "aligner", "protocol")
        settings = [name for name in names if getattr(text, name)]
        settings += ["compare"] if text.compare != "guides" else []
        if not text.layout and description.layout == "offsets":
            yield from _offset_faults(path, key, text)
            settings = [name for name in settings if name != "files"]
        elif text.sha256:
            yield BadInput(path, f"{key}.sha256", "is only for the layout `offsets`", "drop it")
        if key == "source" and description.layout in (*BY_CITATION, "paragraphs") and text.files:
            if description.layout == "tei" and "{document}" not in text.files:
                remedy = "write {document} in place of the document's id, as in '**/{document}.xml'"
                yield BadInput(path, f"{key}.files", f"{text.files!r} names one file", remedy)
            settings.remove("files")
        if description.layout == "table" and not text.layout:  # a table of its own
            settings = [name for name in settings if name != "files"]
        if key == "source" and settings:
            remedy = "drop it; `layout` and `root` of the corpus apply to the source"
            yield from (BadInput(path, f"{key}.{name}", "is for references only", remedy) for name in settings)
        elif not text.layout:
            problem, remedy = "is only for references with a `layout` of their own", "add the `layout`, or drop it"
            yield from (BadInput(path, f"{key}.{name}", problem, remedy) for name in settings)
        if text.protocol and (not text.aligner or text.ask != "all"):
            remedy = "name an `aligner`, with `ask: all`, or drop it"
            yield BadInput(path, f"{key}.protocol", "asks a model about whole texts", remedy)
        if error := _invalid(text.numbering):
            problem = f"is not a valid regular expression ({error})"
            remedy = "correct it; `\\d+\\.`, for example, matches a number and a period"
            yield BadInput(path, f"{key}.numbering", problem, remedy)


def _offset_faults(path: Path, key: str, text: Text) -> Iterator[BadInput]:
    """Faults in the file of a text that offsets divide."""
    if not text.files or set(text.files) & set("*{}") or Path(text.files).is_absolute() or ".." in text.files:
        problem = f"{text.files!r} is not the path of a file below `root`"
        yield BadInput(path, f"{key}.files", problem, "name the file, such as `legge.txt`")
    if not text.sha256:
        yield BadInput(path, f"{key}.sha256", "is missing", "give the SHA-256 of the file for which the offsets hold")


def _absolute(place: Path, description: Path) -> Path:
    return Path(os.path.realpath(description.parent / place))  # unlike Path.resolve, accepts links to themselves


def _invalid(expression: str) -> str:
    """Why a regular expression is invalid; '' if it is valid."""
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return ""
