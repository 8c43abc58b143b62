-- Where an output that has a drift lies, and who is to look at it.
CREATE TABLE IF NOT EXISTS triage (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    drift DOUBLE NOT NULL,         -- drift of the output, as among the scores
    band VARCHAR NOT NULL,          -- '1.5-2.0' is above 1.5 up to 2.0; '>3.0'
    queued BOOLEAN NOT NULL,        -- drift above the threshold: the panel judges it
    sampled BOOLEAN NOT NULL,       -- drawn for people; the panel judges it, too
    item VARCHAR NOT NULL,          -- by which people know it: a hash of model, passage and text
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- What each judge of the panel says of an output. The judges' words may quote restricted texts.
CREATE TABLE IF NOT EXISTS judge_vote (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    label VARCHAR,                  -- NULL, and the next three columns, where the judge abstained
    error_category VARCHAR,
    severity VARCHAR,
    confidence VARCHAR,
    cause VARCHAR,                  -- in the judge's words, '' where it gave none; NULL where it abstained
    evidence VARCHAR,
    problem_phrase VARCHAR,
    correction VARCHAR,
    abstention VARCHAR,             -- why there is no label; NULL where there is one
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, judge)
);

-- By which question each vote was had; no part of a vote's version.
CREATE TABLE IF NOT EXISTS judge_call (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    call VARCHAR NOT NULL,          -- key of the last question in the ledger, and in model_call
    asked INTEGER NOT NULL,         -- how often: more than once where an answer was unusable
    parsing VARCHAR,                -- 'strict', 'repaired' or 'prefix' (cut off); NULL where the judge abstained
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, judge)
);

-- What the panel says together.
CREATE TABLE IF NOT EXISTS verdict (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    label VARCHAR NOT NULL,         -- VALID_VARIATION, MINOR_ERROR, MAJOR_ERROR or UNCERTAIN
    error_category VARCHAR NOT NULL,  -- NONE where the label is no error
    judges INTEGER NOT NULL,        -- of the panel, those that abstained included
    major INTEGER NOT NULL, minor INTEGER NOT NULL, valid INTEGER NOT NULL,
    reference INTEGER NOT NULL, unsure INTEGER NOT NULL, abstained INTEGER NOT NULL,
    split BOOLEAN NOT NULL,         -- major, minor and valid each have a vote, and none a majority
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- Labels that people gave, as imported; the last import of an item by an annotator counts.
CREATE TABLE IF NOT EXISTS imported_label (
    item VARCHAR NOT NULL,
    annotator VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    error_category VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    confidence VARCHAR,
    notes VARCHAR NOT NULL,
    span_start INTEGER, span_end INTEGER,  -- characters of the candidate, the end not included; NULL where none is marked
    file VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,   -- of the label
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (item, annotator)
);

-- What of an imported file of labels does not fit, and why; replaced when the file is imported again.
CREATE TABLE IF NOT EXISTS label_quarantine (
    file VARCHAR NOT NULL,
    place INTEGER NOT NULL,         -- row of the CSV or task of the export, counted from 1
    item VARCHAR NOT NULL,          -- '' where there is none
    annotator VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (file, place, annotator)
);

-- The labels of the outputs as they are now: one that was given to a former text of an output is not here.
CREATE TABLE IF NOT EXISTS human_label (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    annotator VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    error_category VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    confidence VARCHAR,
    notes VARCHAR NOT NULL,
    span_start INTEGER, span_end INTEGER, -- characters of the candidate that are marked, the end not included; NULL where none is
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, annotator)
);
