"""Archives that contain a text: EPUB and Word documents. Here: their files, unpacked in memory, and what is refused.

Refused by name: paths that leave the archive, encryption, files that unpack to more than MOST bytes, macros, and
document type declarations in Word's XML, which Word never writes.
"""

import re
import zipfile
from pathlib import Path, PurePosixPath
from zlib import error as zlib_error

from resources.errors import BadInput

MOST = 200 << 20
"""Most bytes of an archive's files together, unpacked; large books with pictures have 50 MB."""


def unpacked(path: Path, wanted: str) -> dict[str, bytes]:
    """The files of an archive whose names match a regular expression.

    Raises
    ------
    BadInput
        If the archive cannot be read, or contains what is refused.
    """
    remedy = "save it again with the program that made it"
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            for member in members:
                parts = PurePosixPath(member.filename.replace("\\", "/"))
                if parts.is_absolute() or ".." in parts.parts or re.match(r"[A-Za-z]:", member.filename):
                    raise BadInput(path, member.filename, "is a path outside the archive", remedy)
                if member.filename.endswith("vbaProject.bin"):
                    raise BadInput(path, member.filename, "contains macros", f"save it without macros ({path.suffix})")
                if member.flag_bits & 1:
                    raise BadInput(path, member.filename, "is encrypted", "save the file without a password")
            if sum(member.file_size for member in members) > MOST:
                problem = f"unpacks to more than {MOST >> 20} MB"
                raise BadInput(path, "", problem, "remove pictures, or divide the file")
            names = [member.filename for member in members if re.search(wanted, member.filename)]
            return {name: archive.read(name) for name in names}  # as long as the archive states, or an error
    except (OSError, zipfile.BadZipFile, zlib_error, NotImplementedError, EOFError, RuntimeError) as error:
        raise BadInput(path, "", f"cannot be read as an archive ({error})", remedy) from error
