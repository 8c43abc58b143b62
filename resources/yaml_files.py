"""Reading YAML files: descriptions, the registry, prompts. Every error names file, key and remedy."""

from collections.abc import Collection
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from resources.errors import BadInput, raise_all
from resources.whole_files import state

Content = TypeVar("Content", bound=BaseModel)

DEEPEST = 100
"""Maximum number of nested levels."""


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
        If the file is missing or is not YAML in UTF-8, or if a key is duplicate, wrong, missing or unknown. All wrong,
        missing and unknown keys are reported together.
    """
    content, faults = examine(path, kind, remedy)
    raise_all(faults)
    assert content is not None  # it has no fault
    return content


def examine(
    path: Path, kind: type[Content], remedy: str, essential: Collection[str] = ()
) -> tuple[Content | None, list[BadInput]]:
    """The content of a YAML file, and all its faults, which `read` would raise.

    The faulty keys are removed from the content, so that the caller can check the remaining keys further. The content
    is None if it is invalid even without the faulty keys, or if one of the `essential` keys has a fault other than an
    unknown key.
    """
    try:
        text = _text(path, state(path))
        content = _parsed(text)
    except OSError as error:
        return None, [BadInput(path, "", f"cannot be read ({error.strerror})", "check the path")]
    except (yaml.YAMLError, ValueError, AttributeError, RecursionError) as error:  # PyYAML lets most of these through
        mark = getattr(error, "problem_mark", None)
        key = f"line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).splitlines()[0]
        return None, [BadInput(path, key, f"is not YAML in UTF-8 ({reason})", remedy)]
    try:
        return _validated(text, kind), []
    except ValidationError as error:
        errors = error.errors()
    faults = [BadInput(path, ".".join(map(str, each["loc"])), each["msg"].lower(), remedy) for each in errors]
    if any(not each["loc"] or (each["loc"][0] in essential and each["type"] != "extra_forbidden") for each in errors):
        return None, faults
    rest = deepcopy(content)
    for each in errors:
        _drop(rest, each["loc"])
    try:
        return kind.model_validate(rest), faults
    except ValidationError:
        return None, faults


@lru_cache(maxsize=64)
def _text(path: Path, _: tuple[int, ...]) -> str:
    """The text of a file in one state. An update reads the same few files many times."""
    return path.read_text(encoding="utf-8")


@lru_cache(maxsize=64)
def _parsed(text: str) -> Any:
    """The content of a YAML text, which callers must not change."""
    _check_depth(text)
    return yaml.load(text, _Loader)


@lru_cache(maxsize=64)
def _validated(text: str, kind: type[Content]) -> Content:
    """The validated content of a YAML text, which callers must not change."""
    return kind.model_validate(_parsed(text))


def _check_depth(text: str) -> None:
    """Raise ValueError for a text that is nested so deeply that the C library would end the process."""
    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")


def _drop(content: Any, location: tuple[int | str, ...]) -> None:
    """Remove the entry at a location, or the innermost entry around it, from nested dictionaries."""
    key, *rest = location
    if isinstance(content, dict) and key in content:
        if rest and isinstance(content[key], dict) and rest[0] in content[key]:
            _drop(content[key], tuple(rest))
        else:
            del content[key]


class _Loader(yaml.CSafeLoader):
    """A safe loader that refuses duplicate keys. PyYAML would silently keep the last value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        key_nodes = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        content: dict[Any, Any] = super().construct_mapping(node, deep)  # refuses keys that cannot be hashed
        keys: set[Any] = set()
        for key_node in key_nodes:
            key = self.construct_object(key_node, deep=True)
            if key in keys:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} occurs twice", key_node.start_mark)
            keys.add(key)
        return content
