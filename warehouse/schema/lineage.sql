-- What each partition of each asset was made from. `fingerprint` hashes what went in (versions of the inputs,
-- parameters, code version), `version` what came out. '' stands for a dimension that the asset does not have.
CREATE TABLE IF NOT EXISTS materialization (
    asset VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    task VARCHAR NOT NULL DEFAULT '',
    version VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    row_count INTEGER NOT NULL,    -- of the table that is named like the asset
    made_from VARCHAR NOT NULL,    -- what the fingerprint is of: `name:head of its hash` for code, settings, each input
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (asset, model, passage, task)
);
