-- Corpora that were imported: where their description lies and what it says of rights.
CREATE TABLE IF NOT EXISTS corpus (
    corpus VARCHAR NOT NULL,
    description VARCHAR NOT NULL,  -- path of the YAML file
    source_language VARCHAR,
    target_language VARCHAR,       -- that of the references
    filters VARCHAR,               -- thresholds as JSON; NULL where every passage is taken
    aligners VARCHAR,              -- continuous references as JSON: translator, model that aligns it, what it is asked
    texts INTEGER,                 -- references that the description names
    sensitivity VARCHAR,           -- what the sensitivity suite damages, as JSON
    audit VARCHAR,                 -- how outputs are adjudicated, as JSON
    rubric VARCHAR,                -- who gives them marks, as JSON
    literary VARCHAR,              -- how they are compared with the human translation, as JSON
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
    text VARCHAR NOT NULL,         -- the segments joined by a space; of a chunk, as it stands in its document
    previous VARCHAR,              -- what stands before a chunk, and after it; NULL where passages are no chunks
    following VARCHAR,
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

-- Continuous translations that have to be aligned, by document, and what stands beside their text.
CREATE TABLE IF NOT EXISTS prose (
    corpus VARCHAR NOT NULL,
    document VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    text VARCHAR NOT NULL,         -- paragraphs separated by an empty line
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, document, translator)
);

CREATE TABLE IF NOT EXISTS prose_aside (
    corpus VARCHAR NOT NULL,
    document VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    kind VARCHAR NOT NULL,         -- 'heading', 'footnote', 'note', 'number'
    place INTEGER NOT NULL,        -- offset in the text at which it stood
    text VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, document, translator, position)
);

-- Which continuous translations a passage is to be found in, and what was corrected by hand.
CREATE TABLE IF NOT EXISTS continuous_reference (
    passage VARCHAR NOT NULL,
    translator VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    document VARCHAR NOT NULL,
    whole VARCHAR NOT NULL,        -- hash of all that the alignment of the document looks at
    corrections VARCHAR NOT NULL,  -- JSON: segment id and its text, or null
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage, translator)
);

-- Passages that repeat the source of an earlier one.
CREATE TABLE IF NOT EXISTS near_duplicate (
    passage VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    kept VARCHAR NOT NULL,         -- the earlier passage, which stays
    similarity DOUBLE NOT NULL,    -- Jaccard similarity of character 3-grams
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage)
);

-- What the filters measured on each passage, and to which it falls.
CREATE TABLE IF NOT EXISTS passage_filter (
    passage VARCHAR NOT NULL,
    complete_references BIGINT NOT NULL, -- references with every segment
    missing_segments BIGINT NOT NULL, -- segments without a translation, over all references
    suspicious_segments BIGINT NOT NULL, -- segments whose text was not found in its translation
    shortest BIGINT,               -- characters; NULL without a reference
    longest BIGINT,                -- the same of the longest reference
    length_ratio DOUBLE,           -- characters of the longest reference over those of the shortest; NULL without a reference
    similarity DOUBLE,             -- of the two references most alike; NULL with fewer than two
    null_characters BIGINT NOT NULL, -- U+0000 and U+FFFD in the source and its references
    duplicated_segments BIGINT NOT NULL, -- segments of references that repeat another one where the source does not
    reasons VARCHAR[] NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage)
);

-- Whether a passage is in the benchmark, and if not, why.
CREATE TABLE IF NOT EXISTS selection (
    passage VARCHAR NOT NULL,
    selected BOOLEAN NOT NULL,     -- the passage is in the benchmark
    reasons VARCHAR[] NOT NULL,    -- why it is not, in one word each
    kept VARCHAR,                  -- the passage of which it is a near-duplicate
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (passage)
);

-- How many passages of each corpus each filter drops, and how many are left.
CREATE TABLE IF NOT EXISTS funnel (
    corpus VARCHAR NOT NULL,
    step INTEGER NOT NULL,         -- place of the filter, from 0
    reason VARCHAR NOT NULL,       -- what passages of the step are dropped for, or what is left
    affected INTEGER NOT NULL,     -- a passage counts for each of its reasons
    alone INTEGER NOT NULL,        -- passages that this reason alone drops
    remaining INTEGER,             -- NULL between filters, of which a passage may fall to several
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, step)
);
