-- A row for each model and corpus. *_low and *_high bound the 95 % interval.
CREATE TABLE IF NOT EXISTS model_summary (
    model VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    passages INTEGER NOT NULL,        -- scored against at least one complete reference
    with_envelope INTEGER NOT NULL,   -- scored against two or more
    outliers INTEGER,
    outlier_rate DOUBLE, outlier_rate_low DOUBLE, outlier_rate_high DOUBLE,
    drift DOUBLE, drift_low DOUBLE, drift_high DOUBLE,
    drift_euclidean DOUBLE, drift_euclidean_low DOUBLE, drift_euclidean_high DOUBLE,
    sim_best DOUBLE, sim_best_low DOUBLE, sim_best_high DOUBLE,
    sim_centroid DOUBLE, sim_centroid_low DOUBLE, sim_centroid_high DOUBLE,
    bleu DOUBLE, bleu_low DOUBLE, bleu_high DOUBLE,
    chrf DOUBLE, chrf_low DOUBLE, chrf_high DOUBLE,
    length_ratio DOUBLE, length_ratio_low DOUBLE, length_ratio_high DOUBLE,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, corpus)
);

-- Models and human translators of each corpus, best first.
CREATE TABLE IF NOT EXISTS leaderboard (
    corpus VARCHAR NOT NULL,
    rank INTEGER NOT NULL,
    kind VARCHAR NOT NULL,            -- 'model' or 'human'
    system VARCHAR NOT NULL,
    passages INTEGER NOT NULL,
    with_envelope INTEGER NOT NULL,
    outliers INTEGER,
    outlier_rate DOUBLE, outlier_rate_low DOUBLE, outlier_rate_high DOUBLE,
    drift DOUBLE, drift_low DOUBLE, drift_high DOUBLE,
    drift_euclidean DOUBLE, drift_euclidean_low DOUBLE, drift_euclidean_high DOUBLE,
    sim_best DOUBLE, sim_best_low DOUBLE, sim_best_high DOUBLE,
    sim_centroid DOUBLE, sim_centroid_low DOUBLE, sim_centroid_high DOUBLE,
    bleu DOUBLE, bleu_low DOUBLE, bleu_high DOUBLE,
    chrf DOUBLE, chrf_low DOUBLE, chrf_high DOUBLE,
    length_ratio DOUBLE, length_ratio_low DOUBLE, length_ratio_high DOUBLE,
    signature VARCHAR NOT NULL,
    removed BOOLEAN NOT NULL,         -- neither in the registry nor imported any more; its rows are kept
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, kind, system)
);
