"""Updates by several machines: parts, their queue, workers, and moving a home to a database.

The packages are in the extra `server` (resources.postgres).
"""
