-- Semantic scores against the envelope. Columns of the envelope are NULL where the passage has none; all similarities
-- are NULL where it has no complete reference.
CREATE TABLE IF NOT EXISTS drift_score (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    embedder VARCHAR NOT NULL,     -- signature of what made the vectors
    sim_best DOUBLE,
    closest_reference VARCHAR,
    sim_centroid DOUBLE,
    drift DOUBLE,
    drift_euclidean DOUBLE,
    cut BOOLEAN,                   -- the output was longer than the embedder reads
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- How alike an output and each complete reference are.
CREATE TABLE IF NOT EXISTS output_similarity (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    similarity DOUBLE NOT NULL,    -- cosine similarity of output and reference, -1 to 1
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage, translator)
);

-- Scores of the surface. The statistics add up to corpus scores.
CREATE TABLE IF NOT EXISTS lexical_score (
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    length_ratio DOUBLE,
    bleu DOUBLE,
    chrf DOUBLE,
    bleu_statistics BIGINT[],
    chrf_statistics BIGINT[],
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, passage)
);

-- Each translator scored as a system against the other references of the passage.
CREATE TABLE IF NOT EXISTS human_baseline (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
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
    bleu_statistics BIGINT[],
    chrf_statistics BIGINT[],
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator)
);
