-- Corpora that were imported: where their description lies and what it says of rights.
CREATE TABLE IF NOT EXISTS corpus (
    corpus VARCHAR NOT NULL,
    description VARCHAR NOT NULL,  -- path of the YAML file
    target_language VARCHAR,       -- that of the references
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus)
);

-- Licence of each text of a corpus; `translator` is '' for the source.
CREATE TABLE IF NOT EXISTS licence (
    corpus VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    licence VARCHAR NOT NULL,
    restricted BOOLEAN NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, translator)
);

CREATE TABLE IF NOT EXISTS source_text (
    passage VARCHAR NOT NULL,      -- corpus/passage_id, the partition key
    corpus VARCHAR NOT NULL,
    passage_id VARCHAR NOT NULL,
    document VARCHAR NOT NULL,
    position INTEGER NOT NULL,     -- of the passage in its document, from 0
    language VARCHAR NOT NULL,
    segment_ids VARCHAR[] NOT NULL,
    segments VARCHAR[] NOT NULL,   -- '' where the edition leaves a segment empty
    text VARCHAR NOT NULL,         -- the segments joined by a space
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage)
);

-- References that come already cut into the segments of the source.
CREATE TABLE IF NOT EXISTS segmented_reference (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    segments VARCHAR[] NOT NULL,   -- parallel to source_text.segments, NULL where untranslated, '' where the source is
    flag VARCHAR,                  -- what the corpus says of this reference, e.g. 'partial'
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator)
);
