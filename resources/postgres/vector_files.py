"""Vectors in Parquet files that are named by a hash of their content, in a folder or an object store.

A file is written once and never changed, so machines can share a store without locks, and two that write the same
vectors write the same file. Here: files and their integrity. Not here: which text a vector belongs to (a table of the
warehouse, which names a vector by file and position).
"""

import hashlib
import io
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import fsspec
import polars as pl
from fsspec.implementations.local import LocalFileSystem

from resources import whole_files
from resources.errors import DamagedError
from resources.frozen import Frozen

_REMEDY = "restore it from a backup, or delete the rows that name it from the table `embedding`: the vectors are then "
_REMEDY += "computed again"


class VectorFiles(Frozen):
    """A store of vectors.

    Parameters
    ----------
    place
        Path of a folder, or a URL that fsspec understands, such as `s3://bucket/vectors`.
    """

    place: str

    def put(self, vectors: pl.Series) -> str:
        """Store vectors (lists of float32, without nulls) in a file, unless it exists; return the file's name."""
        content = io.BytesIO()
        vectors.rename("vector").to_frame().write_parquet(content, compression="uncompressed", statistics=False)
        name = f"{hashlib.sha256(content.getbuffer()).hexdigest()}.parquet"
        system, path = self._file(name)
        if not system.exists(path):
            _write(system, path, content.getvalue())
        return name

    def get(self, places: pl.DataFrame) -> pl.Series:
        """Read vectors.

        Parameters
        ----------
        places
            Columns `file` and `position` (of the vector in the file, from 0).

        Returns
        -------
        Lists of float32, in the order of `places`.

        Raises
        ------
        DamagedError
            If a file is missing, or its content does not have the hash in its name.
        """
        numbered = places.with_row_index("row")
        parts = [
            rows.select("row", vector=self._read(str(file)).gather(rows["position"]))
            for (file,), rows in numbered.group_by("file")
        ]
        empty = pl.DataFrame(schema={"row": pl.UInt32, "vector": pl.List(pl.Float32)})
        return pl.concat([empty, *parts]).sort("row")["vector"]

    def _read(self, name: str) -> pl.Series:
        system, path = self._file(name)
        try:
            content: bytes = system.cat_file(path)
        except FileNotFoundError:
            raise DamagedError(f"{self.place}/{name}", "", "is missing", _REMEDY) from None
        if hashlib.sha256(content).hexdigest() != name.removesuffix(".parquet"):
            raise DamagedError(f"{self.place}/{name}", "", "is damaged: its content has another hash", _REMEDY)
        return pl.read_parquet(io.BytesIO(content))["vector"]

    def _file(self, name: str) -> tuple[Any, str]:
        system, path = _store(self.place)
        return system, f"{path}/{name}"


@cache
def _store(place: str) -> tuple[Any, str]:
    """The file system of a place, and the path in it."""
    system, path = fsspec.core.url_to_fs(place)
    return system, path


def _write(system: Any, path: str, content: bytes) -> None:
    """Write a file so that no reader sees a part of it: an object store does so by itself."""
    if not isinstance(system, LocalFileSystem):
        system.pipe_file(path, content)
        return
    new = Path(f"{path}.{uuid.uuid4()}")
    new.parent.mkdir(parents=True, exist_ok=True)
    new.write_bytes(content)
    whole_files.sync(new)
    whole_files.move(new, Path(path))
