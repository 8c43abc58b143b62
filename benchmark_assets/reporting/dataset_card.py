"""Front matter of a package's README: what Hugging Face needs to list the package and to load its tables.

Source: https://huggingface.co/docs/hub/datasets-cards and datasets-manual-configuration. Not here: the README itself
(export).
"""

from collections.abc import Mapping
from typing import Any

import yaml

from benchmark_assets.reporting.croissant import IDENTIFIER, About


def front_matter(about: About, files: Mapping[str, str], first: str) -> str:
    """YAML between two lines of dashes, with one configuration for each table.

    Parameters
    ----------
    files
        Path of the file of each configuration, by its name. The library `datasets` can load neither a table without
        rows, nor files of several formats from one folder.
    first
        The configuration that is shown and loaded by default.
    """
    licences = sorted({each.lower() if IDENTIFIER.fullmatch(each) else "other" for each in about.licences})
    configurations: list[dict[str, Any]] = [
        {"config_name": name, "data_files": path, **({"default": True} if name == first else {})}
        for name, path in files.items()
    ]
    card = {
        "pretty_name": about.title,
        "language": list(about.languages),
        "license": licences or ["other"],
        "task_categories": ["translation"],
        "configs": configurations,
    }
    return f"---\n{yaml.safe_dump(card, sort_keys=False, allow_unicode=True)}---\n"
