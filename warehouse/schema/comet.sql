-- COMET scores of outputs. NULL where no checkpoint is configured, where the passage has no complete reference, and where
-- nothing can be read in the output.
CREATE TABLE IF NOT EXISTS comet_score (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    signature VARCHAR,             -- checkpoint and library; NULL where none is configured
    comet_avg DOUBLE,              -- mean over the references
    comet_best DOUBLE,             -- best over the references
    cut BOOLEAN,                   -- output, source or a reference is longer than the checkpoint reads
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- COMET of an output against each complete reference.
CREATE TABLE IF NOT EXISTS output_comet (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    score DOUBLE NOT NULL,         -- COMET of the output against this reference
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, translator)
);

-- Each translator scored as a system against the other references of the passage. NULL as above.
CREATE TABLE IF NOT EXISTS comet_baseline (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    signature VARCHAR,
    comet_avg DOUBLE,
    comet_best DOUBLE,
    cut BOOLEAN,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator)
);
