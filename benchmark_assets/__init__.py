"""The Dagster code location of Variorum and the science behind it, one room a stage."""

import warnings

from dagster import BetaWarning

# Multi-dimensional partitions and single-run backfills are beta in Dagster 1.13; the pinned version is what we tested.
warnings.filterwarnings("ignore", category=BetaWarning)
