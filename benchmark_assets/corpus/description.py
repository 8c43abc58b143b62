"""The description of a corpus: a YAML file that says what it is, where its files lie and under which terms."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from benchmark_assets.corpus.model import Licence
from resources import yaml_files
from resources.errors import BadInput
from resources.keys import check_key


class Text(BaseModel):
    """What a description says of the source or of one reference.

    `edition` names the source's edition in layouts that have several (bilara: `root/<language>/<edition>`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str
    licence: str
    restricted: bool = False
    edition: str = ""

    def terms(self) -> Licence:
        """The licence as the corpus model has it."""
        return Licence(self.licence, self.restricted)


class Description(BaseModel):
    """A corpus. `root` is the folder or file that the layout's reader reads, relative to the description's own file.

    All references are in one language, that into which models translate.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    layout: str
    root: Path
    source: Text
    references: dict[str, Text] = Field(min_length=1)

    @property
    def target_language(self) -> str:
        """Language of the references."""
        return next(iter(self.references.values())).language


def load(path: Path) -> Description:
    """Read a description; its `root` comes back absolute.

    Raises
    ------
    BadInput
        Where the file is missing, is no YAML mapping, has a wrong or unknown key, or a name that is no slug.
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
    for name in (description.name, *description.references):
        check_key(name, "corpus or translator", path)
    return description.model_copy(update={"root": (path.parent / description.root).resolve()})
