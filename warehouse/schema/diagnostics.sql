-- What is plainly wrong with an output. NULL where it cannot be told: without references, or of a text too short for it.
CREATE TABLE IF NOT EXISTS output_diagnostic (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    empty BOOLEAN NOT NULL,        -- no letter and no digit; everything else is NULL then
    copied BOOLEAN,                -- from the source
    wrong_script BOOLEAN,          -- other than the references'
    wrong_language BOOLEAN,
    repeated BOOLEAN,              -- within itself, or the same for passages whose sources differ
    truncated BOOLEAN,             -- short, and ends within a sentence
    evidence VARCHAR NOT NULL,     -- in words, '' where nothing is wrong; no text of a reference
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);
