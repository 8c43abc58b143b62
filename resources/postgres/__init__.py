"""A home in a PostgreSQL database, which several machines share: warehouse, ledger, storages of Dagster, leases.

The packages are in the extra `server`. Modules outside of this one and automation.server import nothing of it, except
within functions that a home of files does not call.
"""
