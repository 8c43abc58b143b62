"""The arena of the tests of judging, with judges of single texts."""

from tests.pairwise.conftest import arena, opened_arena

__all__ = ["arena", "opened_arena"]
