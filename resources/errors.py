"""The error for input that a user can correct."""


class BadInput(Exception):  # noqa: N818 - it says whose error it is
    """Input that cannot be used.

    Parameters
    ----------
    where
        File, table or resource with the fault.
    key
        Entry in it: a passage, a segment, a line, a setting. Empty if the whole file is at fault.
    problem
        What is wrong, as a clause.
    remedy
        What to do about it, as a clause.
    """

    def __init__(self, where: object, key: str, problem: str, remedy: str) -> None:
        self.where, self.key, self.problem, self.remedy = str(where), key, problem, remedy
        super().__init__(self.where, key, problem, remedy)

    def __str__(self) -> str:
        """`where: key: problem; remedy`, on one line."""
        return f"{self.where}: {self.key + ': ' if self.key else ''}{self.problem}; {self.remedy}"
