"""Updates by several machines: parts, the queue, Celery's workers, and moving a home to a database.

The packages are in the extra `server` (resources.postgres).
"""
