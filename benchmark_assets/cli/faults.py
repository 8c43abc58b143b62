"""Errors that no module of the project explains itself, in words for the command line."""

from sqlalchemy.exc import DatabaseError, OperationalError

from benchmark_assets.automation.identity import REMEDY
from resources import disk
from resources.home import home


def fault(error: Exception) -> str:
    """The message about a fault of the disk or of Dagster's files behind an error; '' for any other error."""
    if found := disk.fault(error, home()):
        return str(found)
    if isinstance(error, DatabaseError) and not isinstance(error, OperationalError):
        return f"{home() / 'dagster'}: is damaged ({error.orig}); {REMEDY}"
    return ""
