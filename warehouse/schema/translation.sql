-- Outputs that were made elsewhere, as imported.
CREATE TABLE IF NOT EXISTS imported_output (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,  -- of the text
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- What an imported file says of how its outputs were made (JSON), and what they used.
CREATE TABLE IF NOT EXISTS imported_file (
    model VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    file VARCHAR NOT NULL,
    outputs INTEGER NOT NULL,
    settings VARCHAR NOT NULL,
    usage VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, corpus)
);

CREATE TABLE IF NOT EXISTS model_output (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);
