"""A lint for licences: every package that Variorum needs may be used and passed on by anyone.

Here: packages that `pyproject.toml` requires without the extra `test`, directly or indirectly, and the licences that
they state. Run by `make lint`. Not here: licences of texts (corpus.rights).
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from resources.home import PROJECT

PERMISSIVE = re.compile(
    r"\b(?:MIT|MIT-0|BSD|Apache|ISC|0BSD|Zlib|PSF|Python Software Foundation|Unlicense|CC0|HPND|MPL|Mozilla|LGPL"
    r"|Lesser General Public|Public Domain|Historical Permission|Boost|BSL-1\.0|NVIDIA Proprietary)", re.IGNORECASE
)  # fmt: skip
"""Licences that allow to use a package and pass it on, also those that ask for changes of the package itself."""

REFUSED = re.compile(r"\b(?:A?GPL|Affero|GNU General Public|SSPL|non-?commercial|CC BY-NC)", re.IGNORECASE)
"""Licences that would bind Variorum, or those who use it."""

KNOWN: dict[str, str] = {}
"""Licences of packages that state none in their metadata, with the place that states it."""


def stated(package: Distribution) -> str:
    """The licence in a package's metadata: its expression, else its classifiers, else the first line of its text."""
    fields = package.metadata
    classifiers = [each for each in fields.get_all("Classifier") or () if each.startswith("License ::")]
    licence, expression = (next(iter(fields.get_all(name) or ()), "") for name in ("License", "License-Expression"))
    text = licence.strip().partition("\n")[0][:200]
    return expression or "; ".join(each.rpartition(" :: ")[2] for each in classifiers) or text


def required(names: Iterable[str]) -> Iterator[Distribution]:
    """The installed packages that these requirements need, and those that they need in turn."""
    waiting, seen = [Requirement(name) for name in names], set[tuple[str, str]]()
    while waiting:
        requirement = waiting.pop()
        for extra in ("", *requirement.extras):
            if (key := (canonicalize_name(requirement.name), extra)) in seen:
                continue
            seen.add(key)
            try:
                package = distribution(requirement.name)
            except PackageNotFoundError:  # a requirement of another platform
                continue
            if not extra:
                yield package
            for each in map(Requirement, package.requires or ()):
                if each.marker is None or each.marker.evaluate({"extra": extra}):
                    waiting.append(each)


def faults(packages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A line for each package, given with its licence, whose licence is refused or unknown."""
    for name, own in packages:
        licence = own or KNOWN.get(name, "")
        choices = re.split(r"\bOR\b", licence)
        if not any(PERMISSIVE.search(choice) and not REFUSED.search(choice) for choice in choices):
            yield f"{name}: {licence or 'states no licence'}: use another package, or name the licence in KNOWN"


def main() -> int:
    """Print each fault; return how many there are."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = [*project["dependencies"], *extras["models"], *extras["server"]]
    packages = [(package.metadata["Name"], stated(package)) for package in required(names)]
    found = sorted(set(faults(packages)))
    print(*found, sep="\n")
    print(f"licences of {len(packages)} packages, {len(found) or 'no'} fault{'s' * (len(found) > 1)}")
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
