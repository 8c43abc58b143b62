CREATE TABLE IF NOT EXISTS reference (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    complete BOOLEAN NOT NULL,     -- every segment of the source is translated; only these are scored against
    flag VARCHAR,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator)
);

-- Everything but reference_count is NULL where a passage has fewer than two complete references.
CREATE TABLE IF NOT EXISTS reference_envelope (
    passage VARCHAR NOT NULL,
    reference_count INTEGER NOT NULL, -- complete references of the passage
    embedder VARCHAR NOT NULL,     -- signature of what made the vectors
    human_spread DOUBLE,           -- mean of 1 - cos(reference, centroid)
    euclidean_spread DOUBLE,       -- mean distance of the references from their mean
    mean_similarity DOUBLE,        -- over the pairs of references
    least_similarity DOUBLE,       -- of the two references that are least alike
    centroid FLOAT[],              -- mean of the unit reference vectors, not normalized
    cut_references INTEGER,        -- references cut at the embedder's maximum length; NULL where it cannot tell
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage)
);

-- How alike each two complete references of a passage are.
CREATE TABLE IF NOT EXISTS reference_similarity (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    other VARCHAR NOT NULL,        -- translator < other
    similarity DOUBLE NOT NULL,    -- cosine similarity of the two references, -1 to 1
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator, other)
);

-- Every text is embedded once: `text_hash` is of the text, `embedder` the embedder's signature.
CREATE TABLE IF NOT EXISTS embedding (
    embedder VARCHAR NOT NULL,
    text_hash VARCHAR NOT NULL,
    vector FLOAT[] NOT NULL,       -- unit length
    cut BOOLEAN,                   -- the text was longer than the model reads; NULL where the embedder cannot tell
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (embedder, text_hash)
);
