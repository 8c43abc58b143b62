-- The ledger's attempts: what was asked of models, how it ended, what it cost. Requests and replies stay in the ledger.
CREATE TABLE IF NOT EXISTS model_call (
    attempt BIGINT NOT NULL,
    call VARCHAR NOT NULL,         -- key of the question; several attempts share one
    replicate INTEGER NOT NULL,
    run VARCHAR NOT NULL,          -- the Dagster run that asked
    model VARCHAR NOT NULL,
    purpose VARCHAR NOT NULL,
    place VARCHAR NOT NULL,        -- URL of the endpoint
    asked TIMESTAMP NOT NULL,      -- UTC, as `received`
    received TIMESTAMP,
    status INTEGER,
    outcome VARCHAR,               -- NULL while in flight
    detail VARCHAR,
    finish VARCHAR,
    effort VARCHAR,                -- reasoning effort asked for; what was served: reasoning_tokens
    served_model VARCHAR,
    served_provider VARCHAR,
    prompt_tokens BIGINT, cached_tokens BIGINT, completion_tokens BIGINT, reasoning_tokens BIGINT,
    priced BOOLEAN,                -- whether the registry gave a price
    reserved DOUBLE NOT NULL,      -- US dollars, as all costs: the worst case; 0 without a price
    reported_cost DOUBLE,          -- as the endpoint says
    priced_cost DOUBLE,            -- by the registry's price
    cost DOUBLE,                   -- reported, else by price; NULL where nobody knows
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (attempt)
);
