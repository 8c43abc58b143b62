"""One thread for sums: with several, the last digits of a sum depend on their number, and on which of them was faster.

polars divides the rows of groups between its threads, and OpenBLAS the products of matrices. More processors serve more
workers, each with partitions of its own.
"""

import os

_VARIABLES = ["POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"]


def use_one() -> None:
    """Have polars and OpenBLAS use one thread in this process. To be called before polars and numpy are imported."""
    os.environ.update(dict.fromkeys(_VARIABLES, "1"))
