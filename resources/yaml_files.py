"""Reading YAML files: descriptions, the registry, prompts. Every error names file, key and remedy."""

from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from resources.errors import BadInput

Content = TypeVar("Content", bound=BaseModel)


def read(path: Path, kind: type[Content], remedy: str) -> Content:
    """Read and validate a YAML file.

    Parameters
    ----------
    kind
        The pydantic model to validate against.
    remedy
        The remedy for a fault in the content, as a clause.

    Raises
    ------
    BadInput
        If the file is missing or is not YAML in UTF-8, or a key is duplicate, wrong, missing or unknown.
    """
    try:
        content: Any = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "check the path") from error
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:  # PyYAML lets most of these through
        mark = getattr(error, "problem_mark", None)
        key = f"line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise BadInput(path, key, f"is not YAML in UTF-8 ({reason})", remedy) from error
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise BadInput(path, ".".join(str(part) for part in first["loc"]), first["msg"].lower(), remedy) from error


class _Loader(yaml.CSafeLoader):
    """A safe loader that refuses duplicate keys. PyYAML would silently keep the last value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        key_nodes = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        keys = [self.construct_object(key, deep=True) for key in key_nodes]
        for node_of_key, key in zip(key_nodes, keys, strict=True):
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} occurs twice", node_of_key.start_mark)
        return super().construct_mapping(node, deep)
