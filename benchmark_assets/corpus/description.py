"""The description of a corpus: a YAML file that says what it is, where its files lie and under which terms."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchmark_assets.corpus.model import Licence
from benchmark_assets.partitions import check_key
from resources.errors import BadInput


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
    """A corpus. `root` is the folder or file that the layout's reader reads, relative to the description's own file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    layout: str
    root: Path
    source: Text
    references: dict[str, Text] = Field(min_length=1)


def load(path: Path) -> Description:
    """Read a description; its `root` comes back absolute.

    Raises
    ------
    BadInput
        Where the file is missing, is no YAML mapping, has a wrong or unknown key, or a name that is no slug.
    """
    example = "compare it with warehouse/sample/corpus.yaml"
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(
            path, "", f"cannot be read ({error.strerror})", "give the path of a corpus description"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        key = f"line {mark.line + 1}" if mark else ""
        raise BadInput(path, key, f"is no YAML in UTF-8 ({str(error).splitlines()[0]})", example) from error
    try:
        description = Description.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(path, ".".join(str(part) for part in first["loc"]), first["msg"].lower(), example) from error
    if "/" in description.name:
        raise BadInput(
            path, "name", f"{description.name!r} has a slash, which separates corpus and passage", "rename it"
        )
    for name in (description.name, *description.references):
        check_key(name, "corpus or translator", path)
    return description.model_copy(update={"root": (path.parent / description.root).resolve()})
