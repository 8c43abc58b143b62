-- Continuous translations in the segments of the source.
CREATE TABLE IF NOT EXISTS alignment (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    segments VARCHAR[] NOT NULL,   -- parallel to source_text.segments, NULL where nothing corresponds, '' where the source is or `methods` says 'merged'
    starts INTEGER[] NOT NULL,     -- place in the prose, in characters; NULL where a model or a hand gave the text
    ends INTEGER[] NOT NULL,
    likeness DOUBLE[] NOT NULL,    -- of each segment to its text, in [-0.5, 1]; NULL where a model or a hand gave the text
    methods VARCHAR[] NOT NULL,    -- 'embedding', 'model', 'hand', or 'merged' with a neighbour; NULL for a segment without text
    confidence DOUBLE,             -- of the document's alignment by embeddings; NULL where only a model was asked
    doubt VARCHAR,                 -- why the passage was given no text though the prose is there
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator)
);

-- Where the text of each aligned segment stands in the translation that it is said to come from.
CREATE TABLE IF NOT EXISTS verification (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    segment_id VARCHAR NOT NULL,
    stage VARCHAR NOT NULL,        -- 'verbatim', 'normalized', 'expanded', 'cross-reference' or 'suspicious'
    start_at INTEGER,              -- where it was found, or the nearest place, in characters
    end_at INTEGER,                -- where it ends there, in characters, the end not included
    similarity DOUBLE NOT NULL,    -- 1 where found
    in_order BOOLEAN NOT NULL,     -- it stands behind the segment before it
    evidence VARCHAR NOT NULL,     -- words of the translation at that place, or what was missed
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator, segment_id)
);
