"""Half of the code location, for tests of updates that are not about the other half."""

import dagster as dg
import pytest

from benchmark_assets.definitions import build_definitions
from resources.warehouse import Warehouse
from tests.support import CORE, LetterEmbedder
from tests.systems import RuleSystems


@pytest.fixture
def core(built: dg.Definitions, warehouse: Warehouse, systems: RuleSystems) -> dg.Definitions:
    """The rooms from the files to the leaderboard over the finished home: an update takes half of the time."""
    return build_definitions(
        rooms=CORE, resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder(), "systems": systems}
    )
