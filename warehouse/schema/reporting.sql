-- A row for each model and corpus. *_low and *_high bound the 95 % interval.
CREATE TABLE IF NOT EXISTS model_summary (
    model VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    passages INTEGER NOT NULL,        -- scored against at least one complete reference
    with_envelope INTEGER NOT NULL,   -- scored against two or more
    mean_references DOUBLE,           -- complete ones a passage was scored against; a translator has one fewer than a model
    outliers INTEGER,
    sim_best DOUBLE, sim_best_low DOUBLE, sim_best_high DOUBLE,
    sim_centroid DOUBLE, sim_centroid_low DOUBLE, sim_centroid_high DOUBLE,
    drift DOUBLE, drift_low DOUBLE, drift_high DOUBLE,
    drift_euclidean DOUBLE, drift_euclidean_low DOUBLE, drift_euclidean_high DOUBLE,
    outlier_rate DOUBLE, outlier_rate_low DOUBLE, outlier_rate_high DOUBLE,
    chrf DOUBLE, chrf_low DOUBLE, chrf_high DOUBLE, -- corpus score, as BLEU; *_mean are means over passages
    bleu DOUBLE, bleu_low DOUBLE, bleu_high DOUBLE,
    chrf_mean DOUBLE, chrf_mean_low DOUBLE, chrf_mean_high DOUBLE,
    bleu_mean DOUBLE, bleu_mean_low DOUBLE, bleu_mean_high DOUBLE,
    comet_avg DOUBLE, comet_avg_low DOUBLE, comet_avg_high DOUBLE,
    comet_best DOUBLE, comet_best_low DOUBLE, comet_best_high DOUBLE,
    length_ratio DOUBLE, length_ratio_low DOUBLE, length_ratio_high DOUBLE,
    length_offset DOUBLE, length_offset_low DOUBLE, length_offset_high DOUBLE, -- |mean of length_ratio - 1|
    length_error DOUBLE, length_error_low DOUBLE, length_error_high DOUBLE, -- mean of |length_ratio - 1|
    empty INTEGER,                    -- outputs that output_diagnostic says this of; NULL where it has none
    copied INTEGER,
    repeated INTEGER,
    truncated INTEGER,
    wrong_script INTEGER,
    wrong_language INTEGER,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, corpus)
);

-- Models and human translators of each corpus, best first: PaliBench's table 6.
CREATE TABLE IF NOT EXISTS leaderboard (
    corpus VARCHAR NOT NULL,
    rank INTEGER NOT NULL,
    kind VARCHAR NOT NULL,            -- 'model' or 'human'
    system VARCHAR NOT NULL,
    passages INTEGER NOT NULL,
    with_envelope INTEGER NOT NULL,
    mean_references DOUBLE,
    outliers INTEGER,
    sim_best DOUBLE, sim_best_low DOUBLE, sim_best_high DOUBLE,
    sim_centroid DOUBLE, sim_centroid_low DOUBLE, sim_centroid_high DOUBLE,
    drift DOUBLE, drift_low DOUBLE, drift_high DOUBLE,
    drift_euclidean DOUBLE, drift_euclidean_low DOUBLE, drift_euclidean_high DOUBLE,
    outlier_rate DOUBLE, outlier_rate_low DOUBLE, outlier_rate_high DOUBLE,
    chrf DOUBLE, chrf_low DOUBLE, chrf_high DOUBLE,
    bleu DOUBLE, bleu_low DOUBLE, bleu_high DOUBLE,
    chrf_mean DOUBLE, chrf_mean_low DOUBLE, chrf_mean_high DOUBLE,
    bleu_mean DOUBLE, bleu_mean_low DOUBLE, bleu_mean_high DOUBLE,
    comet_avg DOUBLE, comet_avg_low DOUBLE, comet_avg_high DOUBLE,
    comet_best DOUBLE, comet_best_low DOUBLE, comet_best_high DOUBLE,
    length_ratio DOUBLE, length_ratio_low DOUBLE, length_ratio_high DOUBLE,
    length_offset DOUBLE, length_offset_low DOUBLE, length_offset_high DOUBLE,
    length_error DOUBLE, length_error_low DOUBLE, length_error_high DOUBLE,
    empty INTEGER,
    copied INTEGER,
    repeated INTEGER,
    truncated INTEGER,
    wrong_script INTEGER,
    wrong_language INTEGER,
    signature VARCHAR NOT NULL,
    removed BOOLEAN NOT NULL,         -- neither in the registry nor imported any more; its rows are kept
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, kind, system)
);

-- How far apart the translators are, means over passages: PaliBench's table 5.
CREATE TABLE IF NOT EXISTS translator_agreement (
    corpus VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,         -- 'similarity', 'sim_centroid', 'centroid_distance' or 'human_spread'
    translator VARCHAR NOT NULL,      -- '' where the measure is of all
    other VARCHAR NOT NULL,           -- '' where the measure is not of two; translator < other
    passages INTEGER NOT NULL,
    value DOUBLE NOT NULL, value_low DOUBLE NOT NULL, value_high DOUBLE NOT NULL, -- mean over passages
    sd DOUBLE NOT NULL,               -- over passages, divided by n
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, measure, translator, other)
);

-- How often each reference is the one most similar to a system's output: PaliBench's table 7.
CREATE TABLE IF NOT EXISTS closest_share (
    corpus VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,            -- 'model' or 'human'
    system VARCHAR NOT NULL,
    mean_references DOUBLE NOT NULL,  -- how many there were to choose from
    translator VARCHAR NOT NULL,
    passages INTEGER NOT NULL,        -- with a reference by this translator and another one
    closest INTEGER NOT NULL,      -- passages of these on which the translator is the closest
    share DOUBLE NOT NULL, share_low DOUBLE NOT NULL, share_high DOUBLE NOT NULL, -- closest of passages
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, kind, system, translator)
);

-- Each two systems in each measure, on the passages that both have. A translator is scored against one reference fewer
-- than a model, so a model has an advantage over it.
CREATE TABLE IF NOT EXISTS system_comparison (
    corpus VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    system VARCHAR NOT NULL,
    mean_references DOUBLE NOT NULL,
    other_kind VARCHAR NOT NULL,
    other VARCHAR NOT NULL,        -- the system that it is compared with
    other_references DOUBLE NOT NULL,
    passages INTEGER NOT NULL,
    difference DOUBLE NOT NULL,       -- score of system minus score of other
    difference_low DOUBLE NOT NULL, difference_high DOUBLE NOT NULL,
    p_bootstrap DOUBLE NOT NULL,
    p_randomization DOUBLE NOT NULL,
    p_holm DOUBLE NOT NULL,           -- p_randomization, corrected
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, measure, kind, system, other_kind, other)
);

-- Systems ranked among the models of their corpus in each measure: PaliBench's table 8.
CREATE TABLE IF NOT EXISTS metric_rank (
    corpus VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,            -- 'model' or 'human'
    system VARCHAR NOT NULL,
    mean_references DOUBLE NOT NULL,
    measure VARCHAR NOT NULL,         -- 'mean_rank': value is the mean of the ranks
    value DOUBLE NOT NULL, value_low DOUBLE NOT NULL, value_high DOUBLE NOT NULL, -- score in the measure
    rank DOUBLE NOT NULL, rank_low DOUBLE NOT NULL, rank_high DOUBLE NOT NULL, -- rank among the models, 1 is best
    cluster INTEGER,                  -- models of a number cannot be told apart; NULL for translators and mean ranks
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, kind, system, measure)
);

-- Whether measures order the models of a corpus alike.
CREATE TABLE IF NOT EXISTS metric_concordance (
    corpus VARCHAR NOT NULL,
    statistic VARCHAR NOT NULL,       -- 'tau_b' of two measures, 'W' of all, whose names are in measure
    measure VARCHAR NOT NULL,
    other VARCHAR NOT NULL,        -- the other measure; '' with W
    models INTEGER NOT NULL,       -- models that are ranked
    value DOUBLE, value_low DOUBLE, value_high DOUBLE,  -- NULL where a measure ties all models
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, statistic, measure, other)
);

-- The summary of each system over a part of the passages.
CREATE TABLE IF NOT EXISTS slice_summary (
    corpus VARCHAR NOT NULL,
    dimension VARCHAR NOT NULL,       -- 'collection', 'source_length', 'reference_length' or 'human_spread'
    slice VARCHAR NOT NULL,
    least DOUBLE, most DOUBLE,        -- of the values in a third; NULL for collections
    kind VARCHAR NOT NULL,            -- 'model' or 'human'
    system VARCHAR NOT NULL,
    passages INTEGER NOT NULL,
    with_envelope INTEGER NOT NULL,
    mean_references DOUBLE,
    outliers INTEGER,
    sim_best DOUBLE, sim_best_low DOUBLE, sim_best_high DOUBLE,
    sim_centroid DOUBLE, sim_centroid_low DOUBLE, sim_centroid_high DOUBLE,
    drift DOUBLE, drift_low DOUBLE, drift_high DOUBLE,
    drift_euclidean DOUBLE, drift_euclidean_low DOUBLE, drift_euclidean_high DOUBLE,
    outlier_rate DOUBLE, outlier_rate_low DOUBLE, outlier_rate_high DOUBLE,
    chrf DOUBLE, chrf_low DOUBLE, chrf_high DOUBLE,
    bleu DOUBLE, bleu_low DOUBLE, bleu_high DOUBLE,
    chrf_mean DOUBLE, chrf_mean_low DOUBLE, chrf_mean_high DOUBLE,
    bleu_mean DOUBLE, bleu_mean_low DOUBLE, bleu_mean_high DOUBLE,
    comet_avg DOUBLE, comet_avg_low DOUBLE, comet_avg_high DOUBLE,
    comet_best DOUBLE, comet_best_low DOUBLE, comet_best_high DOUBLE,
    length_ratio DOUBLE, length_ratio_low DOUBLE, length_ratio_high DOUBLE,
    length_offset DOUBLE, length_offset_low DOUBLE, length_offset_high DOUBLE,
    length_error DOUBLE, length_error_low DOUBLE, length_error_high DOUBLE,
    empty INTEGER,
    copied INTEGER,
    repeated INTEGER,
    truncated INTEGER,
    wrong_script INTEGER,
    wrong_language INTEGER,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, dimension, slice, kind, system)
);
