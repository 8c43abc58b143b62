"""Hashes of values, for comparing settings, versions and fingerprints. Not here: hashes of files (whole_files)."""

from hashlib import blake2b


def digest(*parts: object) -> str:
    """Hash of values by their `repr`: equal for equal values in every process, 32 hexadecimal digits."""
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()
