-- Questions, replies and costs of a deployment. Replies are kept forever.
PRAGMA user_version = 1;

CREATE TABLE IF NOT EXISTS session (
    id TEXT PRIMARY KEY,          -- also the name of its lock file; the lock ends with the process
    run TEXT NOT NULL,
    started REAL NOT NULL         -- Unix time
);

CREATE TABLE IF NOT EXISTS question (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,     -- hash of everything that determines the reply
    place TEXT NOT NULL,          -- URL of the endpoint
    replicate INTEGER NOT NULL,
    body BLOB NOT NULL            -- request body as JSON, zlib
);

-- Written before the question is sent. Without an outcome, it is in flight, or was when its process died.
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY,
    question INTEGER NOT NULL REFERENCES question (id),
    session TEXT NOT NULL REFERENCES session (id),
    run TEXT NOT NULL,
    model TEXT NOT NULL,          -- its name in the registry
    requested_model TEXT,         -- what the endpoint calls it
    purpose TEXT NOT NULL,
    effort TEXT,                  -- requested reasoning effort; the actual one shows in reasoning_tokens
    asked REAL NOT NULL,          -- Unix time
    price TEXT,                   -- the registry's at that time, JSON
    reserved INTEGER NOT NULL,    -- worst case, nanodollars
    outcome TEXT,
    detail TEXT,
    finish TEXT,
    served_model TEXT,
    served_provider TEXT,         -- or the deployment of a gateway
    prompt_tokens INTEGER,
    cached_tokens INTEGER,
    completion_tokens INTEGER,
    reasoning_tokens INTEGER,
    reported_cost INTEGER,        -- nanodollars, as reported by the endpoint
    priced_cost INTEGER,          -- nanodollars, by the registry's price
    cost INTEGER,                 -- cost in the accounts: corrected, else reported, else by price; NULL if unknown
    system_fingerprint TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS attempt_in_flight ON attempt (question) WHERE outcome IS NULL;
CREATE INDEX IF NOT EXISTS attempt_question ON attempt (question);
CREATE INDEX IF NOT EXISTS attempt_requested ON attempt (requested_model);

-- Raw replies, committed before they are read. A broken connection leaves a row, too.
CREATE TABLE IF NOT EXISTS reply (
    attempt INTEGER PRIMARY KEY REFERENCES attempt (id),
    received REAL NOT NULL,       -- Unix time
    status INTEGER,
    headers TEXT NOT NULL,        -- JSON
    body BLOB NOT NULL,           -- zlib
    broken TEXT NOT NULL          -- how the connection broke, '' if it did not
);

-- Where the text of a request ('question') or reply ('reply') is whose body is empty here (archive.py).
CREATE TABLE IF NOT EXISTS archived (
    kind TEXT NOT NULL,
    id INTEGER NOT NULL,          -- of the question, or of the attempt
    file TEXT NOT NULL,
    start INTEGER NOT NULL,       -- bytes, in the decompressed file
    length INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS archived_text ON archived (kind, id);

-- Sums over attempts, in nanodollars, updated in the attempts' transactions: 'run …', 'day …', 'model …'.
CREATE TABLE IF NOT EXISTS account (
    name TEXT PRIMARY KEY,
    paid INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,   -- of calls in flight
    uncertain INTEGER NOT NULL DEFAULT 0   -- worst case of calls that may have been charged: broken, or in flight at a crash
) WITHOUT ROWID;

-- The mark that identifies the home (resources.identity): one row, once an update has begun.
CREATE TABLE IF NOT EXISTS identity (
    home TEXT NOT NULL,
    epoch INTEGER NOT NULL
);

-- What people know of the costs of attempts. Rows are only added; the last one of an attempt counts.
CREATE TABLE IF NOT EXISTS correction (
    id INTEGER PRIMARY KEY,
    attempt INTEGER NOT NULL REFERENCES attempt (id),
    made REAL NOT NULL,           -- Unix time
    author TEXT NOT NULL,
    before INTEGER,               -- nanodollars; NULL if the cost was unknown, and the worst case counted
    after INTEGER NOT NULL,       -- nanodollars
    note TEXT NOT NULL
);
CREATE TRIGGER IF NOT EXISTS correction_changed BEFORE UPDATE ON correction
BEGIN SELECT RAISE(ABORT, 'corrections are only added'); END;
CREATE TRIGGER IF NOT EXISTS correction_deleted BEFORE DELETE ON correction
BEGIN SELECT RAISE(ABORT, 'corrections are only added'); END;
