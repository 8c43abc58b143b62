"""Exhibits of people's work on forms. Not here: computing the numbers (consistency)."""

from resources.exhibits import Exhibit

CONSISTENCY = Exhibit("annotator_consistency", "consistency")
