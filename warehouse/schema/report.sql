-- The report that the home keeps as a page for a browser.
CREATE TABLE IF NOT EXISTS report (
    file VARCHAR NOT NULL,          -- below the home
    content VARCHAR NOT NULL,       -- hash of the page without the times on it
    bytes BIGINT NOT NULL,
    fingerprint VARCHAR NOT NULL,
    run_id VARCHAR NOT NULL,
    updated_at TIMESTAMP NOT NULL,
    PRIMARY KEY (file)
);
