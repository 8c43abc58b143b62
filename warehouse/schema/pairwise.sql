-- Base sets that were imported: versions of a set of anchors against which candidates are compared. Frozen: another content
-- under the same version is refused.
CREATE TABLE IF NOT EXISTS base_set (
    base_set VARCHAR NOT NULL,      -- name@version
    name VARCHAR NOT NULL,
    version VARCHAR NOT NULL,       -- semantic: another major number has other anchors
    folder VARCHAR NOT NULL,
    source_language VARCHAR,        -- NULL where items have several
    target_language VARCHAR,
    judge VARCHAR NOT NULL,         -- name in the registry
    judged VARCHAR,                 -- what this judge was when it judged the anchors: id, version, decoding, prompt, as JSON; NULL where not recorded
    settings VARCHAR NOT NULL,      -- how pairs are judged, as JSON
    content VARCHAR NOT NULL,       -- hash of items, outputs and judgments
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (base_set)
);

CREATE TABLE IF NOT EXISTS base_set_item (
    base_set VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    direction VARCHAR NOT NULL,     -- 'ja-en'
    difficulty VARCHAR NOT NULL,    -- 'easy' or 'hard'
    source_hash VARCHAR NOT NULL,   -- of the source text that the anchors translated
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (base_set, passage)
);

CREATE TABLE IF NOT EXISTS anchor_output (
    base_set VARCHAR NOT NULL,
    anchor VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (base_set, anchor, passage)
);

-- Frozen judgments of anchors against each other: one row for each time that two texts were shown.
CREATE TABLE IF NOT EXISTS anchor_judgment (
    base_set VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    first VARCHAR NOT NULL,         -- shown as A
    second VARCHAR NOT NULL,        -- shown as B
    winner VARCHAR,                 -- one of the two; NULL where the judge refused: excluded
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (base_set, passage, first, second)
);

-- What the judge says of an output beside each anchor's, in each order in which they were shown.
CREATE TABLE IF NOT EXISTS comparison (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    base_set VARCHAR NOT NULL,
    anchor VARCHAR NOT NULL,
    shown VARCHAR NOT NULL,         -- where the output stood: 'A' or 'B'
    winner VARCHAR,                 -- 'output' or 'anchor'; NULL where it is excluded
    excluded VARCHAR,               -- why there is no winner
    asked INTEGER NOT NULL,         -- questions; 0 where an empty text lost without one
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, base_set, anchor, shown)
);

-- By which question each comparison was had; no part of its version.
CREATE TABLE IF NOT EXISTS comparison_call (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    base_set VARCHAR NOT NULL,
    anchor VARCHAR NOT NULL,
    shown VARCHAR NOT NULL,
    call VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, base_set, anchor, shown)
);

-- A model against a base set, in a fit with its anchors.
-- *_low and *_high bound the 95 % interval. Where strengths do not exist (`problem`), they are NULL.
CREATE TABLE IF NOT EXISTS pairwise_score (
    model VARCHAR NOT NULL,
    base_set VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,         -- 'overall', 'ja-en', 'easy', 'ja-en easy'
    items INTEGER NOT NULL,
    matches INTEGER NOT NULL,       -- pairs that count
    wins DOUBLE NOT NULL,           -- a tie is half of one
    ties INTEGER NOT NULL,          -- pairs whose verdict changed with the order
    excluded INTEGER NOT NULL,     -- pairs without a verdict
    win_rate DOUBLE, win_rate_low DOUBLE, win_rate_high DOUBLE,           -- NULL where it did not meet all anchors on its items (adaptive mode)
    strength DOUBLE, strength_low DOUBLE, strength_high DOUBLE,           -- log-strength; mean 0 over anchors and candidate
    lt DOUBLE, lt_low DOUBLE, lt_high DOUBLE,                             -- 0 to 10
    en DOUBLE, en_low DOUBLE, en_high DOUBLE,                             -- 0 to 10: ten times its share in exp(strength) of anchors and candidate
    lt_fixed DOUBLE, lt_fixed_low DOUBLE, lt_fixed_high DOUBLE,           -- the anchors' strengths held as they are without it
    first_rate DOUBLE, first_rate_low DOUBLE, first_rate_high DOUBLE,     -- how often the text shown as A wins: 0.5 without bias
    problem VARCHAR,
    contract VARCHAR NOT NULL,      -- base set, judge, prompt, settings and code: scores compare only under the same
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, base_set, slice)
);

-- Anchors of a base set among themselves.
CREATE TABLE IF NOT EXISTS anchor_score (
    base_set VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,
    anchor VARCHAR NOT NULL,
    items INTEGER NOT NULL,
    matches INTEGER NOT NULL,
    wins DOUBLE NOT NULL,
    ties INTEGER NOT NULL,
    excluded INTEGER NOT NULL,
    win_rate DOUBLE, win_rate_low DOUBLE, win_rate_high DOUBLE,
    strength DOUBLE, strength_low DOUBLE, strength_high DOUBLE,
    lt DOUBLE, lt_low DOUBLE, lt_high DOUBLE,
    en DOUBLE, en_low DOUBLE, en_high DOUBLE,                             -- ten times its share in exp(strength) of all anchors
    problem VARCHAR,
    contract VARCHAR NOT NULL,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (base_set, slice, anchor)
);

-- The rubric of JP-TL-Bench's appendix C: one output, one mark.
CREATE TABLE IF NOT EXISTS rubric_vote (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    mark INTEGER,                   -- 1 to 5; NULL where the judge abstained
    perfect BOOLEAN,               -- the judge says that nothing is to be mended
    justification VARCHAR,          -- in the judge's words
    abstention VARCHAR,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, judge)
);

-- By which question each mark was had; no part of its version.
CREATE TABLE IF NOT EXISTS rubric_vote_call (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    call VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, judge)
);

-- Marks of a model by the rubric, by judge.
CREATE TABLE IF NOT EXISTS rubric_summary (
    model VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    outputs INTEGER NOT NULL,      -- outputs with a mark, or an abstention
    abstained INTEGER NOT NULL,
    mean DOUBLE, mean_low DOUBLE, mean_high DOUBLE, -- mean mark, 1 to 5
    median DOUBLE,                 -- median mark
    ones INTEGER NOT NULL, twos INTEGER NOT NULL, threes INTEGER NOT NULL, fours INTEGER NOT NULL, fives INTEGER NOT NULL, -- outputs with the marks 1, 2, 3, 4 and 5, a column each
    useful DOUBLE, useful_low DOUBLE, useful_high DOUBLE,                 -- share of marks of 3 and more
    perfect DOUBLE, perfect_low DOUBLE, perfect_high DOUBLE,              -- share of 5
    flagged DOUBLE, flagged_low DOUBLE, flagged_high DOUBLE,              -- share with the perfect flag
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, corpus, judge)
);
