-- What each partition of each asset was made from. `fingerprint` hashes what went in (versions of the inputs,
-- parameters, code version), `version` what came out. '' stands for a dimension that the asset does not have.
CREATE TABLE IF NOT EXISTS materialization (
    asset VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (asset, model, passage)
);
