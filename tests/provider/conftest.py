"""What tests of the provider share: a ledger of either kind."""

from pathlib import Path

import pytest

from resources.provider.ledger import Ledger
from resources.provider.provider import ledger_at


@pytest.fixture(params=["sqlite", "postgres"])
def either_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Ledger:
    """A ledger that is made when it is first used: in a file, or in a PostgreSQL database. A module whose tests are
    about both calls it `ledger`."""
    file = str(tmp_path / "ledger.sqlite")
    return ledger_at(request.getfixturevalue("database") if request.param == "postgres" else file)
