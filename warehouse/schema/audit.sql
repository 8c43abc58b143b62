-- Tables over all verdicts. Rates are shares from 0 to 1; *_low and *_high bound the 95 % interval. NULL: nothing to
-- count. `model` '' is all models together, `band` '' all bands.

-- Outcomes by model, by band and by both: of the queue by the panel's verdict, of the sample by people's.
CREATE TABLE IF NOT EXISTS audit_outcome (
    corpus VARCHAR NOT NULL,
    raters VARCHAR NOT NULL,        -- 'panel' or 'people'
    model VARCHAR NOT NULL,
    band VARCHAR NOT NULL,
    outputs INTEGER NOT NULL,       -- that have a drift, judged or not
    asked INTEGER NOT NULL,         -- of these, in the queue or in the sample
    judged INTEGER NOT NULL,        -- of these, with a verdict or with labels by people
    valid INTEGER NOT NULL, minor INTEGER NOT NULL, major INTEGER NOT NULL, uncertain INTEGER NOT NULL,
    splits INTEGER NOT NULL,        -- all three substantive labels, none with a majority
    valid_rate DOUBLE, valid_rate_low DOUBLE, valid_rate_high DOUBLE,
    minor_rate DOUBLE, minor_rate_low DOUBLE, minor_rate_high DOUBLE,
    major_rate DOUBLE, major_rate_low DOUBLE, major_rate_high DOUBLE,
    any_rate DOUBLE, any_rate_low DOUBLE, any_rate_high DOUBLE,
    minor_found DOUBLE, minor_found_low DOUBLE, minor_found_high DOUBLE,   -- minor errors found, of `outputs`: a lower bound; NULL for people
    major_found DOUBLE, major_found_low DOUBLE, major_found_high DOUBLE,   -- major errors found, as above: what is not judged may have some
    any_found DOUBLE, any_found_low DOUBLE, any_found_high DOUBLE,         -- errors found, as above
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, raters, model, band)
);

-- Errors by category, and what the rates would be if those of a category did not count.
CREATE TABLE IF NOT EXISTS error_category (
    corpus VARCHAR NOT NULL,
    raters VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    error_category VARCHAR NOT NULL,
    minor INTEGER NOT NULL, major INTEGER NOT NULL,
    minor_share DOUBLE, minor_share_low DOUBLE, minor_share_high DOUBLE,   -- of all minor errors
    major_share DOUBLE, major_share_low DOUBLE, major_share_high DOUBLE,
    minor_rate_without DOUBLE, major_rate_without DOUBLE, any_rate_without DOUBLE,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, raters, model, error_category)
);

-- On how many models' outputs the panel finds errors in the same passage.
CREATE TABLE IF NOT EXISTS failure_overlap (
    corpus VARCHAR NOT NULL,
    level VARCHAR NOT NULL,         -- 'major' or 'any'
    models INTEGER NOT NULL,        -- that have the error
    passages INTEGER NOT NULL,
    share DOUBLE NOT NULL, share_low DOUBLE NOT NULL, share_high DOUBLE NOT NULL,  -- of passages with any such error
    judged INTEGER NOT NULL,        -- outputs of these passages that the panel judged,
    possible INTEGER NOT NULL,      -- of so many that there are
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, level, models)
);

-- Passages with an error of any model, worst first.
CREATE TABLE IF NOT EXISTS failing_passage (
    corpus VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    place INTEGER NOT NULL,
    major INTEGER NOT NULL, minor INTEGER NOT NULL, valid INTEGER NOT NULL, uncertain INTEGER NOT NULL,
    unjudged INTEGER NOT NULL,      -- not in the queue, or without a verdict; not to be read as valid
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, passage)
);

-- Point-biserial correlation of each metric with being an error, over the queue.
CREATE TABLE IF NOT EXISTS error_correlation (
    corpus VARCHAR NOT NULL,
    level VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    outputs INTEGER NOT NULL,
    correlation DOUBLE, correlation_low DOUBLE, correlation_high DOUBLE, -- point-biserial, -1 to 1
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, level, metric)
);

-- Judges against people, on what was drawn for people and has a label by them. `judge` 'panel', or 'panel without NAME'.
CREATE TABLE IF NOT EXISTS judge_calibration (
    corpus VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    outputs INTEGER NOT NULL,
    exact DOUBLE, exact_low DOUBLE, exact_high DOUBLE,
    major_precision DOUBLE, major_precision_low DOUBLE, major_precision_high DOUBLE,
    major_recall DOUBLE, major_recall_low DOUBLE, major_recall_high DOUBLE,
    major_f1 DOUBLE, major_f1_low DOUBLE, major_f1_high DOUBLE,
    any_precision DOUBLE, any_precision_low DOUBLE, any_precision_high DOUBLE,
    any_recall DOUBLE, any_recall_low DOUBLE, any_recall_high DOUBLE,
    any_f1 DOUBLE, any_f1_low DOUBLE, any_f1_high DOUBLE,
    kappa DOUBLE, kappa_low DOUBLE, kappa_high DOUBLE,                     -- of the labels
    kappa_major DOUBLE, kappa_major_low DOUBLE, kappa_major_high DOUBLE,   -- of major error or not
    kappa_any DOUBLE, kappa_any_low DOUBLE, kappa_any_high DOUBLE,         -- of error or not
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, judge)
);

-- Which labels judges give to outputs by the label that people gave.
CREATE TABLE IF NOT EXISTS judge_confusion (
    corpus VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    people VARCHAR NOT NULL,        -- label by people
    judged VARCHAR NOT NULL,        -- label by the judge
    outputs INTEGER NOT NULL,      -- outputs with both labels
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, judge, people, judged)
);

-- How often a judge agrees with people by how sure it says it is.
CREATE TABLE IF NOT EXISTS judge_reliability (
    corpus VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    confidence VARCHAR NOT NULL,
    outputs INTEGER NOT NULL,
    agreement DOUBLE NOT NULL, agreement_low DOUBLE NOT NULL, agreement_high DOUBLE NOT NULL, -- share of these outputs with the label that people gave
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, judge, confidence)
);

-- Raters against each other, of whom each has labelled some outputs alone.
CREATE TABLE IF NOT EXISTS rater_agreement (
    corpus VARCHAR NOT NULL,
    scope VARCHAR NOT NULL,         -- 'queue' or 'sample'
    kind VARCHAR NOT NULL,          -- 'judges' or 'people'
    first VARCHAR NOT NULL,        -- one of the two raters
    second VARCHAR NOT NULL,       -- the other one
    outputs INTEGER NOT NULL,
    exact DOUBLE, exact_low DOUBLE, exact_high DOUBLE,
    kappa DOUBLE, kappa_low DOUBLE, kappa_high DOUBLE,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, scope, kind, first, second)
);

-- The queue's verdicts without one of the judges.
CREATE TABLE IF NOT EXISTS panel_without (
    corpus VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,         -- that is left out
    outputs INTEGER NOT NULL,
    changed INTEGER NOT NULL,       -- verdicts that are others without it
    valid INTEGER NOT NULL, minor INTEGER NOT NULL, major INTEGER NOT NULL, uncertain INTEGER NOT NULL,
    major_rate DOUBLE NOT NULL, major_rate_low DOUBLE NOT NULL, major_rate_high DOUBLE NOT NULL,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, judge)
);

-- Error rates of all outputs, of those below the threshold and of those above, from the people's sample.
CREATE TABLE IF NOT EXISTS error_estimate (
    corpus VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    region VARCHAR NOT NULL,        -- 'all', 'below' or 'above'
    outputs INTEGER NOT NULL,
    labelled INTEGER NOT NULL,     -- of these, those that people labelled
    covered DOUBLE NOT NULL,        -- share of the outputs that lie in a stratum with labels; the rates are of these
    minor_rate DOUBLE, minor_rate_low DOUBLE, minor_rate_high DOUBLE,
    major_rate DOUBLE, major_rate_low DOUBLE, major_rate_high DOUBLE,
    any_rate DOUBLE, any_rate_low DOUBLE, any_rate_high DOUBLE,
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, model, region)
);

-- How many outputs one has to judge to find a share of the major errors.
CREATE TABLE IF NOT EXISTS recall_cost (
    corpus VARCHAR NOT NULL,
    ranking VARCHAR NOT NULL,       -- by what outputs are judged first: 'drift' or 'combined'
    recall DOUBLE NOT NULL,         -- wanted
    threshold DOUBLE NOT NULL,      -- of the ranking
    share DOUBLE NOT NULL, share_low DOUBLE NOT NULL, share_high DOUBLE NOT NULL,  -- of the outputs
    outputs INTEGER NOT NULL,       -- to be judged, by the whole panel
    precision DOUBLE NOT NULL, precision_low DOUBLE NOT NULL, precision_high DOUBLE NOT NULL, -- share of major errors among the outputs that are judged then
    signature VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, ranking, recall)
);

-- Outputs worth reading, chosen by rule. Texts are in their own tables.
CREATE TABLE IF NOT EXISTS worked_example (
    corpus VARCHAR NOT NULL,
    rule VARCHAR NOT NULL,          -- 'shared failure', 'far but valid', 'near but wrong', 'split panel'
    place INTEGER NOT NULL,
    model VARCHAR NOT NULL,
    passage VARCHAR NOT NULL,
    why VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (corpus, rule, place, model)
);
