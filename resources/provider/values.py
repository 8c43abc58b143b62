"""Values in another form than a study's JSON schema asks for, such as a number or a flag as text.

Here: values that leave no doubt, converted to the type and the names of the schema. Not here: finding the JSON in a
reply (replies), whether the converted values are a valid answer (the package of each study).
"""

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from resources.provider.names import Names, Unusable, normal

HUNDRED = 100
"""The highest value of a number without names: '70/100' and '70%' mean 70."""

_FLAGS = {"true": True, "yes": True, "false": False, "no": False}
_NUMBER = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s*(?:(?:/|out of)\s*(\d{1,6})|(%))?")


def loosened(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert a value to the form of its JSON schema. What cannot be converted without doubt is returned unchanged.

    Keys may be in another case. In lists of objects, keys that the schema does not have are dropped.
    """
    kind = schema.get("type")
    if kind == "object" and isinstance(value, dict):
        content = spelled(value, schema["properties"])
        return {key: loosened(part, schema["properties"].get(key, {})) for key, part in content.items()}
    if kind == "array" and isinstance(value, list):
        return [_without_others(loosened(item, schema["items"]), schema["items"]) for item in value]
    if "enum" in schema and kind == "string":
        return _name(value[0] if isinstance(value, list) and len(value) == 1 else value, schema["enum"])
    if kind == "boolean" and isinstance(value, str):
        return _FLAGS.get(_plain(value).strip("."), value)
    if kind in ("integer", "number"):
        return _number(value, max(schema.get("enum", [HUNDRED])), whole=kind == "integer")
    return value


def spelled(
    content: Mapping[Any, Any], keys: Mapping[str, Any], others: Mapping[str, str] = MappingProxyType({})
) -> dict[Any, Any]:
    """An object with its keys as requested. A key in another case counts if only one requested key can be meant, and if
    the object does not have that key with another value. `others` maps other names of keys, as `names.normal` returns
    them, to the requested keys."""
    folded: dict[str, list[str]] = {}
    for key in keys:
        folded.setdefault(_plain(key), []).append(key)
    result: dict[Any, Any] = {}
    clashing: set[Any] = set()
    for name, value in content.items():
        candidates = folded.get(_plain(name), []) if isinstance(name, str) and name not in keys else []
        if not candidates and others and isinstance(name, str) and (other := others.get(normal(name))) in keys:
            candidates = [str(other)]
        key = candidates[0] if len(candidates) == 1 else name
        if key in result and result[key] != value:
            clashing.add(key)
        result[key] = value
    return {key: value for key, value in result.items() if key not in clashing}


def _without_others(value: Any, schema: Mapping[str, Any]) -> Any:
    known = schema.get("properties")
    return {key: part for key, part in value.items() if key in known} if known and isinstance(value, dict) else value


def _name(value: Any, names: list[str]) -> Any:
    if not isinstance(value, str) or value in names:
        return value
    try:
        return Names(names).meant(value)
    except Unusable:
        return value


def _number(value: Any, most: float, whole: bool) -> Any:
    if isinstance(value, str) and (number := _NUMBER.fullmatch(unicodedata.normalize("NFKC", value).strip())):
        if (number[2] and float(number[2]) != most) or (number[3] and most != HUNDRED):
            return value
        value = float(number[1])
    return int(value) if whole and isinstance(value, float) and value.is_integer() else value


def _plain(text: str) -> str:
    return re.sub(r"[\s_-]+", "_", unicodedata.normalize("NFKC", text).strip().casefold()).replace("_/_", "/")
