"""The exception for input that a user can correct."""


class BadInput(Exception):  # noqa: N818 - named for its cause
    """Input that cannot be used.

    Parameters
    ----------
    where
        The file, table or resource with the fault.
    key
        The passage, segment, line or setting with the fault. Empty if the fault concerns the whole file.
    problem
        The fault, as a clause.
    remedy
        The remedy, as a clause.
    """

    def __init__(self, where: object, key: str, problem: str, remedy: str) -> None:
        self.where, self.key, self.problem, self.remedy = str(where), key, problem, remedy
        super().__init__(self.where, key, problem, remedy)

    def __str__(self) -> str:
        """`where: key: problem; remedy`, on one line."""
        return f"{self.where}: {self.key + ': ' if self.key else ''}{self.problem}; {self.remedy}"
