-- Questions, replies and costs of a group, for many machines. Replies are kept forever.
CREATE SCHEMA ledger;
SET LOCAL search_path TO ledger;

CREATE TABLE version (number INTEGER NOT NULL);
INSERT INTO version VALUES (2);

-- A session is alive until its lease ends. After that, any other session closes its attempts and returns its slices.
CREATE TABLE session (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL,
    started DOUBLE PRECISION NOT NULL,     -- Unix time
    lease TIMESTAMPTZ NOT NULL,            -- by the server's clock
    closed BOOLEAN NOT NULL DEFAULT FALSE  -- by itself, or by another session after its lease had ended
);
CREATE INDEX session_lease ON session (lease) WHERE NOT closed;

CREATE TABLE question (
    id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    key TEXT NOT NULL UNIQUE,              -- hash of everything that determines the reply
    place TEXT NOT NULL,                   -- URL of the endpoint
    replicate BIGINT NOT NULL,
    body BYTEA NOT NULL                    -- request body as JSON, zlib
);
ALTER TABLE question ALTER body SET STORAGE EXTERNAL;

-- Written before the question is sent. Without an outcome, it is in flight, or was when its session died.
CREATE TABLE attempt (
    id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    question BIGINT NOT NULL REFERENCES question (id),
    session TEXT NOT NULL,
    claim INTEGER,                         -- number of the claim in its session: a repeated claim finds its attempt
    run TEXT NOT NULL,
    model TEXT NOT NULL,                   -- its name in the registry
    requested_model TEXT,                  -- what the endpoint calls it
    purpose TEXT NOT NULL,
    effort TEXT,                           -- requested reasoning effort; the actual one shows in reasoning_tokens
    asked DOUBLE PRECISION NOT NULL,       -- Unix time, by the server's clock
    price TEXT,                            -- the registry's at that time, JSON
    reserved BIGINT NOT NULL,              -- worst case, nanodollars
    outcome TEXT,
    detail TEXT,
    finish TEXT,
    served_model TEXT,
    served_provider TEXT,                  -- or the deployment of a gateway
    prompt_tokens BIGINT,
    cached_tokens BIGINT,
    completion_tokens BIGINT,
    reasoning_tokens BIGINT,
    reported_cost BIGINT,                  -- nanodollars, as reported by the endpoint
    priced_cost BIGINT,                    -- nanodollars, by the registry's price
    cost BIGINT,                           -- in the accounts: corrected, else reported, else by price; NULL if unknown
    system_fingerprint TEXT
);
CREATE UNIQUE INDEX attempt_in_flight ON attempt (question) WHERE outcome IS NULL;
CREATE INDEX attempt_open ON attempt (session) WHERE outcome IS NULL;
CREATE INDEX attempt_question ON attempt (question);
CREATE INDEX attempt_requested ON attempt (requested_model);

-- Raw replies, committed before they are read. A broken connection leaves a row, too.
CREATE TABLE reply (
    attempt BIGINT PRIMARY KEY REFERENCES attempt (id),
    received DOUBLE PRECISION NOT NULL,    -- Unix time
    status INTEGER,
    headers TEXT NOT NULL,                 -- JSON
    body BYTEA NOT NULL,                   -- zlib
    broken TEXT NOT NULL                   -- how the connection broke, '' if it did not
);
ALTER TABLE reply ALTER body SET STORAGE EXTERNAL;

-- Sums in nanodollars: 'run …', 'day …', 'model …'. What open sessions hold is in `reserved`, whether spent or not.
CREATE TABLE account (
    name TEXT PRIMARY KEY,
    paid BIGINT NOT NULL DEFAULT 0,
    reserved BIGINT NOT NULL DEFAULT 0,    -- sum of `held` over the slices of the account
    uncertain BIGINT NOT NULL DEFAULT 0    -- worst case of calls that may have been charged: broken, or in flight at a crash
) WITH (fillfactor = 50);

-- What a session has taken from an account. Only its session writes the row, so sessions do not wait for each other.
CREATE TABLE slice (
    session TEXT NOT NULL,
    account TEXT NOT NULL,
    held BIGINT NOT NULL DEFAULT 0,        -- taken from the account, nanodollars
    reserved BIGINT NOT NULL DEFAULT 0,    -- of the session's calls in flight
    paid BIGINT NOT NULL DEFAULT 0,
    uncertain BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (session, account)
) WITH (fillfactor = 50);

-- What was paid, is in flight, and is uncertain, whether accounts or slices have it.
CREATE VIEW balance AS
SELECT name, (a.paid + coalesce(sum(s.paid), 0))::BIGINT AS paid, coalesce(sum(s.reserved), 0)::BIGINT AS reserved,
    (a.uncertain + coalesce(sum(s.uncertain), 0))::BIGINT AS uncertain
FROM account a LEFT JOIN slice s ON s.account = a.name GROUP BY name;

-- The mark that identifies the home (resources.identity): one row, once an update has begun.
CREATE TABLE identity (
    home TEXT NOT NULL,
    epoch BIGINT NOT NULL
);

-- What people know of the costs of attempts. Rows are only added; the last one of an attempt counts.
CREATE TABLE correction (
    id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    attempt BIGINT NOT NULL REFERENCES attempt (id),
    made DOUBLE PRECISION NOT NULL,        -- Unix time
    author TEXT NOT NULL,
    before BIGINT,                         -- nanodollars; NULL if the cost was unknown, and the worst case counted
    after BIGINT NOT NULL,                 -- nanodollars
    note TEXT NOT NULL
);
CREATE INDEX correction_attempt ON correction (attempt);
CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'corrections are only added'; END $$;
CREATE TRIGGER correction_kept BEFORE UPDATE OR DELETE ON correction EXECUTE FUNCTION refuse();
