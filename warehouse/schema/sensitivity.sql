-- Translations of the passages of a corpus's sample, damaged on purpose. They are as restricted as what they come from.
CREATE TABLE IF NOT EXISTS damaged_text (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    severity INTEGER NOT NULL,     -- 1 to 3
    text VARCHAR NOT NULL,
    extent DOUBLE NOT NULL,         -- characters taken out or put in, over those of the sound text
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator, kind, severity)
);

-- Scores of sound (kind 'none', severity 0) and damaged texts, each against the other translators of the passage.
CREATE TABLE IF NOT EXISTS damaged_score (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,         -- how the text was damaged; 'none' for a sound one
    severity INTEGER NOT NULL,
    extent DOUBLE NOT NULL,
    embedder VARCHAR NOT NULL,
    sim_best DOUBLE,
    closest_reference VARCHAR,
    sim_centroid DOUBLE,
    drift DOUBLE,
    drift_euclidean DOUBLE,
    cut BOOLEAN,
    length_ratio DOUBLE,
    bleu DOUBLE,
    chrf DOUBLE,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator, kind, severity)
);

-- How well each metric tells damaged from sound. Kind 'all' and severity 0 are all together; *_low and *_high bound the
-- 95 % interval. All numbers are NULL where a kind was applied to no text, and `note` says why.
CREATE TABLE IF NOT EXISTS sensitivity (
    corpus VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,         -- how the texts were damaged
    severity INTEGER NOT NULL,
    texts INTEGER NOT NULL,        -- damaged texts that have a score
    passages INTEGER NOT NULL,
    extent DOUBLE,                  -- mean over the damaged texts
    auc DOUBLE, auc_low DOUBLE, auc_high DOUBLE, -- probability that a damaged text scores worse than a sound one: 0.5 is chance
    win_rate DOUBLE, win_rate_low DOUBLE, win_rate_high DOUBLE, -- share of damaged texts that score worse than the sound text that they come from
    note VARCHAR,                  -- why there are no numbers
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, metric, kind, severity)
);

-- Thresholds of drift that wanted recalls of damaged texts take, recall at published ones, and the false alarms of both.
CREATE TABLE IF NOT EXISTS sensitivity_threshold (
    corpus VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,         -- how the texts were damaged
    severity INTEGER NOT NULL,
    rule VARCHAR NOT NULL,         -- what was set: 'recall 0.9', 'drift > 1.5'
    texts INTEGER NOT NULL,
    threshold DOUBLE NOT NULL, threshold_low DOUBLE NOT NULL, threshold_high DOUBLE NOT NULL, -- drift above which a text is said to be damaged
    recall DOUBLE NOT NULL, recall_low DOUBLE NOT NULL, recall_high DOUBLE NOT NULL, -- share of damaged texts above the threshold
    false_alarms DOUBLE NOT NULL, false_alarms_low DOUBLE NOT NULL, false_alarms_high DOUBLE NOT NULL, -- share of sound texts above the threshold
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, kind, severity, rule)
);
