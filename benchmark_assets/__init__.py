"""The Dagster code location of Variorum and the science behind it: one package per stage."""

from resources.threads import use_one

use_one()
