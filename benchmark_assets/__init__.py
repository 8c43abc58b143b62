"""The Dagster code location of Variorum and the science behind it: one package per stage."""

import gc

from resources.threads import use_one

use_one()
gc.set_threshold(100_000)  # modules leave half a million objects: a search for cycles after every 700 slows each start
