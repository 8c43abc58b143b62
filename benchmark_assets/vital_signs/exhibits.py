"""Exhibits of judges' vital signs. Not here: computing the numbers (signs)."""

from resources.exhibits import Exhibit

SIGNS = Exhibit(
    "vital_sign", "vital signs", "Vital signs of judges",
    "What verdicts depend on besides the quality of the texts. Without position bias, the text shown first is "
    "preferred in half of the pairs. A judge who decides by tossing a coin contradicts itself in half of the pairs. "
    "The effect of length includes any real difference in quality between longer and shorter outputs.",
    "asset judge aspect model", "judge aspect model pairs incomplete first_rate contradiction_rate tie_rate "
    "length_effect", brief=lambda rows: rows.filter(part_of="all"),
)  # fmt: skip
