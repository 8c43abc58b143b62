-- Tasks of understanding that were imported: what their descriptions say.
CREATE TABLE IF NOT EXISTS task (
    task VARCHAR NOT NULL,          -- its code, the partition key
    description VARCHAR NOT NULL,   -- path of the YAML file
    root VARCHAR NOT NULL,          -- folder of its files
    language VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,          -- 'classes' or 'spans'
    partner VARCHAR,                -- the same task in another language
    licence VARCHAR NOT NULL,
    restricted BOOLEAN NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task)
);

-- Samples of a task, as its files have them.
CREATE TABLE IF NOT EXISTS task_sample (
    task VARCHAR NOT NULL,
    split VARCHAR NOT NULL,         -- 'train' or 'test'
    sample VARCHAR NOT NULL,
    position INTEGER NOT NULL,      -- in its file, from 0
    texts VARCHAR NOT NULL,         -- what is shown, as a JSON object: {"text": …} or {"root": …, "commentary": …}
    label VARCHAR,                  -- NULL where the task is one of spans
    source VARCHAR,                 -- the work or file that the sample is from; NULL where nobody says
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, split, sample)
);

-- Gold spans, of all types that the files have.
CREATE TABLE IF NOT EXISTS task_span (
    task VARCHAR NOT NULL,
    split VARCHAR NOT NULL,
    sample VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    type VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    first INTEGER,                  -- characters of the text in which spans are marked, half-open; NULL where it is not found there
    last INTEGER,
    located VARCHAR NOT NULL,       -- 'given', 'exact', 'normalized' or 'absent'
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, split, sample, number)
);

-- What scores who knows nothing: on the test split.
CREATE TABLE IF NOT EXISTS task_chance (
    task VARCHAR NOT NULL,
    baseline VARCHAR NOT NULL,      -- 'chance', 'majority' (of train, or of test where there is no train) or 'empty'
    score DOUBLE NOT NULL,          -- 0 to 100
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, baseline)
);

-- How near the test split is to the train split.
CREATE TABLE IF NOT EXISTS task_leakage (
    task VARCHAR NOT NULL,
    sample VARCHAR NOT NULL,        -- of the test split
    nearest VARCHAR,                -- of the train split; NULL where that is empty
    similarity DOUBLE,              -- Jaccard of character n-grams, 0 to 1
    contained DOUBLE,               -- share of the sample's n-grams that some train sample has
    same_source BOOLEAN,            -- whether a train sample is from the same source; NULL where nobody says
    nearest_label BOOLEAN,          -- whether the nearest one has the same label; NULL for spans
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, sample)
);

-- Answers of baselines that cost seconds, trained ones and rules, on the test split: as `answer`, with a baseline in
-- place of a model.
CREATE TABLE IF NOT EXISTS baseline_answer (
    task VARCHAR NOT NULL,
    baseline VARCHAR NOT NULL,      -- 'linear', 'overlap' or 'scansion'
    seed INTEGER NOT NULL,
    sample VARCHAR NOT NULL,
    label VARCHAR,                  -- NULL in tasks of spans
    signature VARCHAR NOT NULL,     -- how the baseline was made
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, baseline, seed, sample)
);

CREATE TABLE IF NOT EXISTS baseline_span (
    task VARCHAR NOT NULL,
    baseline VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    sample VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    type VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    first INTEGER NOT NULL,         -- characters of the text in which spans are marked, half-open
    last INTEGER NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, baseline, seed, sample, number)
);

-- Answers of encoders as each was trained, stored before the next one is: what need not be trained again.
CREATE TABLE IF NOT EXISTS encoder_fit (
    task VARCHAR NOT NULL,
    baseline VARCHAR NOT NULL,      -- the name of an encoder in the registry
    seed INTEGER NOT NULL,
    sample VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,   -- of all that determines the fit: checkpoint, seed, samples, software
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, baseline, seed, sample)
);

-- Those of them that the registry names now.
CREATE TABLE IF NOT EXISTS encoder_answer (
    task VARCHAR NOT NULL,
    baseline VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    sample VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    signature VARCHAR NOT NULL,     -- how the encoder was trained
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, baseline, seed, sample)
);

-- Answers that were made elsewhere, as imported.
CREATE TABLE IF NOT EXISTS imported_answer (
    model VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    sample VARCHAR NOT NULL,        -- of the test split
    answer VARCHAR NOT NULL,        -- a JSON object with `label` or `prediction`, as the file has it
    file VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,   -- of the answer
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, task, sample)
);

-- What a model answers to each sample of a task's test split.
CREATE TABLE IF NOT EXISTS answer (
    model VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    sample VARCHAR NOT NULL,
    label VARCHAR,                  -- NULL in tasks of spans; where the answer was unusable the negative label, NULL if there is none
    usable BOOLEAN NOT NULL,        -- false: counted as the negative label, as wrong where there is none, or as no span
    problem VARCHAR,                -- why it was not usable, in words
    steps VARCHAR NOT NULL,         -- what parsing did to it, one word each, separated by blanks; '' where nothing had to be done
    agreement DOUBLE,               -- share of the draws that gave this answer; NULL where there was one draw
    how VARCHAR NOT NULL,           -- how it was had: prompt, examples, draws, sampling and model asked, or the file imported
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, task, seed, sample)
);

CREATE TABLE IF NOT EXISTS answer_span (
    model VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    sample VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    type VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    first INTEGER,
    last INTEGER,
    located VARCHAR NOT NULL,       -- 'exact', 'normalized' or 'absent': a hallucination
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, task, seed, sample, number)
);

-- By which questions each answer was had; no part of its version.
CREATE TABLE IF NOT EXISTS answer_call (
    model VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    seed INTEGER NOT NULL,
    sample VARCHAR NOT NULL,
    draw INTEGER NOT NULL,
    call VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, task, seed, sample, draw)
);

-- Scores of a model on a task: the paper's metric, and others beside it.
CREATE TABLE IF NOT EXISTS task_score (
    model VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    seeds INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    unusable INTEGER NOT NULL,      -- answers, over all seeds
    spans INTEGER,                  -- predicted, over all seeds; NULL for classes
    hallucinated INTEGER,           -- of these, those that do not occur in the text
    score DOUBLE NOT NULL,          -- micro-F1, or mean over samples of MUC type F1: 0 to 100, mean over seeds
    score_low DOUBLE NOT NULL,
    score_high DOUBLE NOT NULL,
    score_sd DOUBLE,                -- over seeds; NULL with one
    macro DOUBLE,                   -- macro-F1; NULL for spans
    pooled_type DOUBLE,             -- MUC-5 F1 over all spans of all samples, in four modes; NULL for classes
    pooled_partial DOUBLE,
    pooled_strict DOUBLE,
    pooled_exact DOUBLE,
    signature VARCHAR NOT NULL,     -- how its answers were had, and what the score rests on
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, task)
);

-- Scores of single classes or types of spans, summed over seeds.
CREATE TABLE IF NOT EXISTS class_score (
    model VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    class VARCHAR NOT NULL,
    gold INTEGER NOT NULL,
    predicted INTEGER NOT NULL,
    correct INTEGER NOT NULL,       -- of a type of spans: overlapping ones
    precision DOUBLE NOT NULL,      -- 0 to 1; 0 where nothing was predicted
    recall DOUBLE NOT NULL,
    f1 DOUBLE NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, task, class)
);

CREATE TABLE IF NOT EXISTS confusion (
    model VARCHAR NOT NULL,
    task VARCHAR NOT NULL,
    gold VARCHAR NOT NULL,
    predicted VARCHAR NOT NULL,     -- '(none)': unusable, in a task without a negative class
    samples INTEGER NOT NULL,       -- over all seeds
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (model, task, gold, predicted)
);

-- The same of baselines that cost seconds.
CREATE TABLE IF NOT EXISTS baseline_score (
    task VARCHAR NOT NULL,
    baseline VARCHAR NOT NULL,
    seeds INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    score DOUBLE NOT NULL,
    score_low DOUBLE NOT NULL,
    score_high DOUBLE NOT NULL,
    score_sd DOUBLE,
    macro DOUBLE,                   -- NULL for spans
    near DOUBLE,                    -- share of test samples with a near neighbour in train; NULL where it was not trained
    far_score DOUBLE,               -- score on the other samples; NULL where there are none, or it was not trained
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, baseline)
);

-- The same of encoders: apart, so that one that cannot be had hides no other baseline.
CREATE TABLE IF NOT EXISTS encoder_score (
    task VARCHAR NOT NULL,
    baseline VARCHAR NOT NULL,
    seeds INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    score DOUBLE NOT NULL,
    score_low DOUBLE NOT NULL,
    score_high DOUBLE NOT NULL,
    score_sd DOUBLE,
    macro DOUBLE,                   -- NULL for spans
    near DOUBLE,                    -- share of test samples with a near neighbour in train; NULL where it was not trained
    far_score DOUBLE,               -- score on the other samples; NULL where there are none, or it was not trained
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task, baseline)
);

-- Tables 4 and 5 of DharmaBench: everybody on every task, and the mean over the tasks of a benchmark in a language.
CREATE TABLE IF NOT EXISTS understanding_board (
    system VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,          -- 'model', 'trained', 'rule' or 'baseline'
    benchmark VARCHAR NOT NULL DEFAULT '', -- '' for tasks of none, over which there is no mean
    language VARCHAR NOT NULL,
    task VARCHAR NOT NULL,          -- '' for the mean over the tasks of the benchmark in the language
    tasks INTEGER NOT NULL,         -- 1, or of how many tasks it is the mean
    score DOUBLE,                   -- NULL for a mean where the system lacks a task that others have
    score_low DOUBLE,
    score_high DOUBLE,
    score_sd DOUBLE,
    near DOUBLE,                    -- of what was trained: share of test samples with a near neighbour in train
    missing VARCHAR NOT NULL,       -- tasks without an answer, separated by blanks
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (system, kind, benchmark, language, task)
);

-- Each two models on a task, or on a benchmark in a language, on the samples of both.
CREATE TABLE IF NOT EXISTS understanding_comparison (
    benchmark VARCHAR NOT NULL DEFAULT '',
    language VARCHAR NOT NULL,
    task VARCHAR NOT NULL,          -- '' for the mean over the tasks of the benchmark in the language
    model VARCHAR NOT NULL,
    other VARCHAR NOT NULL,
    difference DOUBLE NOT NULL,     -- points: model less other
    difference_low DOUBLE NOT NULL,
    difference_high DOUBLE NOT NULL,
    p_randomization DOUBLE NOT NULL,
    p_holm DOUBLE NOT NULL,         -- over the pairs of the mean or task
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (benchmark, language, task, model, other)
);
