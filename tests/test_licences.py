"""The lint for licences finds what would bind those who use Variorum."""

import pytest

from tests.licences import faults, required, stated


@pytest.mark.parametrize("licence", ["MIT", "BSD-3-Clause AND MIT", "Apache Software License", "GPL-3.0 OR MIT"])
def test_a_licence_that_binds_nobody_else_is_sound(licence: str) -> None:
    assert not list(faults([("a", licence)]))


@pytest.mark.parametrize(
    "licence", ["", "AGPL-3.0", "GNU Affero General Public License", "GPL-2.0 AND MIT", "Proprietary"]
)
def test_another_licence_is_named(licence: str) -> None:
    (line,) = faults([("a", licence)])
    assert line.startswith("a: ")


def test_packages_are_found_through_those_that_need_them() -> None:
    packages = {package.metadata["Name"]: stated(package) for package in required(["mammoth"])}
    assert set(packages) == {"cobble", "mammoth"}
    assert all("BSD" in licence for licence in packages.values())
