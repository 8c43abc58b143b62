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

-- Passages that a model declined to translate; they have no row in model_output.
CREATE TABLE IF NOT EXISTS refusal (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    words VARCHAR NOT NULL,        -- the model's, or the filter's
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- Batch manifest: with which passages, by which question and how each output or refusal was had. A passage may be
-- asked for in another batch later with the same result, so this is no part of its version.
CREATE TABLE IF NOT EXISTS translation_call (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    batch VARCHAR NOT NULL,        -- the first passage of those that were asked for together
    call VARCHAR NOT NULL,         -- key of the question in the ledger, and in model_call
    parsing VARCHAR,               -- 'strict', 'repaired', or 'prefix' where the rest of the reply was cut off
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);
