"""Dagster's storages of events and runs, as dagster.yaml names them: fewer and smaller rows, old ones can be forgotten.

Here: SQLite files, and what they share with PostgreSQL (resources.postgres.postgres_storage). Not here: the content of
events (benchmark_assets.lineage). The storages rely on these internals of Dagster 1.13, and are compared with Dagster's
own (tests/resources/test_event_storage.py, test_postgres_storage.py):

- dagster._core.assets: AssetDetails
- dagster._core.definitions.data_version: DATA_VERSION_TAG
- dagster._core.events: AssetMaterializationPlannedData, EVENT_TYPE_TO_PIPELINE_RUN_STATUS
- dagster._core.storage.asset_check_execution_record: AssetCheckExecutionRecordStatus
- dagster._core.storage.dagster_run: FINISHED_STATUSES
- dagster._core.storage.event_log: SqlEventLogStorage
- dagster._core.storage.event_log.base: PlannedMaterializationInfo
- dagster._core.storage.event_log.schema: AssetCheckExecutionsTable, AssetEventTagsTable, AssetKeyTable,
  SecondaryIndexMigrationTable, SqlEventLogStorageMetadata, SqlEventLogStorageTable
- dagster._core.storage.event_log.sqlite.sqlite_event_log: INDEX_SHARD_NAME, SqliteEventLogStorage
- dagster._core.storage.runs: SqlRunStorage, SqliteRunStorage
- dagster._core.storage.runs.schema: RunStorageSqlMetadata, RunTagsTable, RunsTable, SnapshotsTable
- dagster._core.storage.schedules.schema: ScheduleStorageSqlMetadata
- dagster._core.storage.sql: stamp_alembic_rev
- dagster._core.storage.sqlite: SQLITE_BUSY_TIMEOUT_SECONDS
- dagster._core.storage.tags: MULTIDIMENSIONAL_PARTITION_PREFIX
- dagster._serdes: ConfigurableClassData
"""
