"""Hashes of values, for comparing settings, versions and fingerprints. Not here: hashes of files (whole_files)."""

from hashlib import blake2b, sha256


def digest(*parts: object) -> str:
    """Hash values by their `repr`: 32 hexadecimal digits, the same in every process."""
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def text_hash(text: str) -> str:
    """SHA-256 of a text in UTF-8: 64 hexadecimal digits, for comparison with other files and programs."""
    return sha256(text.encode()).hexdigest()
