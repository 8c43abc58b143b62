-- Terms of a chunk, and how the human translation has them: from a file, or extracted by a model.
CREATE TABLE IF NOT EXISTS glossary (
    passage VARCHAR NOT NULL,
    term VARCHAR NOT NULL,          -- as the source has it
    translation VARCHAR NOT NULL,
    gender VARCHAR,                 -- 'feminine', 'masculine' or 'neuter'; NULL where nobody said
    origin VARCHAR NOT NULL,        -- 'file' (a person wrote or checked it) or 'model'
    in_source BOOLEAN NOT NULL,     -- whether the term stands in the source
    in_human BOOLEAN,               -- whether the translation stands in the human translation; NULL without one
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, term)
);

-- By which question the terms of a chunk were extracted; no part of its version.
CREATE TABLE IF NOT EXISTS glossary_call (
    passage VARCHAR NOT NULL,
    call VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage)
);

-- Whether an output has the translations of its chunk's glossary, and whether its pronouns agree with them; of a model that
-- declined the chunk, that it has none.
CREATE TABLE IF NOT EXISTS term_adherence (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    term VARCHAR NOT NULL,
    translation VARCHAR NOT NULL,
    gender VARCHAR,
    in_human BOOLEAN,               -- whether the human translation has it; NULL without one
    present BOOLEAN NOT NULL,
    agreeing INTEGER NOT NULL,      -- pronouns of the term's gender in sentences that name it and nobody of another gender
    conflicting INTEGER NOT NULL,   -- pronouns of another gender there
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, term)
);

-- What each seat of the ensemble, a judge with an aspect, says of an output beside the human translation, in each order.
CREATE TABLE IF NOT EXISTS aspect_vote (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    aspect VARCHAR NOT NULL,
    shown VARCHAR NOT NULL,         -- where the output stood: 'A' or 'B'
    better VARCHAR,                 -- 'machine', 'human' or 'unsure'; NULL where the judge abstained
    justification VARCHAR,
    abstention VARCHAR,             -- why there is no answer
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, judge, aspect, shown)
);

-- By which question each vote was had; no part of its version.
CREATE TABLE IF NOT EXISTS aspect_vote_call (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    aspect VARCHAR NOT NULL,
    shown VARCHAR NOT NULL,
    call VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, judge, aspect, shown)
);

-- What the ensemble says of an output beside the human translation.
CREATE TABLE IF NOT EXISTS head_to_head (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,       -- 'machine', 'human' or 'unsure'
    points DOUBLE NOT NULL,         -- 1, 0 or 0.5
    balance DOUBLE NOT NULL,        -- weighted mean of the seats' votes, -1 (human) to 1 (machine)
    seats INTEGER NOT NULL,         -- those of the ensemble that gave a vote
    abstained INTEGER NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- A model against the human translators of a corpus: 0 to 100, 50 is parity. `aspect` is '' for the ensemble's verdicts; else the
-- votes of all judges with that aspect.
CREATE TABLE IF NOT EXISTS literary_score (
    model VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    aspect VARCHAR NOT NULL,
    chunks INTEGER NOT NULL,
    works INTEGER NOT NULL,         -- a document's work is its id up to the number at its end
    machine INTEGER NOT NULL,       -- chunks on which it was found better
    unsure INTEGER NOT NULL,
    human INTEGER NOT NULL,
    score DOUBLE NOT NULL,
    score_low DOUBLE NOT NULL,
    score_high DOUBLE NOT NULL,
    interval_of VARCHAR NOT NULL,   -- 'works' like these, or 'chunks' of these works where there are too few works
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, corpus, aspect)
);

-- Shares of glossary terms that outputs have, and the same of the human translation of the same chunks.
CREATE TABLE IF NOT EXISTS adherence_summary (
    model VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    terms INTEGER NOT NULL,        -- terms of the glossaries that count
    present INTEGER NOT NULL,      -- of these, terms whose translation an output has
    adherence DOUBLE NOT NULL,     -- present of terms
    adherence_low DOUBLE NOT NULL,
    adherence_high DOUBLE NOT NULL,
    human_present INTEGER NOT NULL, -- of the same terms, in the human translation
    human_adherence DOUBLE NOT NULL, -- the same of the human translation
    agreeing INTEGER NOT NULL,     -- pronouns of the gender of their term
    conflicting INTEGER NOT NULL,  -- pronouns of another gender
    agreement DOUBLE,               -- agreeing of both; NULL where there are none
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, corpus)
);

-- What people say of an output beside the human translation; imported.
CREATE TABLE IF NOT EXISTS pair_label (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    annotator VARCHAR NOT NULL,
    better VARCHAR NOT NULL,        -- 'machine', 'human' or 'unsure'
    note VARCHAR,
    machine_hash VARCHAR NOT NULL,  -- of the output that was shown
    human_hash VARCHAR NOT NULL,    -- of the translation that was shown
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, annotator)
);

-- How often seats and ensembles agree with decisive verdicts of people: pairs on which all of two or more agreed on a winner.
CREATE TABLE IF NOT EXISTS ensemble_calibration (
    corpus VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,          -- 'seat', 'equal weights', 'best weights' (held out), 'weights in use'
    judge VARCHAR NOT NULL,         -- '' for an ensemble
    aspect VARCHAR NOT NULL,        -- '' for an ensemble
    weight DOUBLE,                  -- of a seat, where the weights are best; NULL for an ensemble
    pairs INTEGER NOT NULL,         -- decisive pairs that it judged
    decided INTEGER NOT NULL,       -- of these, those on which it named a winner
    right_ones INTEGER NOT NULL,   -- of these, those on which it named the one that people named
    coverage DOUBLE NOT NULL,       -- decided of pairs; in intervals, pairs of a passage are not independent
    coverage_low DOUBLE NOT NULL,
    coverage_high DOUBLE NOT NULL,
    accuracy DOUBLE,                -- right ones of decided; NULL where it decided none
    accuracy_low DOUBLE,
    accuracy_high DOUBLE,
    expected DOUBLE NOT NULL,       -- right ones of all pairs, an undecided one counting half
    expected_low DOUBLE NOT NULL,
    expected_high DOUBLE NOT NULL,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, kind, judge, aspect)
);
