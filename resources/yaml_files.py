"""Reading the project's YAML files: descriptions, the registry, prompts. Every fault names file, key and remedy."""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from resources.errors import BadInput

Content = TypeVar("Content", bound=BaseModel)


def read(path: Path, kind: type[Content], remedy: str) -> Content:
    """Read a YAML file of a declared form.

    Parameters
    ----------
    kind
        The form, a pydantic model.
    remedy
        What to do about a fault of the file, in a clause.

    Raises
    ------
    BadInput
        Where the file is missing, is no YAML in UTF-8, has a key twice, or a key that is wrong, missing or unknown.
    """
    try:
        content: Any = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "check the path") from error
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:  # PyYAML lets most of these through
        mark = getattr(error, "problem_mark", None)
        key = f"line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise BadInput(path, key, f"is no YAML in UTF-8 ({reason})", remedy) from error
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(path, ".".join(str(part) for part in first["loc"]), first["msg"].lower(), remedy) from error


class _Loader(yaml.CSafeLoader):
    """YAML's safe loader keeps the last of two equal keys; a mistake should not win silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        given = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        keys = [self.construct_object(key, deep=True) for key in given]
        for at, key in zip(given, keys, strict=True):
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} occurs twice", at.start_mark)
        return super().construct_mapping(node, deep)
